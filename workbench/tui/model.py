"""What the screen knows of a session: the debugger's state, and what its events told on the way there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.engine.cursor import step_at
from workbench.engine.debugger import Debugger
from workbench.engine.events import (
    Continued,
    Edited,
    Event,
    Forked,
    LogPrinted,
    Reloaded,
    RunFinished,
    ServerAnswered,
    ServerExited,
    ServerFailed,
    ServerOutput,
    ServerReady,
    ServerStarting,
    SessionStarted,
    StepSkipped,
    Stopped,
    VisitFailed,
    VisitFinished,
    VisitProgress,
    VisitStarted,
    WentBack,
)
from workbench.engine.pool import Variable, VariablePool
from workbench.engine.timeline import Checkpoint, Timeline
from workbench.engine.visit import Visit
from workbench.pipeline.model import Step
from workbench.record.redaction import Redactor
from workbench.tui.heard import Heard
from workbench.tui.progress import Progress
from workbench.tui.traffic_log import TrafficLog
from workbench.tui.user import OpenQuestion

Clock = Callable[[], float]
"""Gives Unix seconds: ``time.time``, or a clock that stands still."""

ServerPhase = Literal["starting", "ready", "failed", "exited"]


class ServerState(Struct, frozen=True):
    """A server as its events tell of it."""

    alias: str
    phase: ServerPhase
    since: float
    last_line: str = ""
    message: str = ""


class Entry(Struct, frozen=True):
    """One line of the timeline: a visit, or what happened between two."""

    event: Event
    visit: int | None = None


class Model:
    """Reads events in the order they came. It decides nothing."""

    def __init__(self, debugger: Debugger, clock: Clock = time.time) -> None:
        self.debugger = debugger
        self.clock = clock
        self.traffic = TrafficLog()
        self._redactor = Redactor.of(debugger.prepared.parameters, debugger.prepared.secrets)
        self.servers: dict[str, ServerState] = {}
        self.lens: int | None = None
        self.looked_at: int | None = None
        """The past visit that every pane shows, with the variables as they stood after it; None is the present."""
        self._past_progress: Progress | None = None
        self.saved_files: tuple[str, ...] = ()
        """The files of the pipeline that were saved since it was read."""
        self.asked: Sequence[OpenQuestion] = ()
        """What servers wait for the user to answer."""
        self.is_pausing = False
        """Whether a pause was asked for since the run last went on; it comes after the step that is running."""
        self._begin()
        self._restored = list(_entries(debugger.timeline))

    def _begin(self) -> None:
        self.progress = Progress()
        self.timeline: list[Entry] = []
        self._since_back = 0
        self._shown_timeline = self.debugger.state.timeline
        self.heard = Heard()
        self._before: VariablePool = self.debugger.state.pool
        self._at_stop = self._before
        self._ran = 0.0
        self._running_since: float | None = None

    def without_secrets(self, value: Any) -> Any:
        """A parameter as it is shown: its secrets masked."""
        return self._redactor.value(value)

    # ---- events

    def take(self, events: Iterable[Event]) -> None:
        for event in events:
            self._take(event)

    def _take(self, event: Event) -> None:
        self.progress.take(event)
        self.traffic.take(event, self.clock())
        match event:
            case SessionStarted():
                self._begin()
                self.timeline, self._restored = self._restored, []
                self._show_progress()
            case WentBack() | Forked() | Reloaded():
                self._went_elsewhere(event)
            case Continued():
                self._before = self._at_stop
                self._running_since = self.clock()
            case Stopped():
                self._stop_clock()
                self._at_stop = self.debugger.state.pool
                self.is_pausing = False
            case VisitStarted():
                self.heard = Heard(event.visit)
            case VisitFinished() | VisitFailed():
                self.timeline.append(Entry(event, event.visit))
            case Edited():
                self._at_stop = self.debugger.state.pool
                self.timeline.append(Entry(event))
            case StepSkipped() | RunFinished() | LogPrinted() | ServerAnswered():
                self.timeline.append(Entry(event))
            case VisitProgress():
                self.heard.take(event)
            case ServerStarting() | ServerReady() | ServerFailed() | ServerExited() | ServerOutput():
                self._server(event)
            case _:
                pass

    def _went_back(self, event: WentBack) -> None:
        if event.timeline != self._shown_timeline:
            self._shown_timeline = event.timeline
            self.timeline = list(_entries(self.debugger.timeline))
        self._show_progress()
        self._before = self.debugger.state.pool
        self._since_back = len(self.timeline)

    def _reloaded(self) -> None:
        """The pipeline is another: what was told of steps by their paths goes by the new ones."""
        prepared = self.debugger.prepared
        self._redactor.follow(prepared.parameters, prepared.secrets)
        self._shown_timeline = self.debugger.state.timeline
        self.timeline = list(_entries(self.debugger.timeline))
        self._since_back = len(self.timeline)
        self._show_progress()

    def _show_progress(self) -> None:
        """How far the run is, where no event has told it: after going back, and in a session that is gone on with."""
        debugger = self.debugger
        position = debugger.state.position
        self.progress = Progress.after(debugger.program, debugger.state.cursor, debugger.timeline, position)

    def _went_elsewhere(self, event: WentBack | Forked | Reloaded) -> None:
        match event:
            case WentBack():
                self._went_back(event)
            case Forked():
                self._fork(event)
            case Reloaded():
                self._reloaded()

    def _fork(self, event: Forked) -> None:
        """What the fork shares stays, and what was done since the run went back; the rest belongs to the other one."""
        self._shown_timeline = event.number
        visits = [entry.visit for entry in self.timeline]
        shared = visits.index(event.parent_visit) if event.parent_visit in visits else len(visits)
        self.timeline = [*self.timeline[:shared], Entry(event), *self.timeline[max(shared, self._since_back) :]]

    def _server(self, event: ServerStarting | ServerReady | ServerFailed | ServerExited | ServerOutput) -> None:
        known = self.servers.get(event.server, ServerState(event.server, "starting", self.clock()))
        match event:
            case ServerOutput():
                state = replace(known, last_line=event.text)
                if event.visit is not None and event.visit == self.heard.visit:
                    self.heard.line = event.text
            case ServerFailed():
                state = ServerState(event.server, "failed", self.clock(), known.last_line, event.message)
            case ServerExited() if known.phase == "failed":
                return
            case ServerExited():
                state = ServerState(event.server, "exited", self.clock(), known.last_line)
            case ServerReady():
                state = ServerState(event.server, "ready", self.clock(), known.last_line)
            case ServerStarting():
                state = ServerState(event.server, "starting", self.clock())
        self.servers[event.server] = state

    def _stop_clock(self) -> None:
        if self._running_since is not None:
            self._ran += self.clock() - self._running_since
            self._running_since = None

    # ---- questions

    @property
    def later_visits(self) -> frozenset[int]:
        """The visits that lie after the cursor, where the run has gone back."""
        position = self.debugger.state.position
        return frozenset(visit.number for visit in self.debugger.timeline.visits[position:])

    @property
    def elapsed(self) -> float:
        """Seconds that the run has been running, without the time it stood."""
        return self._ran + (self.clock() - self._running_since if self._running_since is not None else 0)

    @property
    def present_step(self) -> Step | None:
        return step_at(self.debugger.program, self.debugger.state.cursor)

    def changed(self, variable: Variable) -> bool:
        """Whether a variable is another than when the run last went on; or was written by the visit looked at."""
        if self.looked_at is not None:
            return variable.visit == self.looked_at
        return self._before.get(variable.name) is not variable

    @property
    def shown_progress(self) -> Progress:
        """How far the run was with the visit that is looked at; else how far it is."""
        if self.looked_at is None:
            return self.progress
        if self._past_progress is None:
            debugger = self.debugger
            place = debugger.timeline.index_of(self.looked_at) or 0
            cursor = debugger.timeline.moments[place].before.cursor  # of its own round, not of what came next
            self._past_progress = Progress.after(debugger.program, cursor, debugger.timeline, place + 1)
        return self._past_progress

    def look_at(self, visit: int) -> None:
        """Show things as they stood after a visit of this timeline; after the last one that is the present."""
        place = self.debugger.timeline.index_of(visit)
        is_present = place is None or place == self.debugger.state.position - 1
        self.looked_at = None if is_present else visit
        self._past_progress = None

    @property
    def pool(self) -> VariablePool:
        """The variables at the checkpoint that is shown."""
        timeline = self.debugger.timeline
        place = timeline.index_of(self.looked_at) if self.looked_at is not None else None
        return timeline.moments[place].after if place is not None else self.debugger.state.pool

    def is_recorded(self, variable: Variable) -> bool:
        """Whether the visit that wrote a variable was answered from a recording."""
        visit = self.visit_of_timeline(variable.visit) if variable.visit is not None else None
        return visit is not None and visit.provenance == "recorded"

    def visit_of_timeline(self, number: int) -> Visit | None:
        """A visit of this timeline, also one that lies after the cursor."""
        place = self.debugger.timeline.index_of(number)
        return self.debugger.timeline.moments[place].visit if place is not None else None

    def last_visit(self, step: str) -> Visit | None:
        """The latest finished or failed visit of a step, or the one under way."""
        candidates = [self.debugger.state.running, self.debugger.failed]
        found = next((visit for visit in candidates if visit is not None and visit.step == step), None)
        return found or next((visit for visit in reversed(self.debugger.visits) if visit.step == step), None)

    def visit(self, number: int) -> Visit | None:
        failed = self.debugger.failed
        if failed is not None and failed.number == number:
            return failed
        return self.visit_of_timeline(number)


def _entries(timeline: Timeline) -> Iterator[Entry]:
    """What the pane shows of a timeline that was not watched as it ran: its visits, and the edits between them."""
    for moment in timeline.moments:
        yield from _edits(moment.before)
        yield Entry(_finished(moment.visit), moment.visit.number)
    if timeline.end is not None:
        yield from _edits(timeline.end)


def _edits(at: Checkpoint) -> Iterator[Entry]:
    for edit in at.edits:
        if edit.origin is None:
            name = f"{edit.alias}.{edit.name}" if edit.alias else edit.name
            yield Entry(Edited(what=edit.what, name=name, item=edit.item, new=edit.value))


def _finished(visit: Visit) -> VisitFinished:
    """The event of a visit that a saved session holds."""
    return VisitFinished(
        seconds=visit.seconds,
        outputs=tuple(visit.saved),
        warnings=visit.warnings,
        provenance=visit.provenance,
        follows_edit=visit.follows_edit,
        **visit.where(),
    )
