"""Looking at saved runs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from workbench.cases.opening import OpenedRun, open_runs
from workbench.cases.saved_run import Recorded, SavedRun, SavedVisit, StepPlace
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


def written(folder: Path, content: list[dict[str, Any]], name: str = "memory_toy_p_20250101_120000.json") -> OpenedRun:
    file = folder / name
    file.write_text(json.dumps(content), encoding="utf-8")
    return open_runs(file)[0]


async def test_what_is_odd_but_legal(tmp_path: Path) -> None:
    odd = [
        {"step": "data.give", "memory": {"memory_q_ls": ["which town", "who keeps"]}},
        {"step": "retriever.retriever_init", "memory": {}},
        {"step": "prompt.gen_subq", "memory": {"memory_prompt_ls": ["ask again", "<UNSET>"]}},
        {"step": "generation.generate", "memory": {"memory_ans_ls": None, "memory_n": float("nan")}},
    ]
    async with shown([written(tmp_path, odd)]) as pilot:
        assert "retriever.retriever_init  no outputs" in text(pilot)
        await pilot.press("down")
        await pilot.pause()
        assert "this visit has no outputs" in text(pilot)
        await pilot.press("down", "]", "]")
        await pilot.pause()
        assert "prompt_ls [1]" in text(pilot)
        assert "not set" in text(pilot)
        assert "<UNSET>" not in text(pilot)
        await pilot.press("down")
        await pilot.pause()
        line = next(line for line in text(pilot).splitlines() if "memory_ans_ls" in line)
        assert "null" in line
        assert "nan" in text(pilot)


async def test_a_step_that_comes_three_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(
        "servers: {lab: x}\npipeline:\n- lab.get\n- loop:\n    times: 2\n    steps:\n"
        "    - lab.generate: {output: {ans_ls: subq_ls}}\n- lab.generate\n",
        encoding="utf-8",
    )
    run = written(
        tmp_path,
        [
            {"step": "lab.get", "memory": {"memory_q_ls": ["q1", "q2"]}},
            {"step": "lab.generate", "memory": {"memory_subq_ls": ["sub 1", "sub 2"]}},
            {"step": "lab.generate", "memory": {"memory_subq_ls": ["sub 1b", "sub 2b"]}},
            {"step": "lab.generate", "memory": {"memory_ans_ls": ["A", "B"]}},
        ],
    )
    async with shown([run]) as pilot:
        assert "2.1 round 1" in text(pilot)
        assert "2.1 round 2" in text(pilot)
        await pilot.press("down")
        await pilot.pause()
        above = text(pilot).split("Snapshot")[0]
        assert '["sub 1", "sub 2"]' in above
        assert above.count("ans_ls") == 1, "only in the list of visits"


async def test_lists_of_settings_are_not_cut_to_the_item(tmp_path: Path) -> None:
    steps = [
        {"step": "a.get", "memory": {"memory_q_ls": ["x", "y"]}},
        {"step": "a.set", "memory": {"memory_metrics": ["em", "f1", "acc"]}},
    ]
    async with shown([written(tmp_path, steps)]) as pilot:
        await pilot.press("down", "i")
        await pilot.pause()
        assert "q_ls [0]" in text(pilot)
        assert '["em", "f1", "acc"]' in text(pilot)


async def test_a_file_that_is_cut_short_is_shown_up_to_the_cut(tmp_path: Path) -> None:
    file = tmp_path / "memory_toy_p_20250101_120000.json"
    file.write_text(json.dumps(VISITS)[:-30], encoding="utf-8")
    async with shown(open_runs(file)) as pilot:
        assert "visit 1 of 1" in text(pilot)
        assert "cut short at byte" in text(pilot)


async def test_of_a_session_inputs_times_and_decisions_are_shown(tmp_path: Path) -> None:
    saved = SavedVisit(
        1,
        "lab.route",
        {"q_ls": ["x", "y"]},
        (StepPlace("2.router.1", (2,)),),
        Recorded(7, {"q_ls": ["x", "y"], "top_k": 3}, (0, 1), {0: "more", 1: "done"}, 0, 1.5, ("odd",), "recorded"),
    )
    run = SavedRun(tmp_path / "s.ragwb", (saved,), 2, "q_ls", not_held="", timeline=2)
    async with shown([OpenedRun(run)]) as pilot:
        for words in ("s.ragwb, timeline 2", "step 2.router.1 round 2", "more [0], done [1]", "odd", "1.5 s", "top_k"):
            assert words in text(pilot), words
        await pilot.press("i")
        await pilot.pause()
        assert "q_ls [0]" in text(pilot).split("Step: what")[1]
