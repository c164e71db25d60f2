"""What comes before the workbench: mending a pipeline, choosing a file, the first words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.tui.support import LOOP, Keys, Opened
from workbench.pipeline.prepare import Prepared, prepare
from workbench.pipeline.problems import PipelineError
from workbench.tui.app import WorkbenchApp
from workbench.tui.before import ChoosingApp, MendingApp
from workbench.tui.choosing import Offer
from workbench.tui.remembered import remembered

Open = Callable[..., Opened]
WRONG = "servers:\n  sayhello: servers/sayhello\n\npipeline:\n- sayhello.gret\n- nowhere.at_all\n"


def text_of(app: Any) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


@pytest.fixture
def mending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[MendingApp, Path]:
    monkeypatch.setattr("workbench.tui.mending.LOOK_SECONDS", 0.02)
    file = tmp_path / "hello.yaml"
    file.write_text(WRONG)
    with pytest.raises(PipelineError) as caught:
        prepare(file)
    return MendingApp(file, partial(prepare, file), caught.value), file


async def until(pilot: Any, holds: Callable[[], object]) -> None:
    for _ in range(400):
        if holds():
            return
        await pilot.pause(0.01)
    raise AssertionError(text_of(pilot.app))


async def test_mistakes_beside_the_source_until_it_is_mended(mending: tuple[MendingApp, Path]) -> None:
    app, file = mending
    async with app.run_test(size=(160, 45)) as pilot:
        await until(pilot, lambda: ">     5" in text_of(app))
        assert "hello.yaml:5:3" in text_of(app)
        assert "did you mean" in text_of(app)
        await pilot.press("down")
        await until(pilot, lambda: ">     6" in text_of(app))
        file.write_text(WRONG.replace("gret\n- nowhere.at_all", "gret"))
        await until(pilot, lambda: "Mistakes: 1" in text_of(app))
        file.write_text(WRONG.replace("gret\n- nowhere.at_all", "greet"))
        await until(pilot, lambda: app.return_value is not None)
    assert isinstance(app.return_value, Prepared)


@pytest.mark.parametrize("size", [(160, 45), (80, 24)])
def test_pictures(mending: tuple[MendingApp, Path], snap_compare: Any, size: tuple[int, int]) -> None:
    async def drive(pilot: Any) -> None:
        await until(pilot, lambda: "hello.yaml:5:3" in text_of(pilot.app))
        await pilot.pause(0.1)

    assert snap_compare(mending[0], terminal_size=size, run_before=drive)


def offers(folder: Path) -> list[Offer]:
    return [
        Offer("Pipelines", Path("pipelines/rag.yaml"), "2026-01-02 10:00", lambda file: "search, answer"),
        Offer("Pipelines", Path("lab.yaml"), "2026-01-01 10:00", lambda file: ""),
        Offer("Saved runs", Path("output/memory_rag.json"), "2026-01-03 10:00", lambda file: "3 visits"),
    ]


async def test_a_file_is_chosen(tmp_path: Path) -> None:
    app = ChoosingApp("ragwb", offers(tmp_path))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "3 visits" in text_of(app))
        await pilot.press("end", "enter")
    assert app.return_value == Path("output/memory_rag.json")


async def test_nothing_is_chosen_and_a_heading_is_no_file(tmp_path: Path) -> None:
    app = ChoosingApp("ragwb", offers(tmp_path))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("home", "enter", "q")
    assert app.return_value is None


async def test_a_click_and_another_open(tmp_path: Path) -> None:
    app = ChoosingApp("ragwb", offers(tmp_path))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.click("Offers", offset=(5, 2), times=2)
    assert app.return_value == Path("lab.yaml")


def test_picture_of_the_choice(tmp_path: Path, snap_compare: Any) -> None:
    assert snap_compare(ChoosingApp("ragwb 1.0, in /work", offers(tmp_path)), terminal_size=(80, 24))


def welcoming(opened: Opened) -> WorkbenchApp:
    opened.app._welcomes = True
    return opened.app


async def test_the_first_words_come_once_and_a_key_counts(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    welcoming(opened)
    async with opened.running() as keys:
        assert "F10 runs a step" in keys.text()
        await keys.press("f10")
        await keys.settle()
        assert opened.debugger.state.place.step == "2"
        await keys.until(lambda: remembered("welcomed"))
    again = open_pipeline(LOOP)
    welcoming(again)
    async with again.running() as keys:
        assert "any key begins" not in keys.text()


def test_picture_of_the_first_words(open_pipeline: Open, snap_compare: Any) -> None:
    opened = open_pipeline(LOOP)

    async def drive(pilot: Any) -> None:
        await Keys(opened, pilot).settle()

    assert snap_compare(welcoming(opened), terminal_size=(80, 24), run_before=drive)
    asyncio.run(opened.app.engine.close(3))


async def test_the_first_words_close_without_an_effect(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    welcoming(opened)
    async with opened.running() as keys:
        await keys.press("enter")
        assert (opened.debugger.state.place.step, "any key begins" in keys.text()) == ("1", False)
