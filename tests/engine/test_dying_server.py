"""A server that dies in a call: the pool stays, and the next try starts it anew and initialises it again."""

from __future__ import annotations

from pathlib import Path

from workbench.engine.debugger import Debugger
from workbench.engine.events import Event, ServerInitialised
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import prepare
from workbench.record.memory_file import MemoryFile
from workbench.record.run_record import RunRecord

SERVER = """\
import os
from workbench.mcp.kit import ToolServer
app = ToolServer("mortal")
ready = False

@app.tool(output="->None")
def init() -> None:
    global ready
    ready = True

@app.tool(output="->q_ls")
def go() -> dict:
    if not os.path.exists("died"):
        open("died", "w").close()
        os._exit(3)
    return {"q_ls": ["ready" if ready else "not initialised"]}

app.run()
"""


async def test_a_retry_starts_the_dead_server_anew(tmp_path: Path) -> None:
    server = tmp_path / "servers" / "mortal" / "src"
    server.mkdir(parents=True)
    (server / "mortal.py").write_text(SERVER, encoding="utf-8")
    file = tmp_path / "p.yaml"
    file.write_text("servers: {mortal: servers/mortal}\npipeline: [mortal.init, mortal.go]\n", encoding="utf-8")
    prepared = prepare(file)
    events: list[Event] = []
    hub = ServerHub(prepared.used_sources(), events.append)
    record = RunRecord(MemoryFile(tmp_path / "output", "p"))
    debugger = Debugger(prepared, hub, emit=events.append, record=lambda: record)
    await debugger.open(wait_for_servers=True)
    stopped = await debugger.run("continue")
    assert stopped.reason == "failed"
    assert "exit code 3" in stopped.why
    assert (await debugger.retry()).reason == "finished"
    assert debugger.state.pool.variables["q_ls"].value == ["ready"]
    assert [event.calls for event in events if isinstance(event, ServerInitialised)] == [("mortal.init",)]
    await debugger.close()
