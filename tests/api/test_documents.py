"""What the documents say is so: they are fresh, their code runs, and real events are what the schema says."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from jsonschema import Draft202012Validator

DOCS = Path(__file__).parents[2] / "docs"


def document_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("file", ["events.md", "events.schema.json"])
def test_what_is_made_of_the_events_is_fresh(file: str) -> None:
    made = document_script("make_events").made()
    assert made[file] == (DOCS / file).read_text(encoding="utf-8"), "run: uv run python docs/make_events.py"


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Events of all that can happen; see ``docs/record_events.py``."""
    recorder = document_script("record_events")
    folder = tmp_path_factory.mktemp("project")
    recorder.project(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        recorded: list[dict[str, Any]] = recorder.recorded(folder)
    return recorded


def test_real_events_are_what_the_schema_says(lines: list[dict[str, Any]]) -> None:
    """A failing step, a skip, a loop, a branch, a fork, an edit, servers that fail and die; and the command's own."""
    schema = json.loads((DOCS / "events.schema.json").read_text(encoding="utf-8"))
    checks = {kind: Draft202012Validator(definition) for kind, definition in schema["$defs"].items()}
    for line in lines:
        checks[line["type"]].validate(line)
        # The schema allows for fields to come; today's lines have none that it does not name.
        assert line.keys() <= schema["$defs"][line["type"]]["properties"].keys()
    assert {line["type"] for line in lines} == checks.keys()


def test_the_examples_are_what_the_schema_says() -> None:
    whole = Draft202012Validator(json.loads((DOCS / "events.schema.json").read_text(encoding="utf-8")))
    for line in (DOCS / "events.examples.jsonl").read_text(encoding="utf-8").splitlines():
        whole.validate(json.loads(line))
    assert not whole.is_valid({**json.loads(line), "timeline": "first"})


def test_a_fork_is_a_timeline_of_its_own(lines: list[dict[str, Any]]) -> None:
    begun = [line["timeline"] for line in lines if line["type"] == "visit_started"]
    ended = [line["timeline"] for line in lines if line["type"] in ("visit_finished", "visit_failed")]
    assert begun == ended
    assert set(begun) == {1, 2}
    (forked,) = [n for n, line in enumerate(lines) if line["type"] == "forked"]
    since = next(n for n in range(forked, 0, -1) if lines[n]["type"] == "continued")
    assert {line["timeline"] for line in lines[since : forked + 1]} == {2}
    back = next(line for line in lines[forked:] if line["type"] == "went_back")
    assert back["timeline"] == 1


def test_events_of_a_session_name_its_file(lines: list[dict[str, Any]]) -> None:
    (name,) = {line["session"] for line in lines if line["type"] == "forked"}
    assert re.fullmatch(r"demo-\d{8}_\d{6}", name)


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    text = (DOCS / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", text, re.DOTALL)
    assert len(blocks) > 5
    known: dict[str, Any] = {"__name__": "tutorial"}
    for code, printed in blocks:
        exec(compile(code, "python.md", "exec"), known)
        assert capsys.readouterr().out == printed


def test_the_tutorials_tests_pass(pytester: pytest.Pytester) -> None:
    text = (DOCS / "python.md").read_text(encoding="utf-8")
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "ragwb_pipeline" in block]
    pytester.makepyfile(code)
    ran = pytester.runpytest_subprocess("-p", "workbench.pytest_plugin", "-o", "asyncio_mode=auto")
    ran.assert_outcomes(passed=2)
