"""Wires the rooms together: a debugger with real servers, whose run is kept in a session and a memory file."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import __version__
from workbench.cli.report import say
from workbench.engine.breakpoints import Breakpoint, KeptBreakpoints, Watch
from workbench.engine.debugger import Debugger
from workbench.engine.events import Emit, Event
from workbench.engine.ports import Answering, Asked, Reply
from workbench.pipeline.outline import outline_of
from workbench.pipeline.prepare import Prepared
from workbench.record.memory_file import MemoryFile, benchmark_name
from workbench.record.redaction import RedactedAnswering, RedactedTools, Redactor
from workbench.record.run_record import RunRecord

if TYPE_CHECKING:
    from workbench.mcp.hub import ServerHub
    from workbench.record.breakpoints_file import BreakpointsFile
    from workbench.record.session_reader import SavedSession
    from workbench.record.session_writer import SessionWriter

OUTPUT, SESSIONS = Path("output"), Path("sessions")


def recorded_options(options: argparse.Namespace) -> dict[str, Any]:
    """The options that a session keeps, for going on with it later."""
    param = str(Path(options.param).resolve()) if options.param and Path(options.param).exists() else options.param
    servers = str(Path(options.mcp_config).expanduser().resolve()) if options.mcp_config else None
    return {"param": param, "sets": list(options.sets), "mcp_config": servers}


@dataclass
class Wiring:
    """The parts of one session of the command. Secrets are masked in every event before anyone hears of it.

    ``options`` are those of the command line that a later resume needs; ``saved`` is the session that is gone on with.
    ``warn`` hears what the memory file can't hold as it is.
    """

    prepared: Prepared
    options: dict[str, Any] = field(default_factory=dict)
    saved: SavedSession | None = None
    warn: Callable[[str], None] | None = None
    keeps_session: bool = True
    breaks: Sequence[Breakpoint] = ()
    watches: Sequence[Watch] = ()
    """Breakpoints and watches of the command line."""
    breakpoints_file: BreakpointsFile | None = None
    """Where breakpoints are kept from one session to the next; without, they are those of this session."""
    _record: RunRecord | None = None

    def debugger(self, emit: Emit, user: Answering | None = None) -> Debugger:
        """A debugger with real servers. ``user`` answers what they ask, where there is one.

        Raises ``OSError`` where what it gives could not be kept.
        """
        redactor = Redactor.of(self.prepared.parameters, self.prepared.secrets)
        tell = redactor.emit(lambda event: self._tell(event, emit))
        self._memory(redactor).check()
        answering = RedactedAnswering(user, redactor) if user is not None else None
        tools = RedactedTools(lambda: self._hub(tell, answering), redactor)
        debugger = Debugger(self.prepared, tools, emit=tell, record=lambda: self._new_record(redactor, debugger))
        if self.saved is not None:
            cut = debugger.restore(
                self.saved.timelines,
                self.saved.present,
                outlines=self.saved.outlines,
                begin=self.saved.begin,
                late_edits=self.saved.late_edits,
            )
            if cut is not None:
                say(f"{cut}: the run goes on from before it; what ran after stays in the session file")
        self._set_breakpoints(debugger)
        debugger.breakpoints.changed = lambda: self._keep_breakpoints(debugger)
        return debugger

    def _set_breakpoints(self, debugger: Debugger) -> None:
        """Those of the session that is gone on with, else those kept for the pipeline; and the command line's."""
        kept, gone = KeptBreakpoints(), tuple[Breakpoint, ...]()
        if self.saved is not None:
            saved = self.saved
            kept, gone = saved.breakpoints.moved(saved.pipeline.outline, outline_of(self.prepared.pipeline))
        elif self.breakpoints_file is not None:
            kept, gone = self.breakpoints_file.read()
        debugger.breakpoints.put_back(kept)
        for found in gone:
            say(f"the breakpoint at {found.step} is gone with its step")
        for found in self.breaks:
            debugger.breakpoints.add(found)
        for watch in self.watches:
            debugger.breakpoints.watch(watch)

    @property
    def session(self) -> Path | None:
        """The session file that is being written."""
        session = self._record.session if self._record is not None else None
        return session.path if session is not None else None

    def _tell(self, event: Event, emit: Emit) -> None:
        if self._record is not None:
            self._record.told(event)
        emit(event)

    def _hub(self, emit: Emit, user: Answering | None) -> ServerHub:
        from workbench.mcp.hub import ServerHub
        from workbench.mcp.rules import Rules
        from workbench.mcp.sampling import ALIAS, PipelineModel

        config, sources = self.prepared.config, self.prepared.used_sources()

        async def sample(asked: Asked) -> Reply:
            return await PipelineModel(hub.call)(asked)

        model = sample if ALIAS in sources else None
        hub = ServerHub(
            sources,
            emit,
            call_timeout=config.call_timeout,
            start_timeout=config.start_timeout,
            answering=Rules(config.elicitation, config.sampling, user, model),
        )
        return hub

    def _memory(self, redactor: Redactor) -> MemoryFile:
        benchmark = benchmark_name(self.prepared.parameters)
        return MemoryFile(OUTPUT, self.prepared.pipeline.stem, benchmark, mask=redactor.text, warn=self.warn)

    def _new_record(self, redactor: Redactor, debugger: Debugger) -> RunRecord:
        session = self._writer(self.prepared.pipeline.stem) if self.keeps_session else None
        self._record = RunRecord(self._memory(redactor), session)
        self._keep_breakpoints(debugger)
        return self._record

    def _writer(self, stem: str) -> SessionWriter:
        from workbench.record.pipeline_then import PipelineThen
        from workbench.record.session_writer import SessionWriter

        saved, self.saved = self.saved, None
        now = PipelineThen.of(self.prepared, Redactor.of(self.prepared.parameters, self.prepared.secrets))
        if saved is not None:
            return SessionWriter(saved.path, {}, now, after_seq=saved.last_seq, versions=saved.versions)
        about = {
            "ragwb": __version__,
            "pipeline": str(self.prepared.pipeline.file.resolve()),
            "created": datetime.now().astimezone().isoformat(timespec="seconds"),
            "options": self.options,
        }
        name = f"{stem}-{datetime.now():%Y%m%d_%H%M%S}"
        for n in range(1, 1000):
            try:
                return SessionWriter(SESSIONS / f"{name}{f'_{n}' if n > 1 else ''}.ragwb", about, now)
            except FileExistsError:
                continue
        raise OSError(f"no free name for {name} in {SESSIONS}")

    def _keep_breakpoints(self, debugger: Debugger) -> None:
        kept = debugger.breakpoints.kept()
        if self._record is not None and self._record.session is not None:
            self._record.session.breakpoints(kept)
        if self.breakpoints_file is not None:
            with contextlib.suppress(OSError):
                self.breakpoints_file.write(kept)
