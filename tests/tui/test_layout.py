"""Panes that are resized, reached by a letter, and seen on a screen of any size."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tui.support import LOOP, Keys, Opened
from workbench.tui.remembered import remember, remembered

Open = Callable[..., Opened]


def width(opened: Opened, pane: str) -> int:
    return opened.screen.query_one(f"#{pane}").outer_size.width


def height(opened: Opened, pane: str) -> int:
    return opened.screen.query_one(f"#{pane}").outer_size.height


async def resized(keys: Keys, columns: int, lines: int) -> None:
    """Change the size of the terminal, and wait until the screen has followed."""
    await keys.pilot.resize_terminal(columns, lines)
    screen = keys.opened.screen
    await keys.until(lambda: (screen.size.width, screen.size.height) == (columns, lines))
    await keys.until(lambda: screen.has_class("-tiny") or screen.query_one("#panes").size.width == columns)
    await keys.pilot.pause(0.05)
    await keys.settle()


async def test_by_key_and_back(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        before = width(opened, "pipeline"), height(opened, "pipeline")
        await keys.press("ctrl+right", "ctrl+right", "ctrl+down")
        assert (width(opened, "pipeline"), height(opened, "pipeline")) == (before[0] + 8, before[1] + 2)
        await keys.press("ctrl+left", "minus")
        assert (width(opened, "pipeline"), height(opened, "pipeline")) == (before[0] + 4, before[1])
        await keys.press("3", *["ctrl+right"] * 60)
        assert width(opened, "step") >= 14
        await keys.press("0")
        assert (width(opened, "pipeline"), height(opened, "pipeline")) == before


async def test_remembered_for_each_class_of_width(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        wide = width(opened, "pipeline")
        await keys.press("ctrl+right")
        await keys.until(lambda: remembered("layouts"))
        await resized(keys, 100, 30)
        medium = width(opened, "pipeline")
        await keys.press("ctrl+left")
        assert width(opened, "pipeline") == medium - 4
        await keys.until(lambda: len(remembered("layouts")) == 2)
    again = open_pipeline(LOOP)
    async with again.running() as keys:
        assert width(again, "pipeline") == wide + 4
        await resized(keys, 100, 30)
        assert width(again, "pipeline") == medium - 4


@pytest.mark.parametrize(
    "layouts", [3, {"pipeline step variables timeline traffic snapshots -wide": {"upper": [1, -2]}}]
)
async def test_what_was_remembered_wrongly(open_pipeline: Open, layouts: object) -> None:
    remember("layouts", layouts)
    opened = open_pipeline(LOOP)
    async with opened.running():
        assert width(opened, "pipeline") > 20


async def drag(keys: Keys, begin: tuple[int, int], end: tuple[int, int]) -> None:
    await keys.pilot.mouse_down(offset=begin)
    await keys.pilot.hover(offset=end)
    await keys.pilot.mouse_up(offset=end)
    await keys.settle()


async def test_by_mouse(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        pane = opened.screen.query_one("#pipeline").region
        await drag(keys, (pane.right - 1, pane.y + 3), (pane.right + 9, pane.y + 3))
        assert width(opened, "pipeline") == pane.width + 10
        await drag(keys, (pane.x + 5, pane.bottom - 1), (pane.x + 5, pane.bottom - 6))
        assert height(opened, "pipeline") == pane.height - 5


async def test_two_keys_reach_any_pane(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running(size=(100, 30)) as keys:
        for number, letter in enumerate("asdfgh"):
            await keys.press("'")
            assert f"{letter} {opened.screen._panes.panes[number].id}".lower() in keys.text().lower()
            await keys.press(letter)
            assert opened.screen._panes.front == number
        await keys.press("'", "x")
        assert opened.screen._panes.front == 5
        assert not opened.screen.has_class("-alone")


async def test_too_small_is_said_in_one_line(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await resized(keys, 60, 10)
        await keys.until(lambda: "this is 60x10" in keys.text())
        assert keys.text().split("\n", 1)[0].startswith("ragwb needs 80x24; this is 60x10")
        assert "Pipeline" not in keys.text()
        await keys.press("n")
        await resized(keys, 80, 24)
        await keys.press("down")
        assert "paused before 2 loop" in keys.text()


async def test_resizing_at_any_moment(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        for key in (
            "n",
            "question_mark",
            "escape",
            "3",
            "'",
            "escape",
            "t",
            "escape",
            "e",
            "escape",
            "slash",
            "escape",
        ):
            for size in ((1, 1), (200, 60), (80, 24), (3, 40), (100, 30)):
                await keys.pilot.resize_terminal(*size)
            await keys.press(key)
