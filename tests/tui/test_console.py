"""The line at the foot: expressions, commands, history, completion."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tui.support import LOOP, RAG, Keys, Opened
from workbench.tui.console_history import history_file, keep_history, read_history
from workbench.tui.viewer import ValueViewer

Open = Callable[..., Opened]


def result(keys: Keys) -> str:
    return keys.text().splitlines()[-3]


async def enter(keys: Keys, line: str) -> str:
    await keys.press(*line, "enter")
    return result(keys)


async def test_an_expression_and_its_whole_value(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "colon")
        assert '["fig", "apple", "kiwi", "date"]' in await enter(keys, "q_ls")
        await keys.press("enter")
        assert isinstance(opened.app.screen, ValueViewer)
        await keys.press("escape")
        assert "'nothing' is undefined" in await enter(keys, "nothing")
        await keys.press("escape")
        assert opened.app.focused is opened.screen._tree


async def test_commands_by_name(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("colon")
        await enter(keys, "run over")
        assert opened.debugger.state.place.step == "2"
        await enter(keys, 'set q_ls[2] = "plum"')
        assert opened.debugger.state.pool.variables["q_ls"].value == ["fig", "apple", "plum", "date"]
        await enter(keys, "set lab.top_k = 1")
        assert opened.debugger.state.pool.parameters["lab"]["top_k"].value == 1
        assert "stops at 4" in await enter(keys, "break 4: round == 0")
        assert opened.debugger.breakpoints.by_step["4"].condition == "round == 0"
        await enter(keys, "watch ret_psg changes")
        assert len(opened.debugger.breakpoints.watches) == 1
        await enter(keys, "item 1")
        assert opened.screen.lens == 1
        await enter(keys, "item off")
        assert opened.screen.lens is None
        await enter(keys, "goto 1")
        assert opened.debugger.state.position == 0
        await enter(keys, "run over")
        assert opened.debugger.state.timeline == 2
        assert "in timeline 1" in await enter(keys, "timeline 1")
        assert "forth to the end" in await enter(keys, "forth to the end")
        assert opened.debugger.state.position == 1
        await enter(keys, "item lens")
        assert opened.screen.lens == 0
        assert opened.debugger.state.timeline == 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("run fast", "run takes one of: "),
        ("goto x", "goto takes the number of a visit"),
        ("goto 7", "there is no visit 7"),
        ("set q_ls", "set is like"),
        ("set q_ls = plum", "the value is not JSON"),
        ("item 9", "there is no item [9]"),
        ("timeline 5", "there is no timeline 5"),
        ("break 77", "there is no such step"),
        ("q_ls |", "can't read"),
    ],
)
async def test_what_is_wrong_with_a_line(open_pipeline: Open, line: str, why: str) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n", "colon")
        assert why in await enter(keys, line)


async def test_completion(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "colon", *"got", "tab")
        line = opened.screen._console_work.console._line
        assert line.value == "goto "
        line.value = "set lab.t"
        await keys.press("tab")
        assert line.value == "set lab.top_k "
        line.value = "break lab.g"
        await keys.press("tab")
        assert line.value == "break lab.ge"
        assert "lab.generate  lab.get_items" in result(keys)
        line.value = "item l"
        await keys.press("tab")
        assert line.value == "item lens "
        line.value = "zz"
        await keys.press("tab")
        assert "nothing begins like that" in result(keys)


async def test_history_is_recalled_and_kept(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "colon")
        await enter(keys, "q_ls")
        await enter(keys, "set lab.top_k = 1")
        line = opened.screen._console_work.console._line
        await keys.press("up")
        assert line.value == "set lab.top_k = 1"
        await keys.press("up", "down", "down")
        assert line.value == ""
    assert read_history() == ["q_ls"]
    assert history_file().stat().st_mode & 0o077 == 0


def test_a_history_is_bounded() -> None:
    keep_history([str(number) for number in range(1_000)])
    assert read_history()[0] == "500"


async def test_what_is_typed_in_haste_arrives_in_its_line(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n")
        await keys.press_at_once("colon", *"got", "tab")
        await keys.settle()
        assert opened.screen._console_work.console._line.value == "goto "
