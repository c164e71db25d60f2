"""What is seen while a call takes its time; and the keys at the foot under the mouse."""

from __future__ import annotations

from collections.abc import Callable

from tests.tui.support import LOOP, Opened
from workbench.engine.events import ServerOutput, VisitProgress
from workbench.tui.bars import KeyBar

Open = Callable[..., Opened]
HANG = "pipeline:\n- lab.get_items\n- lab.hang\n"


async def test_clock_bar_and_the_last_line_of_stderr(open_pipeline: Open) -> None:
    opened = open_pipeline(HANG)
    async with opened.running() as keys:
        await keys.press("n")
        await keys.press_at_once("f5")
        await keys.until(lambda: "running 2 lab.hang" in keys.text())
        model = opened.app._model
        running = opened.debugger.state.running
        assert running is not None
        number = running.number
        model.take([VisitProgress(visit=number, step="2", name="lab.hang", progress=3, total=12, message="pages")])
        model.take([ServerOutput(server="lab", stream="stderr", text="loading [/] \x1b[2J shard", visit=number)])
        now = model.clock()
        model.clock = lambda: now + 75
        opened.screen.show_run()
        await keys.pilot.pause()
        first, second = keys.text().splitlines()[:2]
        assert "running 2 lab.hang  01:15" in first
        assert "███░░░░░░░░░ 3 of 12 · pages · loading [/] ␛[2J shard" in second
        opened.app.engine._loop.call_soon_threadsafe(opened.tools.lab.hanging.set)
        await keys.settle()


async def test_a_key_at_the_foot_explains_itself_and_works(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        at = keys.text().splitlines()[-1].index("F10") + 1
        await keys.pilot.hover("#keys", offset=(at, 0))
        assert str(opened.screen.query_one(KeyBar).tooltip) == "F10: run the step at the cursor, a loop as a whole"
        await keys.pilot.click("#keys", offset=(at, 0))
        await keys.settle()
        assert opened.debugger.state.place.step == "2"
        at = keys.text().splitlines()[-1].index("Quit")
        await keys.pilot.hover("#keys", offset=(at, 0))
        assert "stop the servers" in str(opened.screen.query_one(KeyBar).tooltip)
        at = keys.text().splitlines()[-1].index("Maximise")
        await keys.pilot.hover("#keys", offset=(at + 14, 0))
        assert opened.screen.query_one(KeyBar).tooltip is None
