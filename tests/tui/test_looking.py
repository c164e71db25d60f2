"""What the panes say of a run: what is under way, what is past, what is one item's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tui.support import LOOP, RAG, Keys, Opened
from workbench.engine.events import VisitProgress
from workbench.engine.ports import Progress
from workbench.tui.bars import KeyBar
from workbench.tui.heard import KEPT_CHARACTERS, Heard

Open = Callable[..., Opened]
SPEAK = "pipeline:\n- lab.get_items\n- lab.speak\n- lab.search\n"
INTO_BRANCH = ("s", "s", "s", "s", "s")


def line_with(keys: Keys, text: str) -> str:
    return next((line for line in keys.text().splitlines() if text in line), "")


async def test_there_is_nothing_to_retry(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("r")
        assert "nothing has failed here" in keys.text()
        assert opened.debugger.state.place.step == "1"


async def test_a_router_that_led_nowhere_is_asked_again(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP.replace("route_done", "route_oddly"))
    async with opened.running() as keys:
        await keys.press(*INTO_BRANCH)
        calls = len(opened.tools.calls)
        await keys.press("r")
        assert len(opened.tools.calls) == calls + 1
        assert "nothing has failed here" not in keys.text()


# ---- a step that is running


async def test_what_a_running_step_said_so_far(open_pipeline: Open) -> None:
    opened = open_pipeline(SPEAK)
    opened.tools.lab.told = [Progress(n, None, token) for n, token in enumerate(["The ", "keeper \x1b[2J", "is"], 1)]
    async with opened.running() as keys:
        await keys.press("n", "full_stop")
        await keys.press_at_once("n")
        await keys.until(lambda: "The keeper ␛[2Jis" in keys.text())
        assert "3 tokens" in keys.text().splitlines()[1]
        assert "it has not run yet" not in keys.text()
        opened.app.engine._loop.call_soon_threadsafe(opened.tools.lab.hanging.set)
        await keys.settle()
        await keys.press("up")
        assert line_with(keys, "tagged_ls")
        assert "The keeper" not in keys.text().replace(line_with(keys, "Traffic"), "")


async def test_a_running_step_that_said_nothing_yet(open_pipeline: Open) -> None:
    opened = open_pipeline(SPEAK)
    async with opened.running() as keys:
        await keys.press("n", "full_stop")
        await keys.press_at_once("n")
        await keys.until(lambda: opened.screen._step.view.id == "heard")
        await keys.until(lambda: "│running " in keys.text())
        await keys.press_at_once("x")
        await keys.settle()


def test_progress_with_a_total_is_told_line_by_line() -> None:
    heard = Heard(1)
    for done in (1, 2):
        heard.take(VisitProgress(visit=1, step="1", name="a.b", progress=done, total=10, message="shard"))
    assert heard.brief == "2 of 10 · shard"
    assert heard.text == "1 of 10 · shard\n2 of 10 · shard\n"


def test_only_the_end_of_what_was_said_is_kept() -> None:
    heard = Heard(1)
    for _ in range(1_000):
        heard.take(VisitProgress(visit=1, step="1", name="a.b", message="token "))
    assert len(heard.text) == KEPT_CHARACTERS


async def test_a_pause_that_is_waited_for_is_told(open_pipeline: Open) -> None:
    opened = open_pipeline(SPEAK)
    async with opened.running() as keys:
        await keys.press("n")
        await keys.press_at_once("f5")
        await keys.until(lambda: "running 2 lab.speak" in keys.text())
        await keys.press_at_once("f6")
        await keys.until(lambda: "pausing after this step" in keys.text())
        opened.app.engine._loop.call_soon_threadsafe(opened.tools.lab.hanging.set)
        await keys.settle()
        assert "paused before 3 lab.search" in keys.text()
        assert "pausing" not in keys.text()


async def test_a_branch_is_under_way_until_the_run_has_left_it(open_pipeline: Open) -> None:
    opened = open_pipeline("pipeline:\n- lab.get_items\n" + LOOP[LOOP.index("- loop") :].replace("5", "1"))
    async with opened.running() as keys:
        await keys.press("s", "s", "s", "s")
        assert "● 2.1 branch" in keys.text()
        await keys.press("s")
        assert opened.debugger.state.place.step == "2.1.more.1"
        assert "● 2.1 branch" in keys.text()
        await keys.press("s")
        assert opened.debugger.state.place.step == "3"
        assert "✓ 2.1 branch" in keys.text()


# ---- visits


async def test_the_title_tells_of_a_past_visit(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("c", "4", "home", "down", "down")
        assert "Step 2.1.more.1 lab.extend · past visit 3 · round 1 · more" in keys.text()


async def test_what_the_next_step_gave_before_is_marked(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press(*INTO_BRANCH, "s", "s", "full_stop")
        assert "Step 2.1.router.1 lab.route_done" in keys.text()
        assert "past visit 2 · round 1" in keys.text()


async def test_the_last_visit_and_back(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("v")
        assert "no step has run yet" in keys.text()
        await keys.press("n", "n", "v")
        assert "Step 2 lab.search · past visit 2" in keys.text()
        assert opened.screen.focused is not None
        assert opened.screen.focused.id == "output"
        assert "ret_psg" in line_with(keys, "4 x 2")
        await keys.press("v")
        assert "┏━ Step 3 lab.ask ━" in keys.text()


# ---- the item lens


async def test_an_item_that_is_not_the_steps(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    opened.tools.lab.items = ["long enough", "fig"]
    async with opened.running() as keys:
        await keys.press(*INTO_BRANCH, "2", "i")
        assert line_with(keys, "not among the items of this step")
        assert "NotThis" not in keys.text()
        assert "NoValue" not in keys.text()
        await keys.press("y")
        assert "there is no value at the cursor to copy" in keys.text()
        await keys.press("e")
        assert opened.app.screen is opened.screen
        assert "item [0] is not among the items of this step" in keys.text()


async def test_marks_of_the_list_are_left_off_one_item(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n", "3", "i", "e", "ctrl+a", *"plum", "ctrl+s")
        assert "edited" not in line_with(keys, "q_ls [0]").rpartition("││")[2]
        await keys.press("i")
        assert "edited" in keys.text()


# ---- small screens


async def test_names_and_previews_stay_on_a_small_screen(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running((100, 30)) as keys:
        await keys.press("c", "3", "end", "right")
        for name in ("prompt_ls", "ret_psg", "$long_enough"):
            assert line_with(keys, name), name
        assert '"A(' in line_with(keys, "ans_ls")


@pytest.mark.parametrize("width", [80, 100])
async def test_the_foot_keeps_what_is_always_of_use(open_pipeline: Open, width: int) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running((width, 30)) as keys:
        foot = keys.text().splitlines()[-1]
        for label in ("F5 Go on", "F10 Over", "/ Find", "^P Menu", "q Quit", "? Help"):
            assert label in foot


async def test_help_cuts_no_sentence(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running((80, 24)) as keys:
        await keys.press("question_mark")
        seen = keys.text()
        for _ in range(6):
            await keys.press("pagedown")
            seen += keys.text()
        sentences = [action.help for action in opened.screen.ACTIONS] + [text for _, text in opened.screen.SIGNS]
        assert all(word in seen for sentence in sentences for word in sentence.split())
        assert "…" not in seen


async def test_the_viewer_copies_with_y(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n", "3", "enter")
        assert "y Copy" in opened.app.screen.query_one(KeyBar).render_line(0).text
