"""The items of a saved run, two runs side by side, and ways out of both."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.worker import Worker

from tests.cases import toy
from workbench.cases.growing import GrowingRuns
from workbench.cases.opening import open_runs
from workbench.tui.app import ReplayApp
from workbench.tui.desk import Desk, GoLive

BETTER = {"pred_ls": ["Ada Fenwick", "Wend", "1432", "It is", "50", "灯塔"]}
PIPELINE = """\
servers: {benchmark: x, retriever: x, prompt: x, generation: x, custom: x}
pipeline:
- benchmark.get_data
- retriever.retriever_init
- retriever.bm25_search
- prompt.qa_rag_boxed
- generation.generate
- custom.output_extract_from_boxed
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two runs; the second has other predictions."""
    monkeypatch.chdir(tmp_path)
    one = toy.write(tmp_path, toy.visits())
    return one, toy.write(tmp_path, toy.visits(**BETTER), "memory_toy_q_20250101_120000.json")


@asynccontextmanager
async def shown(*files: Path, size: tuple[int, int] = (160, 45), **desk: Any) -> AsyncIterator[Pilot[Any]]:
    runs = [run for file in files for run in open_runs(file)]
    async with ReplayApp(Desk(runs, **desk)).run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        yield pilot


async def settled(pilot: Pilot[Any]) -> None:
    """Wait until nothing is being worked out."""
    await pilot.pause()
    while any(_is_at_work(worker) for worker in pilot.app.workers):
        await pilot.pause(0.005)
    await pilot.pause()


def _is_at_work(worker: Worker[Any]) -> bool:
    """Whether it works by itself; others wait for the user."""
    return (worker.group.startswith("looking") or worker.name == "_submitted") and not worker.is_finished


async def press(pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


def text(pilot: Pilot[Any]) -> str:
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


async def until(pilot: Pilot[Any], words: str) -> None:
    """Wait until something is on the screen."""
    async with asyncio.timeout(5):
        while words not in text(pilot):
            await pilot.pause(0.01)


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


# ---- the table


async def test_the_table_says_what_is_wrong_and_why(files: tuple[Path, Path]) -> None:
    async with shown(files[0]) as pilot:
        await press(pilot, "T")
        assert "2 right by em, 4 wrong: 1 retrieval, 1 generation, 1 extraction, 1 evaluation" in text(pilot)
        await press(pilot, "down")
        assert "none of the 2 passages holds the gold" in text(pilot)
        assert "passages (ret_psg), visit 3" in text(pilot)
        await press(pilot, "T")
        assert "ragwb replay" in text(pilot)


async def test_an_item_is_walked_from_the_visit_at_fault(files: tuple[Path, Path]) -> None:
    async with shown(files[0]) as pilot:
        await press(pilot, "T", "down", "v")
        assert "visit 3 of 6" in text(pilot)
        assert "item [1] of 6" in text(pilot)
        await press(pilot, "T", "]", "w")
        assert "item [2] of 6" in text(pilot), "the table was where it had been"
        await press(pilot, "T", "home", "enter", "T", "v")
        assert "no visit is at fault" in text(pilot)


async def test_sort_and_filter(files: tuple[Path, Path]) -> None:
    async with shown(files[0]) as pilot:
        await press(pilot, "T", "f", *"f1 < 0.5 and stage == 'retrieval'", "enter")
        assert "1 of 6 items" in text(pilot)
        assert "which river?" in text(pilot)
        assert "which year?" not in text(pilot)
        await press(pilot, "f", "ctrl+u", *"nonsense(", "enter")
        assert "can't read" in text(pilot)
        await press(pilot, "ctrl+u", *"rounds", "enter")
        assert "the columns are item, question" in text(pilot)
        await press(pilot, "ctrl+u", "enter")
        assert "who keeps it?" in text(pilot)
        await press(pilot, "s", "enter", "s", "enter")
        assert "item▾" in text(pilot)
        rows = [line for line in text(pilot).splitlines() if "[5]" in line or "[0]" in line]
        assert "[5]" in rows[0]


async def test_marks_and_notes_lie_beside_the_file(files: tuple[Path, Path]) -> None:
    before = digest(files[0])
    async with shown(files[0]) as pilot:
        await press(pilot, "T", "space", "space", "n", *"look at [it]", "enter")
        assert "look at [it]" in text(pilot)
    assert digest(files[0]) == before
    beside = json.loads(files[0].with_name(files[0].name + ".notes").read_text(encoding="utf-8"))
    assert beside["runs"] == {
        "1": {
            "0": {"marked": True, "note": ""},
            "1": {"marked": True, "note": ""},
            "2": {"marked": False, "note": "look at [it]"},
        }
    }
    async with shown(files[0]) as pilot:
        await press(pilot, "T", "f", *"marked", "enter")
        assert "2 of 6 items" in text(pilot)


async def test_notes_that_are_not_ours_are_left_alone(files: tuple[Path, Path]) -> None:
    beside = files[0].with_name(files[0].name + ".notes")
    beside.write_text("{]")
    async with shown(files[0]) as pilot:
        await press(pilot, "T", "space")
        assert "the notes can't be read" in text(pilot)
    assert beside.read_text() == "{]"


async def test_the_user_names_the_roles(files: tuple[Path, Path]) -> None:
    async with shown(files[0]) as pilot:
        await press(pilot, "T", "R", "down", "down")
        assert "prediction  pred_ls" in text(pilot)
        await press(pilot, "enter", "end", "up", "enter")
        assert "the prediction is taken from ans_ls" in text(pilot)
        assert "I can't tell" in text(pilot)
        await press(pilot, "R", "end", "enter", "end", "enter")
        assert "right by f1" in text(pilot)


async def test_the_panes_by_number(files: tuple[Path, Path]) -> None:
    async with shown(files[0], size=(80, 24)) as pilot:
        await press(pilot, "T", "down", "2")
        assert "none of the 2 passages" in text(pilot)
        await press(pilot, "3")
        assert "Nothing of use." in text(pilot)
        await press(pilot, "enter")
        assert "Wend" in text(pilot)
        await press(pilot, "escape", "1", "escape")
        assert "ragwb replay" in text(pilot)


async def test_a_run_without_items(tmp_path: Path) -> None:
    file = toy.write(tmp_path, [{"step": "sayhello.greet", "memory": {"memory_msg": "hello"}}])
    async with shown(file) as pilot:
        await press(pilot, "T", "w", "v", "space", "s", "n")
        assert "the file holds no item lists" in text(pilot)
        assert "there are no items" in text(pilot)


# ---- two runs


async def test_two_runs_side_by_side(files: tuple[Path, Path]) -> None:
    async with shown(*files, compares=True) as pilot:
        assert "6 items in both:  ▲ 1 better  ▼ 1 worse  ≠ 1 changed  = 3 same" in text(pilot)
        assert "paired permutation test, 10,000 resamples, seed 0" in text(pilot)
        await press(pilot, "down")
        assert "[-I can't tell-]{+Wend+}" in text(pilot)
        assert "custom.output_extract_from_boxed: pred_ls  here they part" in text(pilot)
        await press(pilot, "f", "down", "enter")
        assert "who keeps it?" not in text(pilot)
        await press(pilot, "f", *["down"] * 3, "enter")
        assert "哪座灯塔?" in text(pilot)
        assert "which river?" not in text(pilot)
        await press(pilot, "s")
        assert "they have no item" not in text(pilot)
        assert "A memory_toy_q" in text(pilot)
        await press(pilot, "C")
        assert "ragwb replay" in text(pilot)


async def test_from_a_comparison_to_the_walk(files: tuple[Path, Path]) -> None:
    async with shown(*files, compares=True) as pilot:
        await press(pilot, "]", "w")
        assert "visit 6 of 6" in text(pilot)
        assert "item [1] of 6" in text(pilot)


async def test_steps_are_compared_too(files: tuple[Path, Path]) -> None:
    async with shown(*files, compares=True) as pilot:
        await press(pilot, "down", "3", "end", "enter")
        assert "A 6 custom.output_extract_from_boxed" in text(pilot)
        assert "{+Wend+}" in text(pilot)
        await press(pilot, "escape", "2", "4", "1")
        assert "ragwb compare" in text(pilot)


async def test_compare_with_another_file(files: tuple[Path, Path]) -> None:
    async with shown(files[0]) as pilot:
        await press(pilot, "C", *"nothing.json", "enter")
        await until(pilot, "no such file")
        await press(pilot, "ctrl+u", *files[1].name, "enter")
        await until(pilot, "▲ 1 better")
        await press(pilot, "escape", "r")
        assert "run 2 of 2" in text(pilot)
        await press(pilot, "C", "enter")
        await until(pilot, "▼ 1 worse")


# ---- sharing


@pytest.mark.parametrize(("suffix", "holds"), [("html", "<!doctype html>"), ("md", "####"), ("json", '"rows"')])
async def test_marked_items_are_exported(files: tuple[Path, Path], suffix: str, holds: str) -> None:
    downs = ("html", "md", "json").index(suffix)
    async with shown(files[0]) as pilot:
        await press(pilot, "T", "down", "space", "x")
        assert "Export the 1 marked item as" in text(pilot)
        await press(pilot, *["down"] * downs, "enter")
        await until(pilot, "from ")
        await press(pilot, "enter")
        await until(pilot, "written:")
    content = (files[0].parent / f"{files[0].stem}_items.{suffix}").read_text(encoding="utf-8")
    assert holds in content
    assert "which river?" in content
    assert "which year?" not in content


async def test_a_test_needs_a_session(files: tuple[Path, Path]) -> None:
    async with shown(files[0]) as pilot:
        await pilot.press("M")
        await settled(pilot)
        assert "a memory file does not hold what the tool was given" in text(pilot)


# ---- walking


async def test_two_visits_are_compared(files: tuple[Path, Path]) -> None:
    async with shown(files[0]) as pilot:
        await press(pilot, "down", "down", "down", "down", "space")
        assert "◉" in text(pilot)
        await press(pilot, "down", "space")
        assert "visit 5 generation.generate" in text(pilot)
        assert "visit 6 custom.output_extract_from_boxed" in text(pilot)


async def test_places_that_can_not_be_told_apart_are_both_shown(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    branch = "- branch: {router: [a.r], branches: {x: [a.s], y: [a.s]}}\n"
    (tmp_path / "p.yaml").write_text(f"servers: {{a: x}}\npipeline:\n- a.q\n{branch}", encoding="utf-8")
    tagged = {"step": "a.s", "memory": {"memory_r": ["y", "<UNSET>"]}}
    run = [{"step": "a.q", "memory": {"memory_q_ls": ["x", "z"]}}, {"step": "a.r", "memory": {}}, tagged]
    async with shown(toy.write(tmp_path, run)) as pilot:
        await press(pilot, "end")
        assert "a.s: step 2.x.1 branch x or step 2.y.1 branch y" in text(pilot)


async def test_going_live_is_asked_for_step_by_step(files: tuple[Path, Path]) -> None:
    (files[0].parent / "p.yaml").write_text(PIPELINE, encoding="utf-8")
    async with shown(files[0]) as pilot:
        await press(pilot, "down", "down", "L")
        assert "Go live before visit 3" in text(pilot)
        await press(pilot, "space", "space", "end", "space", "enter")
        left = pilot.app.return_value
    assert isinstance(left, GoLive)
    assert (left.visit, left.answers, left.by_step) == (3, "recorded", {"6": "run"})


async def test_what_keeps_a_run_from_going_live_is_said_where_it_is_looked_at(files: tuple[Path, Path]) -> None:
    (files[0].parent / "p.yaml").write_text(PIPELINE, encoding="utf-8")
    async with shown(files[0], refusal=lambda live: f"no server for visit {live.visit}") as pilot:
        await press(pilot, "down", "L", "enter")
        assert "no server for visit 2" in text(pilot)
        assert "visit 2 of 6" in text(pilot)
        assert pilot.app.return_value is None


async def test_going_live_from_the_table_of_items(files: tuple[Path, Path]) -> None:
    (files[0].parent / "p.yaml").write_text(PIPELINE, encoding="utf-8")
    async with shown(files[0]) as pilot:
        await press(pilot, "T", "L")
        assert "no visit is at fault for this item" in text(pilot)
        await press(pilot, "down", "L")
        assert "Go live before visit 3" in text(pilot)
        await press(pilot, "enter")
        left = pilot.app.return_value
    assert isinstance(left, GoLive)
    assert left.visit == 3


async def test_going_live_needs_the_pipeline(files: tuple[Path, Path]) -> None:
    async with shown(files[0]) as pilot:
        await pilot.press("L")
        await settled(pilot)
        assert "its pipeline is not known" in text(pilot)


async def test_a_large_file_is_shown_while_it_is_indexed(files: tuple[Path, Path]) -> None:
    indexed = threading.Event()

    class Held(GrowingRuns):
        def _finish(self) -> None:
            indexed.wait(10)
            super()._finish()

    growing = Held(files[0])
    desk = Desk(growing.first_runs(), growing=growing)
    async with ReplayApp(desk).run_test(size=(160, 45), notifications=True) as pilot:
        await press(pilot, "T", "L")
        assert "the file is still being indexed" in text(pilot)
        assert "ragwb replay" in text(pilot)
        indexed.set()
        growing.wait()
        while pilot.app.screen._desk.growing is not None:  # type: ignore[attr-defined]
            await pilot.pause(0.05)
        assert "visit 1 of 6" in text(pilot)
        await press(pilot, "down", "down", "2", "end", "enter")
        assert "Nothing of use." in text(pilot)


async def test_a_list_that_is_still_in_its_file_is_searched(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("workbench.cases.large_file._LARGE_VALUE", 1)
    monkeypatch.setattr("workbench.cases.opening.LARGE", 1)
    entries = [f"entry {number}" for number in range(3000)]
    file = toy.write(tmp_path, [{"step": "a.b", "memory": {"memory_q_ls": entries}}])
    async with shown(file) as pilot:
        await press(pilot, "2", "slash", *"entry 2719", "enter", "escape")
        assert "[2719]" in text(pilot)
        await press(pilot, "slash", "ctrl+u", *"nothing", "enter")
        assert "no match" in text(pilot)
        await press(pilot, "escape", "]", "]")
        assert "entry 1" in text(pilot)


# ---- images


async def test_an_image_is_told_of_by_name_and_size(tmp_path: Path, monkeypatch: Any) -> None:
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (20, 10), "red").save(tmp_path / "kiln.png")
    monkeypatch.delitem(__import__("sys").modules, "textual_image.widget", raising=False)
    file = toy.write(tmp_path, [{"step": "a.b", "memory": {"memory_page": "kiln.png"}}])
    async with shown(file) as pilot:
        await press(pilot, "2", "enter")
        assert "kiln.png, 20 x 10, PNG" in text(pilot)


async def test_an_image_is_shown_where_the_terminal_was_asked(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    from workbench.tui.images import ask_the_terminal, names_images

    image.new("RGB", (200, 100), "white").save(tmp_path / "kiln.png")
    file = toy.write(tmp_path, [{"step": "a.b", "memory": {"memory_page": [["kiln.png"]]}}])
    (opened,) = open_runs(file)
    assert names_images([opened.run])
    ask_the_terminal()
    async with shown(file) as pilot:
        await press(pilot, "2", "right", "down", "right", "down", "enter")
        assert "kiln.png, 200 x 100, PNG" in text(pilot)
        (picture,) = pilot.app.screen.query("#picture > *")
        assert picture.size.width > 10


async def test_what_is_no_image_is_said(tmp_path: Path) -> None:
    (tmp_path / "kiln.png").write_bytes(b"no picture")
    file = toy.write(tmp_path, [{"step": "a.b", "memory": {"memory_page": "kiln.png"}}])
    async with shown(file) as pilot:
        await press(pilot, "2", "enter")
        assert "no image that can be read" in text(pilot)
