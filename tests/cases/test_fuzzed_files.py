"""Files that nobody would write: whatever is in them, a run opens and can be studied, or one sentence says why not."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.cases import toy
from workbench.cases.as_data import export_data
from workbench.cases.compare import Comparison
from workbench.cases.export_html import html_page
from workbench.cases.export_markdown import markdown_page
from workbench.cases.large_file import LargeFile
from workbench.cases.memory_json import read_runs
from workbench.cases.notes import Notes, NotesUnreadable
from workbench.cases.opening import OpenedRun, open_runs
from workbench.cases.saved_run import RunUnreadable
from workbench.cases.study import Study
from workbench.cases.table import table
from workbench.cases.why import verdicts

STEPS = ("benchmark.get_data", "retriever.search", "prompt.qa", "generation.generate", "evaluation.evaluate", "a.b", "")
NAMES = (
    "memory_q_ls",
    "memory_gt_ls",
    "memory_ret_psg",
    "memory_prompt_ls",
    "memory_ans_ls",
    "memory_pred_ls",
    "x",
    "",
)
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.just("<UNSET>")
values = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
memories = st.dictionaries(st.sampled_from(NAMES), values | st.lists(values, min_size=2, max_size=2), max_size=4)
visits = st.fixed_dictionaries({"step": st.sampled_from(STEPS), "memory": memories | st.none()})
runs = st.lists(visits, max_size=6)
shapes = runs | st.fixed_dictionaries({"steps": runs}) | st.lists(runs, max_size=2) | values
WHOLE = json.dumps(toy.visits(), indent=1, ensure_ascii=False).encode()
FIRST = WHOLE.index(b"retriever.retriever_init")
"""Where the first visit is over."""

quick = settings(max_examples=80, deadline=None, derandomize=True)


@contextmanager
def written(content: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory_toy_fuzzed_20250101_120000.json"
        file.write_bytes(content)
        yield file


def opened(file: Path) -> list[OpenedRun]:
    """The runs; none where one sentence says why."""
    try:
        return open_runs(file)
    except RunUnreadable as error:
        why = str(error)
    assert why
    assert "\n" not in why
    return []


@quick
@given(shapes)
def test_whatever_opens_can_be_studied(content: Any) -> None:
    with written(json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass")) as file:
        for run in opened(file):
            study = Study(run)
            rows = table(study.rows, verdicts(study))
            data = run.redactor().value(export_data(study, rows))
            assert html_page(data)
            assert markdown_page(data)
            assert run.run.variables_after(len(run.run.visits)) is not None
            assert Comparison(study, study).outcomes["better"] == 0


@quick
@given(st.integers(0, len(WHOLE) - 1))
def test_a_file_that_is_cut_short_opens_up_to_the_cut(cut: int) -> None:
    with written(WHOLE) as file:
        (whole,) = read_runs(file)
    with written(WHOLE[:cut]) as file:
        runs = opened(file)
    steps = [visit.step for visit in whole.visits]
    for run in runs:
        assert [visit.step for visit in run.run.visits] == steps[: len(run.run.visits)]
        assert run.run.trouble is not None
        assert "cut short" in run.run.trouble
        assert all(
            dict(visit.saved) == dict(other.saved)
            for visit, other in zip(run.run.visits[:-1], whole.visits, strict=False)
        )
    assert runs or cut < FIRST, "after the first visit there is something to see"


@quick
@given(st.binary(max_size=6), st.integers(0, len(WHOLE)), st.integers(0, 12))
@example(b"", 172, 1)
@example(b"\x00", 76, 0)
def test_bytes_that_were_not_meant(scrap: bytes, at: int, lost: int) -> None:
    with written(WHOLE[:at] + scrap + WHOLE[at + lost :]) as file:
        opened(file)


@quick
@given(runs.filter(bool))
def test_an_indexed_file_is_what_is_read_whole(content: list[Any]) -> None:
    with written(json.dumps(content).encode()) as file:
        (whole,) = read_runs(file)
        large = LargeFile(file)
        large.index()
        (indexed,) = large.runs()
        assert [visit.step for visit in indexed.visits] == [visit.step for visit in whole.visits]
        assert (indexed.count, indexed.counted_by) == (whole.count, whole.counted_by)
        for one, other in zip(indexed.visits, whole.visits, strict=True):
            assert json.dumps(dict(one.saved)) == json.dumps(dict(other.saved))


@quick
@given(values | st.fixed_dictionaries({"format": st.just(1), "runs": values}))
def test_notes_of_any_kind_are_read_or_left_alone(content: Any) -> None:
    with written(WHOLE) as file:
        (run,) = read_runs(file)
        beside = file.with_name(file.name + ".notes")
        beside.write_text(json.dumps(content), encoding="utf-8")
        try:
            notes = Notes(run)
        except NotesUnreadable:
            assert json.dumps(content) == beside.read_text(encoding="utf-8")
        else:
            notes.mark(0, True)
            assert Notes(run).of(0).is_marked
