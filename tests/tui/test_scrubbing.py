"""The timeline's cursor: every pane shows the past visit it is on, and nothing is run or moved."""

from __future__ import annotations

from collections.abc import Callable

from tests.tui.support import LOOP, RAG, Opened

Open = Callable[..., Opened]


async def test_every_pane_follows(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("c", "equals_sign", *"q_ls[0]", "enter", "4")
        assert opened.screen._model.looked_at is None
        await keys.press("home", "down", "down")
        screen = opened.screen
        assert screen._model.looked_at == 3
        assert "looking at visit 3 2.1.more.1 lab.extend" in keys.text().splitlines()[1]
        assert screen._variables._shown[0].value[0] == "fig+"
        assert screen._variables._shown[-1].value == "fig+"
        assert screen._tree.step is not None
        assert screen._tree.step.path == "2.1.more.1"
        assert screen._step.is_past
        assert screen._snapshots.visit is not None
        assert screen._snapshots.visit.number == 3
        assert screen._traffic.line is not None
        assert getattr(screen._traffic.line.event, "visit", None) == 3
        assert "  3◀" in keys.text()
        assert opened.debugger.state.status == "finished"


async def test_escape_returns_to_the_present(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "n", "4", "up", "escape")
        screen = opened.screen
        assert screen._model.looked_at is None
        assert screen._timeline.cursor == 1
        assert "looking at" not in keys.text()
        assert screen._tree.step is not None
        assert screen._tree.step.path == "3"
        await keys.press("m", "escape")
        assert not screen.has_class("-alone")


async def test_a_step_that_is_run_returns_too(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "n", "4", "up")
        assert "ret_psg" not in [node.label for node in opened.screen._variables._shown]
        await keys.press("n")
        assert opened.screen._model.looked_at is None
        assert "prompt_ls" in [node.label for node in opened.screen._variables._shown]


async def test_past_values_are_not_edited(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "n", "4", "up", "3", "e")
        assert "these are past values" in keys.text()


async def test_where_the_time_went(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n")
        assert "ran: server 0.2 s · transport 10 ms" in keys.text()


async def test_a_fork_says_what_it_left(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("c", "u", "u", "n")
        assert "fork 2 of 1  left 2 visits, 3 to 4" in keys.text()


async def test_the_future_is_looked_at_from_the_past(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("c", "u", "u", "u", "4", "home", "down", "down")
        assert opened.screen._model.looked_at == 3
        assert "prompt_ls" in [node.label for node in opened.screen._variables._shown]
        await keys.press("escape")
        assert opened.screen._timeline.cursor == 0
        assert "prompt_ls" not in [node.label for node in opened.screen._variables._shown]


async def test_the_tree_shows_how_far_the_run_was(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("c", "4", "home", "down", "down")
        tree = [line[:40] for line in keys.text().splitlines()[3:12]]
        assert any("loop" in line and "1/5" in line for line in tree)
        assert any("✓" in line and "lab.extend" in line for line in tree)
        assert any("lab.search" in line and "✓" not in line for line in tree)
        await keys.press("escape")
        assert any("lab.search" in line and "✓" in line for line in keys.text().splitlines()[3:12])
