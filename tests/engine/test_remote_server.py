"""A server elsewhere that forgets its session, or goes away and comes back: the next try goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.mcp.addresses import RealServer, playing, reply
from tests.mcp.test_remote_troubles import mcp, message
from workbench.engine.debugger import Debugger
from workbench.engine.events import Event
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import prepare
from workbench.record.memory_file import MemoryFile
from workbench.record.run_record import RunRecord


def debugger_for(folder: Path, url: str, *steps: str) -> Debugger:
    file = folder / "p.yaml"
    file.write_text(f"servers: {{r: '{url}'}}\npipeline: [{', '.join(steps)}]\n", encoding="utf-8")
    prepared = prepare(file)
    events: list[Event] = []
    record = RunRecord(MemoryFile(folder / "output", "p"))
    hub = ServerHub(prepared.used_sources(), events.append)
    return Debugger(prepared, hub, emit=events.append, record=lambda: record)


async def test_a_retry_begins_a_new_session(tmp_path: Path) -> None:
    sessions: list[str] = []

    def on_call(handler: Any, number: Any) -> None:
        sessions.append(handler.headers["mcp-session-id"])
        if len(sessions) == 1:
            reply(handler, 404)
        else:
            result = {"content": [{"type": "text", "text": "well again"}]}
            reply(handler, 200, message(number, result=result), content_type="application/json")

    with playing(mcp(on_call, mcp_session_id="s")) as server:
        debugger = debugger_for(tmp_path, server.url(), "r.go")
        await debugger.open(wait_for_servers=True)
        stopped = await debugger.run("continue")
        assert stopped.reason == "failed"
        assert "r.go: server 'r' is gone: its session has expired" in stopped.why
        assert (await debugger.retry()).reason == "finished"
        assert debugger.state.pool.variables["result"].value == "well again"
        await debugger.close()
        started = [request for request in server.requests if b'"initialize"' in request[3]]
        assert len(started) == 2


async def test_a_server_that_is_started_again_meanwhile(tmp_path: Path) -> None:
    server = RealServer("http", "/mcp", tmp_path / "log")
    debugger = debugger_for(tmp_path, server.url, "r.crash")
    await debugger.open(wait_for_servers=True)
    assert (await debugger.run("continue")).reason == "failed"
    stopped = await debugger.retry()
    assert stopped.reason == "failed"
    assert "could not be reached: connection refused" in stopped.why
    again = server.again()
    stopped = await debugger.retry()
    assert "server 'r' is gone" in stopped.why
    await debugger.close()
    again.end()
