"""One item among many: found by its text, followed through branches."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.tui.fakes import Lab
from tests.tui.support import LOOP, RAG, Opened
from workbench.engine.pool import Variable, VariablePool
from workbench.tui.item_search import ItemSearch

Open = Callable[..., Opened]


async def test_an_item_is_found_and_pinned(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("I")
        assert "there are no items" in keys.text()
        await keys.press("n", "I", *"KIW")
        assert "1 of 4" in keys.text()
        await keys.press("enter")
        assert opened.screen.lens == 2
        await keys.press("I", *"3", "enter")
        assert opened.screen.lens == 3
        await keys.press("I", *"zebra")
        assert "no item holds that" in keys.text()
        await keys.press("enter", "escape")
        assert opened.screen.lens == 3


async def test_choosing_among_several(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "I", "down", "down", "up", "enter")
        assert opened.screen.lens == 1


def test_ten_thousand_items_are_searched_at_once() -> None:
    entries = [f"question {number} " + "word " * 200 for number in range(10_000)]
    pool = VariablePool({"q_ls": Variable("q_ls", entries, 1)}, count=10_000)
    search = ItemSearch(pool)
    began = time.perf_counter()
    found = search.find("Question 9876 ")
    assert time.perf_counter() - began < 0.5
    assert [one.item for one in found] == [9876]


async def test_the_branch_that_the_pinned_item_took(open_pipeline: Open) -> None:
    lab = Lab()
    lab.items = ["fig", "pineapple"]
    opened = open_pipeline(LOOP, lab)
    async with opened.running() as keys:
        await keys.press("s", "s", "s", "s", "s", "s", "i")
        assert "more  ⇐ [0]" in keys.text()
        assert "[0] ⇒ more" in keys.text()
        await keys.press("]")
        assert "done  ⇐ [1]" in keys.text()
        assert "[1] ⇒ done" in keys.text()
        assert "without [1]" in keys.text()
