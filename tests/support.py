"""What several test rooms share: one hub for many pipelines, and a run from a file to its memory file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from workbench.engine.debugger import Debugger
from workbench.engine.events import Event, Stopped
from workbench.engine.ports import Call, CallResult
from workbench.mcp.hub import ServerHub
from workbench.pipeline.declaration import ServerDeclaration
from workbench.pipeline.prepare import Prepared, prepare
from workbench.pipeline.project import ServerSource
from workbench.record.memory_file import MemoryFile, benchmark_name
from workbench.record.pipeline_then import PipelineThen
from workbench.record.redaction import Redactor
from workbench.record.run_record import RunRecord
from workbench.record.session_reader import SavedSession, read_session
from workbench.record.session_writer import SessionWriter

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

    async def take(self, sources: Mapping[str, ServerSource]) -> tuple[str, ...]:
        return ()

    async def close(self) -> None:
        pass


class Session:
    """A debugger on lent servers, with the events it told and the memory file it leaves.

    With ``keeps`` there is a session file too; ``resumed`` is another debugger that goes on from it.
    """

    def __init__(self, prepared: Prepared, hub: ServerHub, folder: Path, *, keeps: bool = False) -> None:
        self.prepared, self.hub, self.folder = prepared, hub, folder
        self.events: list[Event] = []
        self.servers = SharedServers(hub)
        self.saved: SavedSession | None = None
        self.cut: str | None = None
        self.keeps = keeps
        self.file = folder / f"{prepared.pipeline.stem}.ragwb"
        self._kept: RunRecord | None = None
        self.debugger = Debugger(prepared, self.servers, emit=self._tell, record=self._new_record)

    def _tell(self, event: Event) -> None:
        self.events.append(event)
        if self._kept is not None:
            self._kept.told(event)

    def _new_record(self) -> RunRecord:
        self._kept = self._record()
        return self._kept

    def _record(self) -> RunRecord:
        memory = MemoryFile(self.folder, self.prepared.pipeline.stem, benchmark_name(self.prepared.parameters))
        if not self.keeps:
            return RunRecord(memory)
        if self.saved is None:
            return RunRecord(memory, SessionWriter(self.file, {}, self._pipeline()))
        saved = self.saved
        writer = SessionWriter(self.file, {}, self._pipeline(), after_seq=saved.last_seq, versions=saved.versions)
        return RunRecord(memory, writer)

    def _pipeline(self) -> PipelineThen:
        return PipelineThen.of(self.prepared, Redactor.of(self.prepared.parameters))

    async def open(self) -> Debugger:
        await self.debugger.open(wait_for_servers=True)
        return self.debugger

    async def resumed(self, prepared: Prepared | None = None) -> Session:
        """Leave this session, and open its file in another one, with the pipeline as it is then."""
        await self.debugger.close()
        session = Session(prepared or self.prepared, self.hub, self.folder)
        session.keeps = True
        session.saved = saved = read_session(self.file, session.prepared.parameters)
        session.cut = session.debugger.restore(
            saved.timelines,
            saved.present,
            outlines=saved.outlines,
            begin=saved.begin,
        )
        await session.open()
        return session

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


async def step_by_step(pipeline: Path, hub: ServerHub, folder: Path) -> tuple[Session, Stopped]:
    session = Session(prepare(pipeline), hub, folder)
    debugger = await session.open()
    while (stopped := await debugger.run("into")).reason == "step":
        pass
    await debugger.close()
    return session, stopped


async def resume_before_every_step(pipeline: Path, hub: ServerHub, folder: Path) -> tuple[Session, Stopped]:
    """Leave the session after every visit, and go on from its file."""
    session = Session(prepare(pipeline), hub, folder, keeps=True)
    await session.open()
    count = 0
    while (stopped := await session.debugger.run("into")).reason == "step":
        if len(session.debugger.visits) > count:
            count = len(session.debugger.visits)
            session = await session.resumed()
    await session.debugger.close()
    return session, stopped


async def back_and_forth(pipeline: Path, hub: ServerHub, folder: Path) -> tuple[Session, Stopped]:
    """Go back after every visit and forth again; every other one is run anew, in a fork."""
    session = Session(prepare(pipeline), hub, folder)
    debugger = await session.open()
    count = 0
    while (stopped := await debugger.run("into")).reason == "step":
        if debugger.state.position == count:
            continue
        count = debugger.state.position
        await debugger.step_back()
        if count % 2:
            await debugger.step_forth()
        while debugger.state.position < count:
            stopped = await debugger.run("into")
            assert stopped.reason in ("step", "finished")
        if stopped.reason == "finished":
            break
    await debugger.close()
    return session, stopped
