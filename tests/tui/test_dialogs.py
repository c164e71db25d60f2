"""Dialogs: each is left with Escape, and an edit counts only where something was changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tui.support import LOOP, RAG, Opened

Open = Callable[..., Opened]
ODDLY = LOOP.replace("route_done", "route_oddly")


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (LOOP, ("n", "3", "e")),
        (LOOP, ("B",)),
        (LOOP, ("R",)),
        (LOOP, ("S",)),
        (ODDLY, ("s", "s", "s", "s", "d")),
        (LOOP, ("question_mark",)),
        (LOOP, ("ctrl+p",)),
        (LOOP, ("n", "3", "enter")),
    ],
    ids=["edit", "condition", "restart", "server", "decision", "help", "palette", "viewer"],
)
async def test_escape_leaves(open_pipeline: Open, text: str, keys: tuple[str, ...]) -> None:
    opened = open_pipeline(text)
    async with opened.running() as keyboard:
        await keyboard.press(*keys)
        assert opened.app.screen is not opened.screen
        await keyboard.press("escape")
        assert opened.app.screen is opened.screen


async def test_escape_keeps_nothing_and_keys_are_commands_again(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "3", "e", "ctrl+a", *"gone", "escape", "n")
        assert opened.debugger.state.pool.variables["q_ls"].value == ["fig", "apple", "kiwi", "date"]
        assert opened.debugger.state.place.step == "3"


async def test_an_edit_without_a_change_is_none(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n", "3", "e", "ctrl+s")
        assert opened.app.screen is opened.screen
        assert not opened.debugger.state.pool.variables["q_ls"].is_edited
        assert "edited" not in keys.text()


@pytest.mark.parametrize("value", ["-5", "null", "[]", '"text"'])
async def test_an_open_value_that_becomes_a_scalar_closes(open_pipeline: Open, value: str) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "n", "3", "down", "down", "right", "down", "right", "down")
        assert opened.screen._variables.named_value == ("ret_psg[0][0]", "fig#0")
        await keys.press("up", "e", "ctrl+a", *value, "ctrl+s")
        assert opened.app.screen is opened.screen
        assert opened.screen._variables.row_count() == 8


async def test_an_entry_of_a_parameter_is_edited_alone(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("3", "right", "down", "right", "down", "down", "e")
        assert "Parameter items[1] of lab (text)" in keys.text()
        await keys.press("ctrl+a", *"plum", "ctrl+s")
        assert opened.debugger.state.pool.parameters["lab"]["items"].value == ["fig", "plum", "kiwi", "date"]
        assert "1 edited" in keys.text()
        await keys.press("up", "e", "ctrl+a", *"plum", "ctrl+s", "left", "left", "e", "ctrl+a", "7", "ctrl+s")
        assert opened.debugger.state.pool.parameters["lab"]["items"].value == 7
