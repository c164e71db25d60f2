"""Two snapshots side by side."""

from __future__ import annotations

from collections.abc import Callable

from tests.tui.support import LOOP, Opened
from workbench.tui.diff_viewer import DiffViewer
from workbench.tui.workbench_screen import WorkbenchScreen

Open = Callable[..., Opened]
TO_THE_SECOND_ROUND = ("s",) * 7


async def test_two_snapshots_are_compared(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press(*TO_THE_SECOND_ROUND, "6", "end", "space")
        assert "◉    memory_q_ls" in keys.text()
        await keys.press("home", "down", "space")
        assert isinstance(opened.app.screen, DiffViewer)
        text = keys.text()
        assert "memory_q_ls of visit 1  against  memory_q_ls of visit 3" in text
        assert "[-fig-]{+fig++}" in text
        await keys.press("y")
        assert "copied memory_q_ls of visit 1 against" in keys.text()
        await keys.press("escape")
        assert "◉" not in keys.text()


async def test_with_an_item_pinned_the_rest_is_left_off(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press(*TO_THE_SECOND_ROUND, "i", "6", "end", "space", "home", "down", "space")
        assert "[-fig-]{+fig++}" in keys.text()
        assert "apple" not in keys.text()


async def test_a_mark_is_taken_back(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n", "6", "space", "space")
        assert "◉" not in keys.text()
        await keys.press("space", "up", "space")
        assert isinstance(opened.app.screen, DiffViewer)
        await keys.press("escape", "1", "space")
        assert isinstance(opened.app.screen, WorkbenchScreen)
        assert "select a snapshot to mark" in keys.text()
