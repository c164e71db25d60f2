"""Files saved in an editor beside the screen: the status line says so, and `L` reads them anew."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.tui.support import LOOP, RAG, Keys, Opened

Open = Callable[..., Opened]


async def saved(keys: Keys, file: Path, text: str) -> None:
    """Save a file as an editor would, and wait until the screen has noticed."""
    await keys.until(lambda: keys.opened.screen._reloading._watch is not None)
    file.write_text(text, encoding="utf-8")
    await keys.until(lambda: keys.opened.screen._model.saved_files)
    await keys.settle()


def file_of(opened: Opened) -> Path:
    return opened.debugger.prepared.pipeline.file


async def test_saved_shown_and_reloaded(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("L")
        assert "nothing was saved since the pipeline was read" in keys.text()
        await keys.press("n", "n", "n")
        text = file_of(opened).read_text()
        await saved(keys, file_of(opened), text.replace("- lab.ask\n", "- lab.extend\n- lab.ask\n"))
        assert "lab.yaml saved: L reloads" in keys.text()
        await keys.press("L")
        assert "+ 3 lab.extend" in keys.text()
        assert "2 of 3 visits are kept:" in keys.text()
        assert "step 3 lab.extend comes before visit 3 lab.ask now" in keys.text()
        await keys.press("n")
        assert opened.debugger.state.position == 3, "not now"
        assert "lab.yaml saved: L reloads" in keys.text()
        await keys.press("L", "y")
        assert opened.debugger.state.place.step == "3"
        assert "lab.yaml saved" not in keys.text()
        assert re.search(r"> +3 +lab.extend", keys.text())
        assert "reloaded; step 3 lab.extend comes before visit 3 lab.ask now" in keys.text()
        assert [entry.visit for entry in opened.screen._model.timeline] == [1, 2]
        await keys.press("c")
        assert opened.debugger.state.status == "finished"


async def test_the_source_and_the_tree_show_the_new_file(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("end")
        text = file_of(opened).read_text()
        await saved(keys, file_of(opened), text.replace("times: 5", "times: 2 # fewer").replace("- lab.search\n", ""))
        await keys.press("L", "enter", "2", "full_stop", "full_stop", "full_stop")
        assert "times: 2 # fewer" in keys.text()
        assert "x 2" in keys.text()
        assert "lab.search" not in keys.text()


async def test_a_file_with_mistakes_is_not_reloaded(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n")
        text = file_of(opened).read_text()
        await saved(keys, file_of(opened), text.replace("lab.ask", "lab.ask: {inputs: {}}"))
        await keys.press("L")
        assert "It can't be reloaded yet" in keys.text()
        assert "inputs" in keys.text()
        await keys.press("y")
        assert opened.debugger.program.steps["3"].name == "lab.ask"
        await saved(keys, file_of(opened), text + "- lab.search\n")
        await keys.press("L", "y")
        assert "5" in opened.debugger.program.steps


async def test_a_parameter_file(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n")
        file = file_of(opened).parent / "servers" / "lab" / "parameter.yaml"
        await saved(keys, file, file.read_text().replace("top_k: 2", "top_k: 3"))
        assert "parameter.yaml saved: L reloads" in keys.text()
        await keys.press("L")
        assert "other values  lab.top_k" in keys.text()
        assert "what has run is kept" in keys.text()
        await keys.press("y", "n")
        assert opened.debugger.evaluate("ret_psg[0] | length") == 3


async def test_while_a_step_runs_it_waits(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG.replace("lab.search", "lab.hang"))
    async with opened.running() as keys:
        await keys.until(lambda: opened.screen._reloading._watch is not None)
        await keys.press("n")
        await keys.press_at_once("n")
        await keys.until(lambda: opened.debugger.state.status == "running")
        file_of(opened).write_text(file_of(opened).read_text() + "# a comment\n")
        await keys.until(lambda: opened.screen._model.saved_files)
        await keys.press_at_once("L")
        await keys.until(lambda: "a step is running" in keys.text())
        await keys.press("x")
        await keys.press("L")
        assert "nothing that runs is different" in keys.text()


def test_what_saving_changed(open_pipeline: Open, snap_compare: Any) -> None:
    opened = open_pipeline(LOOP)

    async def drive(pilot: Any) -> None:
        keys = Keys(opened, pilot)
        await keys.settle()
        await keys.press("c")
        text = file_of(opened).read_text().replace("times: 5", "times: 2").replace("- lab.search", "- lab.ask")
        await saved(keys, file_of(opened), text)
        await keys.press("L")

    assert snap_compare(opened.app, terminal_size=(100, 30), run_before=drive)
    asyncio.run(opened.app.engine.close(3))
