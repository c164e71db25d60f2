"""Wires the rooms together: a debugger with real servers, whose run is kept in a session and a memory file."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from workbench import __version__
from workbench.engine.breakpoints import Breakpoint, KeptBreakpoints, Watch
from workbench.engine.debugger import Debugger
from workbench.engine.event_log import EventLog
from workbench.engine.events import Emit, Event
from workbench.engine.ports import Answering, Asked, Reply, Tools
from workbench.engine.recording import Answers, Recording
from workbench.pipeline.outline import outline_of
from workbench.pipeline.prepare import Prepared
from workbench.pipeline.project import is_shipped
from workbench.record.memory_file import MemoryFile, benchmark_name
from workbench.record.redaction import RedactedAnswering, RedactedTools, Redactor
from workbench.record.run_record import RunRecord

if TYPE_CHECKING:
    from workbench.mcp.hub import ServerHub
    from workbench.record.breakpoints_file import BreakpointsFile
    from workbench.record.session_reader import SavedSession
    from workbench.record.session_writer import SessionWriter

log = logging.getLogger("ragwb").warning
"""What a program hears that asks for nothing else."""
OUTPUT, SESSIONS = Path("output"), Path("sessions")


def recorded_options(param: str | None, sets: Iterable[str], mcp_config: str | None) -> dict[str, Any]:
    """The options that a session keeps, for going on with it later."""
    param = str(Path(param).resolve()) if param and Path(param).exists() else param
    servers = str(Path(mcp_config).expanduser().resolve()) if mcp_config else None
    return {"param": param, "sets": list(sets), "mcp_config": servers}


class Wiring(Struct):
    """The parts of one session. Secrets are masked in every event before anyone hears of it.

    ``options`` are those that a later resume needs; ``saved`` is the session that is gone on with. ``say`` hears what
    the user should know before the run, ``warn`` what the memory file can't hold as it is. ``tools`` makes what runs
    the steps, for servers that are lent; without it the pipeline's servers are started.
    """

    prepared: Prepared
    options: dict[str, Any] = field(default_factory=dict)
    saved: SavedSession | None = None
    say: Callable[[str], None] = log
    warn: Callable[[str], None] | None = None
    tools: Callable[[Emit], Tools] | None = None
    keeps_session: bool = True
    folder: Path = Path()
    """Where ``output/`` and ``sessions/`` are."""
    env: Mapping[str, str] = field(default_factory=dict)
    """What servers get besides their environment."""
    breaks: Sequence[Breakpoint] = ()
    watches: Sequence[Watch] = ()
    """Breakpoints and watches that were given with the command or the call."""
    only_given: bool = False
    """Whether those that the session keeps stay as they are, and out of this run: they are the screen's."""
    notes: list[str] = field(default_factory=list)
    """All that was said, for a screen to show."""
    recording: Recording | None = None
    """A saved run from which this one is rebuilt."""
    answers: Answers = "run"
    answers_by_step: Mapping[str, Answers] = field(default_factory=dict)
    """How steps are answered that were recorded; see ``Debugger``."""
    breakpoints_file: BreakpointsFile | None = None
    """Where breakpoints are kept from one session to the next; without, they are those of this session."""
    _record: RunRecord | None = None
    _debugger: Debugger | None = None

    def debugger(self, emit: Emit, user: Answering | None = None) -> Debugger:
        """A debugger with real servers. ``user`` answers what they ask, where there is one.

        Raises ``OSError`` where what it gives could not be kept.
        """
        redactor = Redactor.of(self.prepared.parameters, self.prepared.secrets)
        tell = redactor.emit(lambda event: self._tell(event, emit))
        self._memory(redactor).check()
        answering = RedactedAnswering(user, redactor) if user is not None else None
        tools = RedactedTools(lambda: self._tools(tell, answering), redactor)
        debugger = Debugger(self.prepared, tools, emit=tell, record=lambda: self._new_record(redactor, debugger))
        self._debugger = debugger
        debugger.recording = self.recording
        debugger.answers, debugger.answers_by_step = self.answers, self.answers_by_step
        if self.saved is not None:
            cut = debugger.restore(
                self.saved.timelines,
                self.saved.present,
                outlines=self.saved.outlines,
                begin=self.saved.begin,
            )
            if cut is not None:
                self.note(f"{cut}: the run goes on from before it; what ran after stays in the session file")
        self._set_breakpoints(debugger)
        debugger.breakpoints.changed = lambda: self._keep_breakpoints(debugger)
        return debugger

    def _set_breakpoints(self, debugger: Debugger) -> None:
        """Those of the session that is gone on with, else those kept for the pipeline; and those given."""
        kept, gone = KeptBreakpoints(), tuple[Breakpoint, ...]()
        saved = self.saved
        if saved is not None and not self.only_given:
            kept, gone = saved.breakpoints.moved(saved.pipeline.outline, outline_of(self.prepared.pipeline))
        elif self.breakpoints_file is not None:
            kept, gone = self.breakpoints_file.read()
        debugger.breakpoints.put_back(kept)
        for found in gone:
            self.note(f"the breakpoint at {found.step} is gone with its step")
        for found in self.breaks:
            debugger.breakpoints.add(replace(found, is_kept=False))
        for watch in self.watches:
            debugger.breakpoints.watch(replace(watch, is_kept=False))

    def note(self, message: str) -> None:
        self.notes.append(message)
        self.say(message)

    def event_log(self, write: Callable[[dict[str, Any]], None]) -> EventLog:
        """Puts the events of this session into their envelopes."""
        return EventLog(
            write,
            session=lambda: self.session.stem if self.session is not None else None,
            timeline=lambda: self._debugger.timeline_of_events if self._debugger is not None else 1,
        )

    @property
    def session(self) -> Path | None:
        """The session file that is being written."""
        return self._debugger.file if self._debugger is not None else None

    def _tell(self, event: Event, emit: Emit) -> None:
        if self._record is not None:
            self._record.told(event)
        emit(event)

    def _tools(self, emit: Emit, user: Answering | None) -> Tools:
        if self.tools is not None:
            return self.tools(emit)
        return server_hub(self.prepared, emit, self.env, user)

    def _memory(self, redactor: Redactor) -> MemoryFile:
        folder, stem = self.folder / OUTPUT, self.prepared.pipeline.stem
        return MemoryFile(folder, stem, benchmark_name(self.prepared.parameters), mask=redactor.text, warn=self.warn)

    def _new_record(self, redactor: Redactor, debugger: Debugger) -> RunRecord:
        session = self._writer(self.prepared.pipeline.stem) if self.keeps_session else None
        self._record = RunRecord(self._memory(redactor), session, redactor=redactor, follow=self._follow)
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
                return SessionWriter(self.folder / SESSIONS / f"{name}{f'_{n}' if n > 1 else ''}.ragwb", about, now)
            except FileExistsError:
                continue
        raise OSError(f"no free name for {name} in {self.folder / SESSIONS}")

    def _follow(self, prepared: Prepared) -> None:
        """The pipeline was read anew: what is kept from here on is of that."""
        self.prepared = prepared
        if self.breakpoints_file is not None:
            self.breakpoints_file.follow(prepared.pipeline)

    def _keep_breakpoints(self, debugger: Debugger) -> None:
        if self.only_given:
            return
        kept = debugger.breakpoints.kept()
        if self._record is not None and self._record.session is not None:
            self._record.session.breakpoints(kept)
        if self.breakpoints_file is not None:
            with contextlib.suppress(OSError):
                self.breakpoints_file.write(kept.of_pipeline())


def server_hub(
    prepared: Prepared, emit: Emit, env: Mapping[str, str] = MappingProxyType({}), user: Answering | None = None
) -> ServerHub:
    """The servers that a pipeline uses, with the limits and rules of its configuration; none is started yet.

    ``env`` is added to the environment of each of them; ``user`` answers what they ask, where there is one.
    """
    from workbench.mcp.hub import ServerHub
    from workbench.mcp.rules import Rules
    from workbench.mcp.sampling import ALIAS, PipelineModel

    config, sources = prepared.config, prepared.used_sources()

    async def sample(asked: Asked) -> Reply:
        return await PipelineModel(hub.call, hub.declaration)(asked)

    model = sample if ALIAS in sources else None
    ours = frozenset(alias for alias, source in sources.items() if is_shipped(source))
    hub = ServerHub(
        sources,
        emit,
        call_timeout=config.call_timeout,
        start_timeout=config.start_timeout,
        answering=Rules(config.elicitation, config.sampling, user, model, ours),
        env=env,
    )
    return hub
