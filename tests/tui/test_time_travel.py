"""Going back and forth in what has run."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.tui.support import LOOP, RAG, Opened
from workbench.engine.breakpoints import Breakpoint

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
        assert timeline.row(0).left[3].look == ""
        assert timeline.row(2).left[3].look == "dim"
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


async def test_round_by_round_back(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("c", "W")
        assert opened.debugger.state.position == len(opened.debugger.timeline.moments) - 1
        await keys.press("W")
        place = opened.debugger.state.place
        assert (place.step, place.round) == ("2.1.router.1", (5,))
        await keys.press("W")
        assert opened.debugger.state.place.round == (4,)
        assert "4/5" in keys.text(), "the tree tells the round of this place"


async def test_the_tree_tells_of_the_place_that_was_gone_back_to(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("c", "u")
        assert re.search(r"✓ 2 +loop +5/5", keys.text())
        await keys.press("4", "home", "enter")
        assert "✓" not in keys.text().splitlines()[3]
        assert "x 5" in keys.text()


async def test_from_one_timeline_to_another(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("T")
        assert "there is one timeline" in keys.text()
        await keys.press("c", "u", "u", "n", "T")
        assert "2  fork of 1 before visit 3 · 3 visits · here" in keys.text()
        await keys.press("home", "enter")
        assert opened.debugger.state.timeline == 1
        assert opened.debugger.state.status == "finished"
        entries = [entry.visit for entry in opened.screen._model.timeline]
        assert entries == [1, 2, 3, 4]


async def test_steps_are_answered_from_the_recording(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press(
            "c", "u", "u", "A", "space", "down", "down", "down", "space", "space", "space", "left", "right", "enter"
        )
        assert opened.debugger.answers == "recorded if equal"
        assert opened.debugger.answers_by_step == {"3": "recorded"}
        calls = len(opened.tools.calls)
        await keys.press("c")
        assert len(opened.tools.calls) == calls
        assert "recorded" in keys.text()


async def test_an_output_is_edited_right_after_its_visit(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("c", "4", "home", "2", "full_stop", "i", "e")
        assert "Item [0] of output q_ls of visit 1" in keys.text()
        await keys.press("ctrl+a", *"plum", "ctrl+s")
        assert opened.debugger.state.position == 1
        assert opened.debugger.state.pool.variables["q_ls"].value[0] == "plum"
        await keys.press("c")
        assert opened.debugger.state.timeline == 2
        assert any("lab.search  edited" in line for line in keys.text().splitlines())


async def test_a_failed_step_may_end_the_run(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("X")
        assert not opened.debugger.breakpoints.on_failure
        assert "a failed step ends the run as failed" in keys.text()
        await keys.press("X")
        assert opened.debugger.breakpoints.on_failure


async def test_a_breakpoint_after_the_last_step(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        opened.debugger.breakpoints.add(Breakpoint("4", when="after"))
        await keys.press("c")
        assert opened.debugger.state.status == "stopped"
        assert "breakpoint, after 4 lab.generate" in keys.text()
        await keys.press("c")
        assert opened.debugger.state.status == "finished"


async def test_two_timelines_are_compared(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("c", "F")
        assert "there is one timeline" in keys.text()
        await keys.press("4", "home", "enter", "3", "e")
        await keys.press("escape", "u", "u", "u", "n")
        await keys.press("F")
        assert "ragwb compare" in keys.text()
        assert "timeline 1" in keys.text()
        assert "timeline 2" in keys.text()
        await keys.press("]", "w")
        assert "item [1] of 4" in keys.text()
        assert opened.app.screen is opened.screen
