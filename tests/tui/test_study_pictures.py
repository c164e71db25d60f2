"""Pictures of the screens on which saved runs are studied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.cases import toy
from tests.tui.test_case_studies import BETTER, PIPELINE, press, settled
from workbench.cases.opening import OpenedRun, open_runs
from workbench.tui.app import ReplayApp
from workbench.tui.desk import Desk

WIDE, NARROW = (160, 45), (80, 24)
NOTED = ("T", "space", "down", "n", *"ask again", "enter")
CONTRAST = ("t", "down", "enter")


Picture = tuple[str, tuple[str, ...], tuple[int, int]]


@pytest.mark.parametrize(
    "picture",
    [
        ("walk", ("down", "down", "i"), WIDE),
        ("walk narrow", ("down", "down", "4"), NARROW),
        ("walk in high contrast", ("down", "down", "i", *CONTRAST), WIDE),
        ("items", ("T", "down"), WIDE),
        ("items narrow", ("T", "down"), NARROW),
        ("items in high contrast", ("T", "down", *CONTRAST), WIDE),
        ("items medium", ("T", "down"), (100, 30)),
        ("items filtered and noted", (*NOTED, "f", *"f1 < 0.5", "enter", "s", "end", "enter"), WIDE),
        ("filter", ("T", "f", *"f1 <", "enter"), NARROW),
        ("why narrow", ("T", "down", "down", "2"), NARROW),
        ("evidence narrow", ("T", "down", "down", "3"), NARROW),
        ("no item is left", ("T", "f", *"f1 > 2", "enter"), NARROW),
        ("roles", ("T", "R"), NARROW),
        ("export", ("T", "x"), NARROW),
        ("note", ("T", "n"), NARROW),
        ("two visits", ("down", "down", "down", "down", "space", "down", "space"), NARROW),
        ("compared", ("C", "enter", "down"), WIDE),
        ("compared narrow", ("C", "enter", "down"), NARROW),
        ("compared in high contrast", ("C", "enter", "down", *CONTRAST), WIDE),
        ("difference narrow", ("C", "enter", "down", "2"), NARROW),
        ("steps narrow", ("C", "enter", "down", "3"), NARROW),
        ("scores narrow", ("C", "enter", "4"), NARROW),
        ("going live", ("down", "down", "L", "down", "space"), WIDE),
        ("going live narrow", ("down", "down", "L", "space", "space"), NARROW),
        ("keys of the table", ("T", "question_mark"), WIDE),
    ],
    ids=lambda picture: picture[0],
)
def test_study(snap_compare: Any, tmp_path: Path, monkeypatch: Any, picture: Picture) -> None:
    name, keys, size = picture
    monkeypatch.chdir(tmp_path)
    if "live" in name or "walk" in name:
        (tmp_path / "p.yaml").write_text(PIPELINE, encoding="utf-8")
    files = [toy.write(tmp_path, toy.visits())]
    if "C" in keys:
        files.append(toy.write(tmp_path, toy.visits(**BETTER), "memory_toy_q_20250101_120000.json"))
    # What is said of a run names folders, which are others in each test.
    runs = [_without_folders(run) for file in files for run in open_runs(file)]

    async def drive(pilot: Any) -> None:
        await settled(pilot)
        await press(pilot, *keys)

    assert snap_compare(ReplayApp(Desk(runs)), terminal_size=size, run_before=drive), name


def _without_folders(run: OpenedRun) -> OpenedRun:
    return replace(run, notes=tuple(note for note in run.notes if "/" not in note))
