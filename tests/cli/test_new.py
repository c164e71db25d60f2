"""A new project runs at once, its tests pass, and a failure leaves nothing behind."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.cli.main import main

PIPELINES = {"rag": "rag.yaml", "server": "words.yaml", "agent": "agent.yaml"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of a user who has allowed nothing yet."""
    monkeypatch.delenv("RAGWB_TRUST")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("template", PIPELINES)
def test_a_project_has_all_it_needs(folder: Path, capsys: pytest.CaptureFixture[str], template: str) -> None:
    assert main(["new", "my-project", "--template", template]) == 0
    pipeline = PIPELINES[template]
    assert f"cd my-project && ragwb pipelines/{pipeline}" in capsys.readouterr().out
    project = folder / "my-project"
    assert {path.name for path in project.iterdir()} >= {".gitignore", "README.md", "data", "servers", "tests"}
    assert (project / "README.md").read_text().startswith("# my-project\n")
    texts = [path.read_text(encoding="utf-8") for path in project.rglob("*") if path.is_file()]
    assert not any("NEW_PROJECT" in text for text in texts)
    assert any("\u4e00" <= letter <= "\u9fff" for text in texts for letter in text)
    assert main(["check", f"my-project/pipelines/{pipeline}", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"ok": True, "problems": []}
    assert list(folder.iterdir()) == [project]


@pytest.mark.slow
@pytest.mark.parametrize("template", PIPELINES)
def test_its_tests_pass_and_it_runs_unasked(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, template: str
) -> None:
    assert main(["new", "p", "--template", template]) == 0
    # The plugin is named, so that this does not depend on how ragwb is installed here.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "workbench.pytest_plugin"]
    done = subprocess.run(command, cwd="p", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "skipped" not in done.stdout
    monkeypatch.chdir("p")
    # Servers of an untouched project start unasked: a build starts them all and, unlike a run, asks no model.
    assert main(["build", f"pipelines/{PIPELINES[template]}"]) == 0
    server = next(Path("servers").glob("*/src/*.py"))
    server.write_text(server.read_text() + "\n# edited\n")
    assert main(["run", f"pipelines/{PIPELINES[template]}", "--quiet"]) == 0


@pytest.mark.slow
def test_the_chinese_data(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["new", "p"])
    capsys.readouterr()
    options = ["--param", "p/pipelines/parameter/chinese.yaml", "--json", "--quiet"]
    assert main(["run", "p/pipelines/rag.yaml", *options]) == 0
    assert json.loads(capsys.readouterr().out)["evaluation"]["acc"] >= 0.5


def test_an_empty_folder_is_taken(folder: Path) -> None:
    assert main(["new", "."]) == 0
    assert (folder / "pipelines" / "rag.yaml").is_file()
    assert (folder / "README.md").read_text().startswith("# here\n")
    assert not [path for path in folder.iterdir() if path.name.startswith(".here")]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("full", "the folder is not empty, and nothing in it is touched"),
        ("file", "there is a file of this name"),
        ("no/such/place", "the folder no/such does not exist"),
        ("a b", "must begin with a letter or a digit"),
        ("-x", "must begin with a letter or a digit"),
        ("x\x1b[2J", "must begin with a letter or a digit"),
        ("x" * 101, "must begin with a letter or a digit"),
    ],
)
def test_what_is_refused(folder: Path, capsys: pytest.CaptureFixture[str], name: str, said: str) -> None:
    (folder / "full").mkdir()
    (folder / "full" / "mine.txt").write_text("mine")
    (folder / "file").write_text("")
    assert main(["new", "--", name]) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert "\x1b" not in err + out
    assert sorted(path.name for path in folder.rglob("*")) == ["file", "full", "mine.txt"]


@pytest.mark.parametrize("name", ["fresh", "empty"])
def test_a_failure_leaves_nothing_half_made(folder: Path, name: str) -> None:
    (folder / "empty").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "workbench.cli.main", "new", name],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),  # no file can grow above that
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 2
    assert f"{name}: can't be made" in done.stderr
    assert "nothing is left of it" in done.stderr
    assert [path.name for path in folder.rglob("*")] == ["empty"]
