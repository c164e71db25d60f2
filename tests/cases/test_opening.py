"""Saved runs of every kind: what is known of each visit, and what is said not to be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import CONFORMANCE, run_to_end
from workbench.cases.large_file import LargeFile, LazyList
from workbench.cases.memory_json import read_runs
from workbench.cases.opening import open_runs
from workbench.cases.saved_run import RunUnreadable, is_unset
from workbench.mcp.hub import ServerHub
from workbench.pipeline.problems import PipelineError

ODD = [
    {"step": "lab.get_items", "memory": {"memory_q_ls": ["which town", "who keeps"], "memory_gt_ls": [["Marrow"], []]}},
    {"step": "lab.prepare", "memory": {}},
    {"step": "lab.route", "memory": {"memory_ans_ls": ["<search>salt", "Ines"]}},
    {"step": "prompt.ask", "memory": {"memory_prompt_ls": ["again", "<UNSET>"]}},
    {"step": "lab.generate", "memory": {"memory_ans_ls": None}},
    {"step": "lab.tag", "memory": {"memory_pred_ls": ["Marrow", ""], "memory_n": float("nan")}},
]
TWICE = """\
servers: {lab: servers/lab}
pipeline:
- lab.get_items
- loop:
    times: 2
    steps:
    - lab.generate:
        output: {ans_ls: subq_ls}
- lab.generate
"""


def saved(folder: Path, content: Any, name: str = "memory_toy_p_20250101_120000.json") -> Path:
    file = folder / name
    file.write_text(json.dumps(content, indent=2), encoding="utf-8")
    return file


def generate(name: str, *values: str) -> dict[str, Any]:
    return {"step": "lab.generate", "memory": {f"memory_{name}": list(values)}}


def test_odd_but_legal(tmp_path: Path) -> None:
    (opened,) = open_runs(saved(tmp_path, ODD))
    run = opened.run
    assert [visit.step for visit in run.visits] == [entry["step"] for entry in ODD]
    assert dict(run.visits[1].saved) == {}
    assert is_unset(run.visits[3].saved["prompt_ls"][1])
    assert run.visits[4].saved["ans_ls"] is None
    assert opened.pipeline is None
    assert "a memory file does not hold inputs, times, rounds, branches and messages" in opened.notes
    assert all(not visit.places for visit in run.visits), "nothing is invented"


def test_repeated_steps_are_told_apart_by_what_they_wrote(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(TWICE, encoding="utf-8")
    content = [ODD[0], generate("subq_ls", "1", "2"), generate("subq_ls", "1b", "2b"), generate("ans_ls", "A", "B")]
    (opened,) = open_runs(saved(tmp_path, content))
    assert [visit.place_text for visit in opened.run.visits] == ["1", "2.1 round 1", "2.1 round 2", "3"]
    assert list(opened.run.variables_after(2)) == ["q_ls", "gt_ls", "subq_ls"]
    assert opened.run.variables_after(2)["subq_ls"].value == ["1", "2"]


def test_what_the_file_does_not_tell_stays_open(tmp_path: Path) -> None:
    branch = "- branch:\n    router: [lab.route]\n    branches:\n      a: [lab.tag]\n      b: [lab.tag]\n"
    text = "servers: {lab: servers/lab}\npipeline:\n- lab.get_items\n"
    (tmp_path / "p.yaml").write_text(text + branch, encoding="utf-8")
    tagged = {"step": "lab.tag", "memory": {"memory_tagged_ls": ["x", "<UNSET>"]}}
    (opened,) = open_runs(saved(tmp_path, [ODD[0], {"step": "lab.route", "memory": {}}, tagged]))
    assert opened.run.visits[2].place_text == "2.a.1 branch a or 2.b.1 branch b"


def test_a_run_that_was_cut_short_is_matched_from_the_front(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(TWICE, encoding="utf-8")
    (opened,) = open_runs(saved(tmp_path, [ODD[0], generate("subq_ls", "1", "2")]))
    assert opened.run.visits[1].place_text == "2.1 round 1"


async def test_sessions_and_memory_files_agree_on_every_pipeline_of_the_suite(
    lab_servers: ServerHub, tmp_path: Path
) -> None:
    for pipeline in sorted((CONFORMANCE / "pipelines").glob("*.yaml")):
        try:
            session, _ = await run_to_end(pipeline, lab_servers, tmp_path)
        except PipelineError:
            continue
        visits = session.debugger.visits
        memory = session.debugger.state.memory
        if not visits or memory is None:
            continue
        (opened,) = open_runs(Path(memory), pipeline)
        truth = [(visit.step, visit.round, visit.branch) for visit in visits]
        found = [[(place.step, place.round, place.branch) for place in visit.places] for visit in opened.run.visits]
        assert len(truth) == len(found), pipeline.stem
        missed = [one for one, places in zip(truth, found, strict=True) if one not in places]
        assert not missed, f"{pipeline.stem}: {missed} among {found}"


def test_a_folder_gives_its_runs_newest_first(tmp_path: Path) -> None:
    import os

    for number, name in enumerate(("memory__a_20250101_120000.json", "memory__b_20250101_120000.json")):
        os.utime(saved(tmp_path, ODD[: number + 1], name), (number, number))
    (tmp_path / "memory_broken.json").write_text("{", encoding="utf-8")
    assert [len(opened.run.visits) for opened in open_runs(tmp_path)] == [2, 1]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(RunUnreadable, match="no saved run in this folder"):
        open_runs(empty)


def large(folder: Path, content: Any, **options: Any) -> LargeFile:
    file = folder / "large.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content, **options), encoding="utf-8")
    found = LargeFile(file)
    found.index()
    return found


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("wrap", [lambda c: c, lambda c: {"steps": c}, lambda c: {"data": [c]}, lambda c: [c]])
def test_a_large_file_reads_as_a_small_one(tmp_path: Path, wrap: Any, indent: int | None) -> None:
    found = large(tmp_path, wrap(ODD), indent=indent)
    (indexed,), (whole,) = found.runs(), read_runs(found.file)
    assert [visit.step for visit in indexed.visits] == [visit.step for visit in whole.visits]
    assert str([dict(visit.saved) for visit in indexed.visits]) == str([dict(visit.saved) for visit in whole.visits])
    assert (indexed.count, indexed.counted_by, found.trouble) == (2, "q_ls", None)


def test_a_large_list_is_decoded_entry_by_entry(tmp_path: Path) -> None:
    passages = [['with "quotes" and \\', f"[{n}]", "x" * 500] for n in range(3000)]
    found = large(tmp_path, [{"step": "a.b", "memory": {"memory_q_ls": passages}}])
    value = found.runs()[0].visits[0].saved["q_ls"]
    assert isinstance(value, LazyList)
    assert len(value) == 3000
    assert value[2999] == passages[2999]
    assert list(value[10:12]) == passages[10:12]
    assert found.runs()[0].is_item_list(value)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_file_that_is_cut_short_opens_up_to_the_cut(tmp_path: Path, share: float) -> None:
    visits = [{"step": f"a.s{n}", "memory": {"memory_q_ls": ["one", "two"]}} for n in range(20)]
    text = json.dumps(visits)
    found = large(tmp_path, text[: int(len(text) * share)])
    (run,) = found.runs()
    assert 0 < len(run.visits) < 20
    assert found.trouble is not None
    assert f"cut short at byte {int(len(text) * share):,}, after visit {len(run.visits)}" in found.trouble


def test_lines_of_cases_in_a_large_file(tmp_path: Path) -> None:
    line = json.dumps({"steps": ODD[:2]})
    assert len(large(tmp_path, f"{line}\n{line}\n").runs()) == 2


def test_a_large_file_that_is_something_else(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text("hello", encoding="utf-8")
    with pytest.raises(RunUnreadable, match="a memory file is a list of"):
        LargeFile(file)
    other = large(tmp_path, '[{"step": "a.b", "memory": {"memory_x": 1}}, {"step" 5}]')
    assert other.trouble is not None
    assert "not valid JSON at byte" in other.trouble
    assert len(other.runs()[0].visits) == 1
