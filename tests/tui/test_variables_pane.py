"""The variables: a part of them, expressions below them, who wrote and read one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tui.support import LOOP, RAG, Keys, Opened

Open = Callable[..., Opened]


def names(keys: Keys) -> list[str]:
    return [node.label for node in keys.opened.screen._variables._shown]


async def test_variables_are_narrowed_as_one_types(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("c", "3", "f", "p", "s", "g")
        assert names(keys) == ["ret_psg"]
        await keys.press("enter")
        assert "filter: psg" in keys.text()
        assert opened.app.focused is opened.screen._variables
        await keys.press("f", "escape")
        assert "q_ls" in names(keys)
        await keys.press("f", *"zz")
        assert "no name holds that" in keys.text()


async def test_expressions_are_added_evaluated_edited_and_removed(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "equals_sign", *"q_ls[0] ~ 1", "enter")
        assert '"fig1"' in keys.text()
        await keys.press("equals_sign", *"ret_psg |", "enter")
        assert "can't read `ret_psg |`" in keys.text()
        await keys.press("backspace", "backspace", "enter")
        assert "'ret_psg' is undefined" in keys.text()
        await keys.press("n")
        assert names(keys)[-2:] == ["= q_ls[0] ~ 1", "= ret_psg"]
        assert "is undefined" not in keys.text()
        await keys.press("3", "end", "e", *"[0]", "enter")
        assert names(keys)[-1] == "= ret_psg[0]"
        assert '["fig#0", "fig#1"]' in keys.text()
        await keys.press("delete")
        assert names(keys)[-1] == "= q_ls[0] ~ 1"
        await keys.press("home", "delete")
        assert "select an expression" in keys.text()


async def test_an_expression_of_the_pinned_item(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "equals_sign", *"q_ls[item]", "enter")
        assert "element" in str(opened.screen._variables._shown[-1].value)
        await keys.press("i", "]", "]")
        assert opened.screen._variables._shown[-1].value == "kiwi"


async def test_who_wrote_and_read_a_variable(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("c", "3", "h")
        text = keys.text()
        assert "Who wrote and read q_ls" in text
        assert "written by visit 1 lab.get_items" in text
        assert "← read by visit 2 lab.search" in text
        assert "← read by visit 3 lab.ask" in text
        await keys.press("enter")
        assert "q_ls  list 4" in keys.text()
        await keys.press("escape", "escape", "end", "h")
        assert "select a variable" in keys.text()


@pytest.mark.parametrize(
    ("keys_pressed", "mark"), [(("n",), "ran"), (("n", "3", "e", "ctrl+a", *"[1,2,3,4]", "ctrl+s"), "edited")]
)
async def test_where_a_value_came_from(open_pipeline: Open, keys_pressed: tuple[str, ...], mark: str) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press(*keys_pressed)
        root = opened.screen._variables._shown[0].root
        assert mark in [part.text.strip() for part in root.notes]


async def test_long_names_of_snapshots_are_whole_where_there_is_room(open_pipeline: Open) -> None:
    long = "pipeline:\n- lab.get_items\n- lab.extend: {output: {q_ls: first_found_passages}}\n"
    opened = open_pipeline(long)
    async with opened.running((80, 24)) as keys:
        await keys.press("c", "6")
        assert "memory_first_found_passages " in keys.text()
