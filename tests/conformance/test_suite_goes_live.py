"""Every memory file of the suite is gone live with: rebuilt up to a visit, run on, and it ends as it ended then.

Memory files hold no decisions of routers; those of the suite are not marked as pure, so the run stops before them.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support import CONFORMANCE, Session
from workbench.cases.opening import open_runs
from workbench.cases.run_recording import RunRecording
from workbench.engine.debugger import Debugger
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import prepare

PIPELINES = [
    file
    for file in sorted((CONFORMANCE / "pipelines").glob("*.yaml"))
    if not (CONFORMANCE / "expected" / f"{file.stem}.error.json").exists()
]


async def rebuilt(pipeline: Path, hub: ServerHub, folder: Path, start: int) -> Session:
    """A session that stands where the run goes live; routers on the way are run."""
    memory = folder / f"memory__{pipeline.stem}_20250101_120000.json"
    shutil.copy(CONFORMANCE / "expected" / f"{pipeline.stem}.json", memory)
    session = Session(prepare(pipeline), hub, folder)
    session.debugger.recording = RunRecording(open_runs(memory, pipeline)[0], start)
    await session.open()
    await past_routers(session.debugger)
    return session


async def past_routers(debugger: Debugger) -> None:
    while debugger.is_rebuilding and debugger.state.status == "stopped":
        stop = debugger.state.stop
        assert stop is not None
        assert stop.reason == "breakpoint", stop
        assert "what the router" in stop.why or "does not hold counter" in stop.why, stop
        await debugger.run("over")
        if debugger.is_rebuilding:
            await debugger.run("continue")


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda path: path.stem)
async def test_it_ends_as_it_ended(pipeline: Path, lab_servers: ServerHub, tmp_path: Path) -> None:
    expected = json.loads((CONFORMANCE / "expected" / f"{pipeline.stem}.json").read_text(encoding="utf-8"))
    start = len(expected) // 2 + 1
    if not expected:
        return
    session = await rebuilt(pipeline, lab_servers, tmp_path, start)
    debugger = session.debugger
    assert len(debugger.visits) == start - 1
    ran = [visit for visit in debugger.visits if visit.provenance == "ran"]
    assert len(session.servers.calls) == len(ran)
    assert all(debugger.program.is_router(debugger.program.steps[v.step]) or v.parameters for v in ran)
    stopped = await debugger.run("continue")
    assert stopped.reason == "finished", stopped.why
    assert session.memory() == expected
    await debugger.close()
