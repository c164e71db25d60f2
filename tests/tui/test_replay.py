"""Looking at saved runs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from workbench.cases.opening import OpenedRun, open_runs
from workbench.tui.app import Outcome, ReplayApp
from workbench.tui.desk import Desk

VISITS = [
    {"step": "benchmark.get_data", "memory": {"memory_q_ls": ["who?", "北灯塔的看守人是谁？"]}},
    {"step": "custom.rewrite", "memory": {"memory_q_ls": ["who, then?", "<UNSET>"], "memory_n": 3}},
]


@pytest.fixture
def runs(tmp_path: Path) -> list[OpenedRun]:
    file = tmp_path / "memory_toy_rag_20250101_120000.json"
    file.write_text(json.dumps(VISITS), encoding="utf-8")
    other = tmp_path / "memory_toy_other_20250101_120000.json"
    other.write_text(json.dumps(VISITS[:1]), encoding="utf-8")
    return [*open_runs(file), *open_runs(other)]


@asynccontextmanager
async def shown(runs: list[OpenedRun]) -> AsyncIterator[Pilot[Outcome]]:
    async with ReplayApp(Desk(runs)).run_test(size=(160, 60)) as pilot:
        await pilot.pause()
        yield pilot


def text(pilot: Pilot[Outcome]) -> str:
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


async def test_variables_follow_the_visit(runs: list[OpenedRun]) -> None:
    async with shown(runs) as pilot:
        assert "visit 1 of 2" in text(pilot)
        assert '"who?"' in text(pilot)
        assert "a memory file does not hold inputs, times" in text(pilot)
        await pilot.press("down")
        await pilot.pause()
        assert "visit 2 of 2" in text(pilot)
        assert '"who, then?"' in text(pilot)
        assert "memory_n" in text(pilot)


async def test_item_by_item(runs: list[OpenedRun]) -> None:
    async with shown(runs) as pilot:
        await pilot.press("]", "]")
        await pilot.pause()
        assert "item [1] of 2" in text(pilot)
        assert "q_ls [1]" in text(pilot)
        assert '"who?"' not in text(pilot)
        await pilot.press("down")
        await pilot.pause()
        assert "not set" in text(pilot)
        await pilot.press("i")
        await pilot.pause()
        assert "2 items" in text(pilot)


async def test_find_open_and_copy(runs: list[OpenedRun]) -> None:
    async with shown(runs) as pilot:
        await pilot.press("tab", "slash", *"看守人", "enter", "escape", "y", "enter")
        await pilot.pause()
        assert pilot.app.clipboard == "北灯塔的看守人是谁？"
        assert "10 characters" in text(pilot)


async def test_panes_by_number(runs: list[OpenedRun]) -> None:
    async with shown(runs) as pilot:
        for key, pane in (("4", "step"), ("3", "snapshot"), ("2", "variables"), ("1", "visits")):
            await pilot.press(key)
            assert pilot.app.focused is not None
            assert pilot.app.focused.id == pane


async def test_the_next_run(runs: list[OpenedRun]) -> None:
    async with shown(runs) as pilot:
        await pilot.press("r")
        await pilot.pause()
        assert "memory_toy_other" in text(pilot)
        assert "run 2 of 2" in text(pilot)


async def test_only_what_there_is_a_use_for(runs: list[OpenedRun]) -> None:
    async with shown(runs[:1]) as pilot:
        assert "r Run" not in text(pilot)
        await pilot.press("question_mark")
        await pilot.pause()
        assert "servers" not in text(pilot)
        assert "the next of the runs" not in text(pilot)
        assert "written by this visit" in text(pilot)
    async with shown(runs) as pilot:
        assert "r Run" in text(pilot)
