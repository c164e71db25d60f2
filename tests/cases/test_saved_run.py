"""Saved runs in every shape that is accepted, and what is said of files that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import CONFORMANCE
from workbench.cases.memory_json import read_runs
from workbench.cases.saved_run import RunUnreadable

CASE = [
    {"step": "a.get", "memory": {"memory_q_ls": ["x", "y"], "memory_table": [1, 2, 3]}},
    {"step": "a.ask", "memory": {"memory_ans_ls": ["1", "<UNSET>"]}},
    {"step": "a.note", "memory": {}},
]


def write(folder: Path, content: Any, name: str = "m.json") -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "content",
    [CASE, {"steps": CASE}, {"case": CASE}, [CASE], {"data": [{"steps": CASE}]}, {"results": [CASE]}],
    ids=["case", "steps", "case key", "list", "wrapped", "results"],
)
def test_accepted_shapes(tmp_path: Path, content: Any) -> None:
    (run,) = read_runs(write(tmp_path, content))
    assert [visit.step for visit in run.visits] == ["a.get", "a.ask", "a.note"]
    assert (run.count, run.counted_by) == (2, "q_ls")


def test_json_lines(tmp_path: Path) -> None:
    file = write(tmp_path, f"{json.dumps(CASE)}\n\n{json.dumps({'steps': CASE})}\n", "m.jsonl")
    assert len(read_runs(file)) == 2


def test_lines_of_cases_in_a_json_file(tmp_path: Path) -> None:
    line = json.dumps([{"step": "a.b", "memory": {}}])
    assert len(read_runs(write(tmp_path, f"{line}\n{line}\n"))) == 2


def test_numbers_and_depths_that_nobody_can_read(tmp_path: Path) -> None:
    for content, name, said in (
        ("9" * 5000, "m.json", "too many digits"),
        ("[" * 50_000, "m.json", "nested too deeply"),
        ("[" * 50_000, "m.jsonl", "m.jsonl:1: nested too deeply"),
    ):
        with pytest.raises(RunUnreadable, match=said):
            read_runs(write(tmp_path, content, name))


def test_variables_and_items(tmp_path: Path) -> None:
    (run,) = read_runs(write(tmp_path, CASE))
    assert run.variables_after(0) == {}
    after = run.variables_after(2)
    assert [(v.name, v.visit) for v in after.values()] == [("q_ls", 1), ("table", 1), ("ans_ls", 2)]
    assert run.of_item(after["ans_ls"].value, 0) == "1"
    assert run.of_item(after["table"].value, 0) == [1, 2, 3], "a list of another length belongs to no item"


def test_every_expected_file_of_the_suite_can_be_read() -> None:
    for file in (CONFORMANCE / "expected").glob("*.json"):
        if not file.name.endswith(".error.json") and file.read_text().strip() != "[]":
            assert read_runs(file)[0].visits


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "m.json:1:2: not valid JSON"),
        ('"text"', "a memory file is a list of {step, memory}"),
        ({"other": 1}, "a map with none of steps, case"),
        ([{"step": 1}], "entry 1 is no visit"),
        ([{"step": "a.b", "memory": [1]}], "`memory` of entry 1 (a.b) must be a map"),
        ([1], "a memory file is a list of {step, memory}"),
    ],
)
def test_files_that_are_no_runs(tmp_path: Path, content: Any, said: str) -> None:
    with pytest.raises(RunUnreadable) as error:
        read_runs(write(tmp_path, content))
    assert said in str(error.value)
