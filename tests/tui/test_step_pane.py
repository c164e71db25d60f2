"""The tabs of the step pane: differences, prompts, the code of a tool."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tests.tui.fakes import Lab
from tests.tui.support import LOOP, RAG, Keys, Opened
from workbench.tui.differences import ABSENT, Difference, differences, text_pieces
from workbench.tui.prompt_text import length_words
from workbench.tui.values_view import path_name

Open = Callable[..., Opened]
CODE = """\
import asyncio


class Lab:
    @tool
    async def search(self, query_list, top_k):
        return {"ret_psg": []}
"""
EXTEND_TWICE = ("s",) * 10


async def show(keys: Keys, tab: str) -> None:
    """Go to a tab of the step pane."""
    await keys.press("2")
    while f"#{tab}" != f"#{keys.opened.screen._step.view.id}":
        await keys.press("full_stop")


# ---- differences


async def test_a_visit_against_the_one_before(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press(*EXTEND_TWICE)
        assert opened.debugger.visits[-1].step == "2.1.more.1"
        await keys.press("v")
        await show(keys, "diff")
        text = keys.text()
        assert "visit 5 against visit 3, the one before of this step" in text
        assert "q_ls[0]" in text
        assert "[-fig+-]{+fig+++}" in text
        assert "Changed by this visit" in text


async def test_with_an_item_pinned_only_its_differences(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press(*EXTEND_TWICE, "v")
        await show(keys, "diff")
        await keys.press("i", "]", "]")
        assert "q_ls[2]" in keys.text()
        assert "fig" not in "".join(line for line in keys.text().splitlines() if "{+" in line)


async def test_the_twin_of_a_fork(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "n", "u", "u")
        opened.tools.lab.items = ["plum", "pear", "kiwi", "date"]
        await keys.press("n", "v")
        await show(keys, "diff")
        assert "its twin in timeline 1" in keys.text()
        assert "[-fig-]{+plum+}" in keys.text()


async def test_a_step_that_has_not_run(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await show(keys, "diff")
        assert "there is nothing to compare" in keys.text()


def test_places_that_differ() -> None:
    old = {"a": [1, "x"], "b": 1}
    new = {"a": [1, "y", 3], "c": 1.0}
    assert list(differences("m", old, new)) == [
        Difference(path_name("m", ("a", 1)), "x", "y"),
        Difference("m.a[2]", ABSENT, 3),
        Difference("m.b", 1, ABSENT),
        Difference("m.c", ABSENT, 1.0),
    ]


def test_words_that_differ() -> None:
    assert text_pieces("who keeps it", "who keeps them") == [("=", "who keeps "), ("-", "it"), ("+", "them")]
    assert text_pieces("灯塔的人", "灯塔的猫") == [("=", "灯塔的"), ("-", "人"), ("+", "猫")]


def test_huge_texts_are_compared_in_no_time() -> None:
    began = time.perf_counter()
    pieces = text_pieces("word " * 200_000 + "a " * 50_000, "word " * 200_000 + "b " * 60_000)
    assert time.perf_counter() - began < 2
    assert len("".join(text for _, text in pieces)) < 6_000


# ---- prompts


async def test_how_long_prompts_are(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "n", "n")
        await show(keys, "prompt")
        assert "4 messages, " in keys.text()
        assert "characters, about " in keys.text()
        await keys.press("i")
        assert "4 messages" not in keys.text()
    assert length_words([]) == "0 characters, about 0 tokens (guessed)"


# ---- what went wrong


async def test_items_that_failed_stand_before_the_outputs_with_their_reasons(open_pipeline: Open) -> None:
    lab = Lab()
    lab.failed["generate"] = {1: "the prompt [/] is too long", 3: "refused"}
    lab.warnings["generate"] = ("cut off: the answer of [0]",)
    opened = open_pipeline(RAG, lab)
    async with opened.running() as keys:
        await keys.press("n", "n", "n", "n", "v")
        await show(keys, "output")
        assert "failed items" in keys.text()
        assert "out of the run" in keys.text()
        assert "warnings" in keys.text()
        await keys.press("home", "right")
        assert '"the prompt [/] is too long"' in keys.text()
        assert '"refused"' in keys.text()
        await keys.press("i", "]")
        text = keys.text()
        assert "out of the run" in text
        assert "refused" not in text


# ---- code


async def test_the_code_of_a_tool(open_pipeline: Open, tmp_path: Path) -> None:
    opened = open_pipeline(RAG)
    (tmp_path / "servers/lab/src/lab.py").write_text(CODE, encoding="utf-8")
    async with opened.running() as keys:
        await keys.press("n", "P")
        assert "servers/lab/src/lab.py:5" in keys.text()
        assert "▌    async def search(self" in keys.text()
        await keys.press("1", "home", "2")
        assert "no function get_items in it" in keys.text()
        await keys.press("P")
        assert "lab.yaml:" in keys.text()
        assert "▌- lab.get_items" in keys.text()


async def test_a_breakpoint_is_not_set_in_the_code_of_a_tool(open_pipeline: Open, tmp_path: Path) -> None:
    opened = open_pipeline(RAG)
    (tmp_path / "servers/lab/src/lab.py").write_text(CODE, encoding="utf-8")
    async with opened.running() as keys:
        await keys.press("n", "P", "home", "b")
        assert list(opened.debugger.breakpoints.by_step) == ["2"]


async def test_code_that_is_not_there(open_pipeline: Open, tmp_path: Path) -> None:
    opened = open_pipeline(RAG)
    (tmp_path / "servers/lab/src/lab.py").unlink()
    async with opened.running() as keys:
        await keys.press("P")
        assert "No such file" in keys.text()
