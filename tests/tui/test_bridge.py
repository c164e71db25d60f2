"""The engine's thread: batches, failures, and an end that always comes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import CONFORMANCE
from tests.tui.support import LOOP, Keys, Opened
from workbench.engine.debugger import Debugger
from workbench.engine.events import Emit, ServerReady, Stopped, VisitProgress
from workbench.engine.ports import Answering
from workbench.engine.state import CommandRefused
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import prepare
from workbench.record.memory_file import MemoryFile
from workbench.record.run_record import RunRecord
from workbench.tui.app import WorkbenchApp
from workbench.tui.bridge import CommandDone, CommandFailed

Open = Callable[..., Opened]


async def test_events_come_in_batches_and_stops_at_once(open_pipeline: Open) -> None:
    engine = open_pipeline(LOOP).app.engine
    notices: list[float] = []
    engine._notify = lambda: notices.append(time.monotonic())
    engine.start()
    await engine.call(lambda: None)
    await asyncio.sleep(0.05)
    engine.drain()
    notices.clear()
    begun = time.monotonic()

    def tell_much() -> None:
        for number in range(500):
            engine._emit(VisitProgress(visit=1, step="1", name="lab.search", progress=number))

    await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_soon(tell_much), engine._loop))
    await asyncio.sleep(0.3)
    assert len(notices) == 1
    assert notices[0] - begun >= 0.09
    assert len(engine.drain()) == 500
    notices.clear()
    await engine.call(engine.debugger.run, "over")
    assert any(isinstance(one, Stopped) for one in engine.drain())
    assert notices
    assert await engine.close(3)


async def test_what_a_command_raises_is_told(open_pipeline: Open) -> None:
    engine = open_pipeline(LOOP).app.engine
    engine._notify = lambda: None
    engine.start()
    with pytest.raises(CommandRefused, match="no variable nothing"):
        await engine.call(engine.debugger.edit_variable, "nothing", 1)
    engine.submit(engine.debugger.edit_variable, "nothing", 1)
    engine.submit(lambda: 1 / 0)
    await engine.call(lambda: None)
    await asyncio.sleep(0.05)
    failures = [one for one in engine.drain() if isinstance(one, CommandFailed)]
    assert [failure.message for failure in failures] == [
        "there is no variable nothing",
        "ragwb made a mistake: ZeroDivisionError: division by zero",
    ]
    assert failures[0].bug is None
    assert isinstance(failures[1].bug, ZeroDivisionError)
    assert await engine.close(3)
    with pytest.raises(CommandRefused):
        await engine.call(lambda: None)
    assert CommandDone() in [*engine.drain(), CommandDone()]


async def test_a_debugger_that_never_ends_is_left_behind(open_pipeline: Open) -> None:
    engine = open_pipeline(LOOP).app.engine
    engine._notify = lambda: None
    let_go = threading.Event()
    engine.start()
    engine.submit(let_go.wait)
    begun = time.monotonic()
    assert not await engine.close(0.2)
    assert time.monotonic() - begun < 2
    let_go.set()
    engine._thread.join(3)


async def test_a_mistake_of_ours_is_logged_and_shown_in_one_line(open_pipeline: Open, tmp_path: Path) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        opened.app.engine.submit(lambda: 1 / 0)
        log = tmp_path / "state" / "ragwb" / "ragwb.log"
        await keys.until(log.is_file)
        await keys.until(lambda: "ragwb made a mistake: ZeroDivisionError" in keys.text())
        assert "Traceback" not in keys.text()
        assert "Traceback" in log.read_text()


async def test_with_real_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the file to the memory file, and nothing is left running."""
    monkeypatch.undo()
    prepared = prepare(CONFORMANCE / "pipelines" / "10-branch-in-loop.yaml")

    def make_debugger(emit: Emit, user: Answering) -> Debugger:
        def heard(event: object) -> None:
            if isinstance(event, ServerReady) and event.pid is not None:
                pids.append(event.pid)
            emit(event)  # type: ignore[arg-type]

        hub = ServerHub(prepared.used_sources(), heard)
        return Debugger(prepared, hub, emit=emit, record=lambda: RunRecord(MemoryFile(tmp_path, "lab")))

    pids: list[int] = []
    app = WorkbenchApp(prepared, make_debugger)
    opened = Opened(app, tools=None)  # type: ignore[arg-type]
    async with app.run_test(size=(160, 45)) as pilot:
        keys = Keys(opened, pilot)
        await keys.settle()
        await keys.until(lambda: "lab is ready" in keys.text(), 20)
        for key in ("s", "s", "s", "c"):
            await keys.press(key)
        await keys.until(lambda: "finished" in keys.text().splitlines()[0], 10)
        assert "lab.search" in keys.text()
        await keys.press_at_once("q")
        await keys.until(lambda: app.engine.debugger.state.status == "closed", 10)
    assert Path(app.engine.debugger.state.memory or "").is_file()
    assert pids
    for pid in pids:
        assert not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes()


async def _soon(command: Callable[[], None]) -> None:
    command()
