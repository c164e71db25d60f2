"""Pictures of the main states."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tui.support import LOOP, RAG, Keys, Opened
from workbench.cases.opening import open_runs
from workbench.tui.app import ReplayApp
from workbench.tui.desk import Desk

Open = Callable[..., Opened]
State = tuple[str, str, tuple[str, ...]]
"""Its name, the pipeline, and the keys that lead there."""
STUMBLE = "pipeline:\n- lab.get_items\n- lab.stumble\n"
EXPRESSIONS = ("equals_sign", *"ret_psg[0] | length", "enter", "equals_sign", *"ans_ls[0]", "enter")
INTO_BRANCH = ("s", "s", "s", "s", "s")


STATES: tuple[State, ...] = (
    ("start", LOOP, ()),
    ("values", RAG, ("n", "n", "n", "3", "right")),
    ("prompt", RAG, ("n", "n", "n", "2", "full_stop", "full_stop")),
    ("source", LOOP, ("b", "2", "full_stop", "full_stop", "full_stop")),
    ("failed", STUMBLE, ("c",)),
    ("branch", LOOP, INTO_BRANCH),
    ("decided", LOOP, INTO_BRANCH[:-1]),
    ("second round", LOOP, (*INTO_BRANCH, "s", "s")),
    ("finished", LOOP, ("c",)),
    ("lens", RAG, ("c", "i", "]")),
    ("diff", LOOP, (*("s",) * 9, "v", *("full_stop",) * 3)),
    ("code", RAG, ("n", "P")),
    ("past visit", LOOP, ("c", "4", "home", "down", "down")),
    ("past variables", LOOP, ("c", "4", "home", "down", "down", "3")),
    ("expressions", RAG, ("n", "n", *EXPRESSIONS, "3", "f", "q")),
    ("console", RAG, ("n", "n", "colon", *"ret_psg[0]", "enter", *"run ", "up")),
    ("completion", RAG, ("n", "n", "colon", *"br", "tab", "tab")),
    ("history", LOOP, ("c", "3", "h")),
    ("snapshots compared", LOOP, (*("s",) * 7, "6", "end", "space", "home", "down", "space")),
    ("snapshot marked", LOOP, (*("s",) * 7, "6", "end", "space")),
    ("items", RAG, ("c", "I", "i")),
    ("item's way", LOOP, (*INTO_BRANCH, "s", "i")),
    ("message", RAG, ("n", "5", "end", "enter")),
    ("traffic narrowed", RAG, ("c", "5", "f", *"visit:2", "enter")),
    ("help", LOOP, ("question_mark",)),
    ("edit", LOOP, ("n", "3", "e")),
    ("breakpoint", LOOP, ("end", "B")),
    ("breakpoints", LOOP, ("b", "end", "b", "D", "K")),
    ("watch", LOOP, ("w",)),
    ("servers", LOOP, ("S",)),
    ("decision", LOOP.replace("route_done", "route_oddly"), (*INTO_BRANCH[:-1], "d")),
    ("viewer", RAG, ("n", "n", "3", "enter")),
    ("finding", LOOP, (*INTO_BRANCH, "slash", *"ext")),
    ("palette", LOOP, ("ctrl+p",)),
    ("themes", LOOP, ("t", "down")),
    ("jump", LOOP, (*INTO_BRANCH, "'")),
    ("leaving", LOOP, ("R",)),
)


@pytest.mark.parametrize("view", [((160, 45), "dark"), ((80, 24), "high-contrast")], ids=["wide", "narrow"])
@pytest.mark.parametrize("state", STATES, ids=lambda state: state[0])
def test_every_state(open_pipeline: Open, snap_compare: Any, state: State, view: tuple[tuple[int, int], str]) -> None:
    _, text, keys = state
    size, theme = view
    picture(open_pipeline(text), snap_compare, keys, size, theme)


@pytest.mark.parametrize(
    ("size", "theme"),
    [
        *(((160, 45), theme) for theme in ("high-contrast", "light", "terminal")),
        ((100, 30), "dark"),
        ((120, 36), "dark"),
        ((80, 24), "dark"),
    ],
)
def test_themes_and_sizes(open_pipeline: Open, snap_compare: Any, size: tuple[int, int], theme: str) -> None:
    picture(open_pipeline(LOOP), snap_compare, INTO_BRANCH, size, theme)


def picture(opened: Opened, compare: Any, keys: tuple[str, ...], size: tuple[int, int], theme: str) -> None:
    async def drive(pilot: Any) -> None:
        opened.app.theme = f"ragwb-{theme}"
        keyboard = Keys(opened, pilot)
        await keyboard.settle()
        await keyboard.press(*keys)

    try:
        assert compare(opened.app, terminal_size=size, run_before=drive)
    finally:
        asyncio.run(opened.app.engine.close(3))


@pytest.mark.parametrize("size", [(160, 45), (80, 24)])
def test_replay(snap_compare: Any, tmp_path: Path, size: tuple[int, int]) -> None:
    file = tmp_path / "memory_toy_rag_20250101_120000.json"
    visits = [
        {"step": "benchmark.get_data", "memory": {"memory_q_ls": ["who?", "北灯塔的看守人是谁？"]}},
        {"step": "retriever.search", "memory": {"memory_ret_psg": [["a", "b"], ["c"]], "memory_n": 3}},
        {"step": "evaluation.evaluate", "memory": {}},
    ]
    file.write_text(json.dumps(visits, ensure_ascii=False), encoding="utf-8")
    assert snap_compare(ReplayApp(Desk(open_runs(file))), press=["down"], terminal_size=size)
