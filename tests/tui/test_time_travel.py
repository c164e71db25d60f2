"""Going back and forth in what has run."""

from __future__ import annotations

from collections.abc import Callable

from tests.tui.support import RAG, Opened

Open = Callable[..., Opened]


async def test_back_forth_and_to_the_end(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("c", "u")
        assert opened.debugger.state.place.step == "4"
        assert "in the past: before visit 4; running on begins a fork" in keys.text().splitlines()[1]
        await keys.press("u")
        assert opened.debugger.state.place.step == "3"
        assert opened.screen._model.later_visits == {3, 4}
        await keys.press("U")
        assert opened.debugger.state.place.step == "4"
        await keys.press("u", "u", "E")
        assert opened.debugger.state.status == "finished"
        await keys.press("U")
        assert "nothing is recorded after this" in keys.text()


async def test_enter_on_a_visit_goes_before_it(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("c", "4", "home", "down", "enter")
        assert opened.debugger.state.place.step == "2"
        assert "ret_psg" not in opened.debugger.state.pool.variables
        assert opened.app.screen is opened.screen
        timeline = opened.screen._timeline
        assert timeline.row(0).left[2].look == ""
        assert timeline.row(2).left[2].look == "dim"
        calls = len(opened.tools.calls)
        await keys.press("E", "end", "enter")
        assert len(opened.tools.calls) == calls


async def test_running_on_from_the_past_begins_a_fork(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("c", "u", "u", "n")
        entries = [entry.visit for entry in opened.screen._model.timeline]
        assert entries == [1, 2, None, 5]
        assert "fork 2 of 1" in keys.text()
        assert opened.debugger.state.place.step == "4"
        assert "in the past" not in keys.text()


async def test_what_an_edit_led_to_is_marked(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "3", "i", "e", "ctrl+a", *"plum", "ctrl+s", "n")
        assert any("lab.search  edited" in line for line in keys.text().splitlines())


async def test_answers_from_the_record_are_marked(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        opened.debugger.answers = "recorded"
        await keys.press("c", "u", "n")
        assert any("lab.generate  recorded" in line for line in keys.text().splitlines())
