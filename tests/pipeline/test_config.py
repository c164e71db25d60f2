"""``.ragwb.yaml`` and the user's ``config.yaml``: what counts, and every mistake with its place."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pipeline.lab import prepared, refused
from workbench.pipeline.config import KEYS, Configuration, load_config, user_file
from workbench.pipeline.prepare import prepare
from workbench.pipeline.project import project_folder

STEPS = "- lab.get\n"


@pytest.fixture
def user(user_folder: Path) -> Iterator[Path]:
    """The user's configuration file; gone again after the test."""
    file = user_folder / "ragwb" / "config.yaml"
    file.parent.mkdir(exist_ok=True)
    yield file
    file.unlink(missing_ok=True)


def configured(project: Path, text: str) -> Configuration:
    (project / ".ragwb.yaml").write_text(text, encoding="utf-8")
    config, problems = load_config(project, ["lab", "text"])
    assert problems == []
    return config


def wrong(project: Path, text: str) -> list[str]:
    file = project / ".ragwb.yaml"
    file.write_text(text, encoding="utf-8")
    return [str(problem).removeprefix(str(file)) for problem in load_config(project, ["lab", "text"])[1]]


def test_without_files_all_is_as_always(project: Path) -> None:
    config, problems = load_config(project)
    assert problems == []
    assert (config.python("lab"), config.passed_env("lab")) == (None, None)
    assert (config.start_timeout, config.call_timeout) == (None, None)
    assert (config.elicitation, config.sampling) == ("ask", "ask")


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "env:\nservers:\n"])
def test_a_file_with_nothing_in_it_only_marks_the_project(project: Path, text: str) -> None:
    assert configured(project, text).settings == {}


def test_every_key(project: Path) -> None:
    venv = project / "tools" / "bin" / "python"
    venv.parent.mkdir(parents=True)
    venv.symlink_to(sys.executable)
    config = configured(
        project,
        "python: tools\nenv: [OPENAI_API_KEY, HF_*]\nstart_timeout: 20\ncall_timeout: 1.5\nelicitation: defaults\n"
        f"sampling: pipeline\nservers:\n  lab: {{python: {sys.executable}, env: [LAB_KEY]}}\n  other: {{env: [X]}}\n",
    )
    assert config.python("text") == str(venv)
    assert config.python("lab") == sys.executable
    assert config.passed_env("text") == ("OPENAI_API_KEY", "HF_*")
    assert config.passed_env("lab") == ("OPENAI_API_KEY", "HF_*", "LAB_KEY")
    assert (config.start_timeout, config.call_timeout) == (20, 1.5)
    assert (config.elicitation, config.sampling) == ("defaults", "pipeline")
    assert config.settings["servers.lab.env"].position.line == 8


def test_a_command_on_the_path_may_be_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert configured(project, "python: python3\n").python("lab") == str(Path(sys.executable).with_name("python3"))


def test_the_projects_file_counts_more_than_the_users(project: Path, user: Path) -> None:
    assert user_file() == user
    user.write_text("call_timeout: 5\nstart_timeout: 9\n")
    config = configured(project, "call_timeout: 7\n")
    assert (config.call_timeout, config.start_timeout) == (7, 9)
    assert config.settings["start_timeout"].file == user


def test_what_belongs_to_a_project_is_refused_in_the_users_file(project: Path, user: Path) -> None:
    user.write_text("servers: {lab: {env: [X]}}\n")
    [problem] = load_config(project)[1]
    assert str(problem) == f"{user}:1:1: `servers` belongs to one project: write it into its `.ragwb.yaml`"


def test_every_mistake_has_its_place(project: Path) -> None:
    assert wrong(
        project,
        "pyton: x\npython: nowhere/python\nenv: OPENAI_API_KEY\ncall_timeout: soon\nstart_timeout: 0\n"
        "elicitation: yes\nservers:\n  lab: {pythn: x, env: [A=b]}\n  txt: {env: []}\n",
    ) == [
        ":1:1: unknown key `pyton`; did you mean `python`?",
        f":2:9: `python` names no Python interpreter: there is no program {project}/nowhere/python or "
        f"{project}/nowhere/python/bin/python",
        ":3:6: `env` must be a list of names, as in [OPENAI_API_KEY, HF_*], not a text",
        ":4:15: `call_timeout` must be a number of seconds above 0; to wait for ever, leave it out",
        ":5:16: `start_timeout` must be a number of seconds above 0; to wait for ever, leave it out",
        ":6:14: `elicitation` must be `ask`, `refuse` or `defaults`, not `yes`",
        ":9:3: warning: the pipeline has no server `txt`; did you mean `text`?",
        ":8:9: unknown key `servers.lab.pythn`; did you mean `python`?",
        ":8:24: `servers.lab.env` must hold names of environment variables; `A=b` is none",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n", ":1:1: `.ragwb.yaml` must be a map, not a list"),
        ("servers: [lab]\n", ":1:10: `servers:` must be a map, not a list"),
        ("servers: {lab: 3}\n", ":1:16: `servers.lab:` must be a map, not a number"),
        ("env: [A]\nenv: [B]\n", ":2:1: the key `env` is already on line 1"),
        ("python: 3\n", ":1:9: `python` must be the path of a Python interpreter or of a virtual environment, "),
        ("env: {\n", ":2:1: not valid YAML"),
    ],
)
def test_files_of_another_shape(project: Path, text: str, said: str) -> None:
    [problem] = wrong(project, text)
    assert problem.startswith(said)


def test_what_is_no_file_is_told(project: Path, user: Path) -> None:
    file = project / ".ragwb.yaml"
    file.unlink(missing_ok=True)
    file.mkdir()
    said = "this is a folder: the configuration is a file of that name"
    assert [str(problem) for problem in load_config(project)[1]] == [f"{file}: {said}"]
    file.rmdir()
    os.mkfifo(file)
    said = "this is a pipe or a device; ragwb reads regular files only"
    assert [str(problem) for problem in load_config(project)[1]] == [f"{file}: {said}"]
    assert project_folder(project / "pipelines" / "p.yaml") == project
    file.unlink()
    user.symlink_to(project / "nowhere")
    assert "no such file" in str(load_config(project)[1][0])


def test_a_pipeline_brings_its_configuration(project: Path) -> None:
    (project / ".ragwb.yaml").write_text(f"python: {sys.executable}\nenv: [A]\ncall_timeout: 4\n")
    ready = prepared(project, STEPS)
    assert ready.config.call_timeout == 4
    source = ready.sources["lab"]
    assert (source.python, source.passed_env) == (sys.executable, ("A",))
    (project / ".ragwb.yaml").write_text("call_timout: 4\n")
    assert "unknown key `call_timout`; did you mean `call_timeout` or `start_timeout`?" in refused(project, STEPS)


def test_an_interpreter_for_a_server_that_has_its_own(project: Path) -> None:
    file = project / ".ragwb.yaml"
    file.write_text(f"servers: {{sayhello: {{python: {sys.executable}}}}}\n")
    pipeline = project / "p.yaml"
    pipeline.write_text("servers: {sayhello: servers/sayhello}\npipeline: [sayhello.greet]\n")
    [warning] = prepare(pipeline).warnings
    assert str(warning) == (
        f"{file}:1:30: warning: `servers.sayhello.python` counts for Python servers of the project only; "
        "this is one that ragwb ships"
    )


def test_every_key_is_described() -> None:
    assert all(key.meaning and key.default and key.places for key in KEYS)
    assert len({key.name for key in KEYS}) == len(KEYS)
