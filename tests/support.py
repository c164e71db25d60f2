"""What several test rooms share: one hub for many pipelines, and a run from a file to its memory file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workbench.engine.debugger import Debugger
from workbench.engine.events import Event, Stopped
from workbench.engine.ports import Call, CallResult
from workbench.mcp.hub import ServerHub
from workbench.pipeline.declaration import ServerDeclaration
from workbench.pipeline.prepare import Prepared, prepare
from workbench.record.memory_file import MemoryFile, benchmark_name

CONFORMANCE = Path(__file__).parent / "conformance"


class SharedServers:
    """The servers of a hub, lent to one session after another: starting and closing them is not the session's."""

    def __init__(self, hub: ServerHub) -> None:
        self.hub = hub
        self.calls: list[Call] = []

    def start(self, aliases: Iterable[str]) -> None:
        pass

    async def declaration(self, alias: str) -> ServerDeclaration:
        return await self.hub.declaration(alias)

    async def call(self, call: Call) -> CallResult:
        self.calls.append(call)
        return await self.hub.call(call)

    async def restart(self, alias: str) -> None:
        await self.hub.restart(alias)

    async def stop(self, alias: str) -> None:
        await self.hub.stop(alias)

    async def close(self) -> None:
        pass


class Session:
    """A debugger on lent servers, with the events it told and the memory file it leaves."""

    def __init__(self, prepared: Prepared, hub: ServerHub, folder: Path) -> None:
        self.events: list[Event] = []
        self.servers = SharedServers(hub)
        self.debugger = Debugger(
            prepared,
            self.servers,
            emit=self.events.append,
            record=lambda: MemoryFile(folder, prepared.pipeline.stem, benchmark_name(prepared.parameters)),
        )

    async def open(self) -> Debugger:
        await self.debugger.open(wait_for_servers=True)
        return self.debugger

    def memory(self) -> list[dict[str, Any]]:
        path = self.debugger.state.memory
        return json.loads(Path(path).read_text(encoding="utf-8")) if path else []

    def told(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


async def run_to_end(pipeline: Path, hub: ServerHub, folder: Path) -> tuple[Session, Stopped]:
    session = Session(prepare(pipeline), hub, folder)
    debugger = await session.open()
    stopped = await debugger.run("continue")
    await debugger.close()
    return session, stopped
