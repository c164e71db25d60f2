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
Picture = tuple[str, str, tuple[str, ...], tuple[int, int]]
STUMBLE = "pipeline:\n- lab.get_items\n- lab.stumble\n"
EXPRESSIONS = ("equals_sign", *"ret_psg[0] | length", "enter", "equals_sign", *"ans_ls[0]", "enter")
INTO_BRANCH = ("s", "s", "s", "s", "s")


@pytest.mark.parametrize(
    "picture",
    [
        ("start", LOOP, (), (160, 45)),
        ("values", RAG, ("n", "n", "n", "3", "right"), (160, 45)),
        ("prompt", RAG, ("n", "n", "n", "full_stop", "full_stop"), (160, 45)),
        ("source", LOOP, ("b", "full_stop", "full_stop", "full_stop"), (160, 45)),
        ("failed", STUMBLE, ("c",), (160, 45)),
        ("branch", LOOP, INTO_BRANCH, (160, 45)),
        ("decided", LOOP, INTO_BRANCH[:-1], (160, 45)),
        ("second round", LOOP, (*INTO_BRANCH, "s", "s"), (160, 45)),
        ("finished", LOOP, ("c",), (160, 45)),
        ("lens", RAG, ("c", "i", "]"), (160, 45)),
        ("diff", LOOP, (*("s",) * 9, "v", *("full_stop",) * 3), (160, 45)),
        ("narrow diff", LOOP, (*("s",) * 9, "v", *("full_stop",) * 3), (80, 24)),
        ("code", RAG, ("n", "P"), (160, 45)),
        ("past visit", LOOP, ("c", "4", "home", "down", "down"), (160, 45)),
        ("medium past visit", LOOP, ("c", "4", "home", "down", "down"), (100, 30)),
        ("narrow past visit", LOOP, ("c", "4", "home", "down", "down", "3"), (80, 24)),
        ("expressions", RAG, ("n", "n", *EXPRESSIONS, "3", "f", "q"), (160, 45)),
        ("console", RAG, ("n", "n", "colon", *"ret_psg[0]", "enter", *"run ", "up"), (160, 45)),
        ("narrow console", RAG, ("n", "n", "colon", *"br", "tab", "tab"), (80, 24)),
        ("history", LOOP, ("c", "3", "h"), (160, 45)),
        ("snapshots compared", LOOP, (*("s",) * 7, "6", "end", "space", "home", "down", "space"), (100, 30)),
        ("snapshot marked", LOOP, (*("s",) * 7, "6", "end", "space"), (160, 45)),
        ("items", RAG, ("c", "I", "i"), (100, 30)),
        ("item's way", LOOP, (*INTO_BRANCH, "s", "i"), (160, 45)),
        ("message", RAG, ("n", "5", "end", "enter"), (100, 30)),
        ("traffic narrowed", RAG, ("c", "5", "f", *"visit:2", "enter"), (100, 30)),
        ("help", LOOP, ("question_mark",), (160, 45)),
        ("edit", LOOP, ("n", "3", "e"), (160, 45)),
        ("decision", LOOP.replace("route_done", "route_oddly"), (*INTO_BRANCH[:-1], "d"), (160, 45)),
        ("viewer", RAG, ("n", "n", "3", "enter"), (100, 30)),
        ("light", LOOP, ("n", "t", "down", "down", "enter"), (160, 45)),
        ("high contrast", LOOP, (*INTO_BRANCH, "t", "down", "enter"), (160, 45)),
        ("high contrast narrow", LOOP, (*INTO_BRANCH, "t", "down", "enter"), (80, 24)),
        ("terminal colours", LOOP, (*INTO_BRANCH, "t", "end", "enter"), (160, 45)),
        ("themes", LOOP, ("t", "down"), (80, 24)),
        ("jump", LOOP, (*INTO_BRANCH, "'"), (160, 45)),
        ("medium", LOOP, (*INTO_BRANCH, "5"), (100, 30)),
        ("narrow", LOOP, (*INTO_BRANCH, "slash"), (80, 24)),
        ("narrow variables", LOOP, (*INTO_BRANCH, "3"), (80, 24)),
    ],
    ids=lambda picture: picture[0],
)
def test_workbench(open_pipeline: Open, snap_compare: Any, picture: Picture) -> None:
    name, text, keys, size = picture
    opened = open_pipeline(text)

    async def drive(pilot: Any) -> None:
        keyboard = Keys(opened, pilot)
        await keyboard.settle()
        await keyboard.press(*keys)

    assert snap_compare(opened.app, terminal_size=size, run_before=drive), name
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
