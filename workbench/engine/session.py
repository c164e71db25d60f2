"""What a session is at any moment: its state, its timelines, its record, and the ways it changes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from workbench.engine import cursor as cursors
from workbench.engine.bindings import Bindings
from workbench.engine.breakpoints import Breakpoints
from workbench.engine.cursor import Cursor, Move
from workbench.engine.edits import is_given
from workbench.engine.entries import is_same
from workbench.engine.events import Emit, Event, RecordFailed, RunFinished, Stopped
from workbench.engine.expressions import evaluate
from workbench.engine.inputs import BoundInputs, Skip, StepError, bind_inputs
from workbench.engine.looking import Change, Counterpart, Version, changes_of, counterpart_of, history_of
from workbench.engine.pool import VariablePool
from workbench.engine.ports import Edit, Recorder, Tools
from workbench.engine.program import Program
from workbench.engine.recording import Answers, Recording
from workbench.engine.state import REFUSALS, CommandRefused, Outcome, State, Status, StopReason
from workbench.engine.timeline import Checkpoint, Moment, Timeline
from workbench.engine.visit import Visit
from workbench.engine.visiting import Visiting
from workbench.pipeline.binding import Binding
from workbench.pipeline.prepare import Prepared


class Session:
    """One pipeline that is being run, and what may be read of it from any thread.

    ``tools`` run its steps, ``record`` opens what keeps a run. ``state``, ``visits``, ``timelines`` and
    ``breakpoints`` are replaced as a whole whenever they change.
    """

    def __init__(self, prepared: Prepared, tools: Tools, *, emit: Emit, record: Callable[[], Recorder]) -> None:
        self.prepared = prepared
        self.tools = tools
        self.bindings = Bindings(prepared, tools)
        self.breakpoints = Breakpoints()
        self.answers: Answers = "run"
        """How steps after a fork are answered that the timeline before it holds."""
        self.answers_by_step: Mapping[str, Answers] = {}
        """The same for single steps, by their paths."""
        self.recording: Recording | None = None
        """A run of another file by which this one is rebuilt, and which may answer its steps."""
        self._visiting = Visiting(self.bindings, tools, emit)
        self._emit = emit
        self._open_record = record
        self._numbers = 0
        self._starts_servers = True
        """Whether servers start before their first step."""
        self._begin()

    def _begin(self) -> None:
        """Set everything that belongs to one run to its start."""
        self.program = Program.of(self.prepared.pipeline, self.bindings.given())
        self.timelines: dict[int, Timeline] = {1: Timeline()}
        self.timeline = self.timelines[1]
        self._record: Recorder | None = None
        self._started = time.monotonic()
        self._edits: dict[str, Any] = {}
        """Inputs of the next visit that were changed by hand."""
        self._pending: list[Edit] = []
        """All that was changed by hand since the last visit; it goes with the checkpoint."""
        self._skipped: list[str] = []
        """The steps passed over since the last visit."""
        self._failed: Visit | None = None
        self._routes: dict[int, str] | None = None
        self._call: asyncio.Task[Any] | None = None
        self._reload: asyncio.Future[Any] | None = None
        self._is_cancelling = False
        self._is_keeping = False
        self._pause_wanted = False
        self._is_complete = False
        self._why: str | None = None
        """Why the run stops before the next step: a breakpoint after the last one, or a watch."""
        self._late_edits: tuple[Edit, ...] = ()
        """Inputs that were edited before a saved session was left: edited again when it is opened."""
        self._gone: set[str] = set()
        """Servers that died or did not start: they are started anew when their step is tried again."""
        self._uninitialised: set[str] = set()
        """Servers that were started anew after steps of theirs had run."""
        self._stands: dict[str, tuple[Timeline, int]] = {}
        """Server -> timeline and position of the last visit that changed its state."""
        self._given_parameters = self.prepared.parameters.values
        """What files and options gave, as far as this run knows."""
        pool = VariablePool(parameters=self._given_parameters)
        cursor = Cursor()
        self._begin_pool = pool
        self.timeline.end = Checkpoint(cursor, pool)
        self.state = State("starting", cursor, pool, cursors.place_of(self.program, cursor))

    @property
    def file(self) -> Path | None:
        """The session file, from which the run can be gone on with; None where none is kept."""
        return self._record.file if self._record is not None else None

    @property
    def visits(self) -> Sequence[Visit]:
        """The visits of this timeline that lie before the cursor."""
        return self.timeline.visits[: self.state.position]

    @property
    def failed(self) -> Visit | None:
        """The visit that failed or was cancelled at the cursor, until it is run anew."""
        return self._failed

    @property
    def routes(self) -> Mapping[int, str] | None:
        """What the router at the cursor decided (item -> state), while its branches have not begun."""
        return self._routes

    @property
    def timeline_of_events(self) -> int:
        """The number of the timeline that what happens now belongs to; a run that begins a fork belongs to that."""
        begins_a_fork = self.state.status == "running" and (self.state.is_past or self.timeline.is_closed)
        return max(self.timelines) + 1 if begins_a_fork else self.timeline.number

    # ---- looking

    def out_of_step(self) -> tuple[str, ...]:
        """The servers whose state is not what it was at this checkpoint: going back did not turn them back."""
        return tuple(
            alias
            for alias, (timeline, position) in sorted(self._stands.items())
            if alias not in self._uninitialised and self._has_moved(alias, timeline, position)
        )

    def _has_moved(self, alias: str, timeline: Timeline, position: int) -> bool:
        """Whether visits that changed a server's state lie between where it stands and the cursor."""
        now = self.state.position
        shared = min(timeline.shared_with(self.timeline), position, now)
        ways = ((timeline, position), (self.timeline, now))
        return any(alias in way.stateful_between(shared, end) for way, end in ways)

    def evaluate(self, text: str, *, visit: int | None = None, item: int | None = None, is_after: bool = False) -> Any:
        """The value of an expression now, or as it was before a visit of this timeline, or after it.

        It may name variables, ``memory_<variable>``, ``parameters``, ``round``, ``visit``, and ``item``.
        Raises ``ExpressionError``; ``CommandRefused`` where there is no such visit.
        """
        pool, context = self.state.pool, self._context()
        if visit is not None:
            moment = self.moment(visit)
            rounds = moment.visit.round
            pool = moment.after if is_after else moment.before.pool
            context = {"round": rounds[-1] if rounds else 0, "visit": visit}
        return evaluate(text, pool, context if item is None else {**context, "item": item})

    def moment(self, visit: int) -> Moment:
        """A visit of this timeline, with what was before and after it. Raises ``CommandRefused``."""
        position = self.timeline.index_of(visit)
        if position is None:
            raise CommandRefused(f"there is no visit {visit} in timeline {self.timeline.number}")
        return self.timeline.moments[position]

    def changes(self, visit: int) -> tuple[Change, ...]:
        """What a visit of this timeline changed in the pool. Raises ``CommandRefused``."""
        return changes_of(self.moment(visit))

    def counterpart(self, visit: Visit) -> Counterpart | None:
        """The visit to compare another with: its twin in the timeline a fork left, or the one before of its step."""
        return counterpart_of(self.timelines, self.timeline, visit)

    def history(self, name: str) -> tuple[Version, ...]:
        """All versions of a variable up to the cursor: who wrote each, and which visits read it.

        Raises ``CommandRefused`` for a variable that was never written.
        """
        found = history_of(self.timeline.moments[: self.state.position], self.state.pool, name)
        if not found:
            raise CommandRefused(f"there is no variable {name}")
        return found

    async def heard(self, visit: int | None = None) -> tuple[Event, ...]:
        """The messages on the wire and the lines of server output that belong to a visit, in order.

        Without a visit the latest of the session, also those of before it was gone on with.
        """
        return await self._recorder.heard(visit)

    def _context(self) -> dict[str, Any]:
        """What conditions may name besides variables."""
        rounds = self.state.place.round
        return {"round": rounds[-1] if rounds else 0, "visit": self._numbers + 1}

    def inputs(self) -> BoundInputs | Skip | StepError | None:
        """What the step at the cursor would be given; None where that is a block, or not known yet."""
        step = cursors.step_at(self.program, self.state.cursor)
        binding = self.bindings.known.get(step.path) if step is not None else None
        if binding is None:
            return None
        try:
            return self._bind(binding)
        except StepError as error:
            return error

    def _bind(self, binding: Binding) -> BoundInputs | Skip:
        branch = self.state.place.branch[-1] if self.state.place.branch else None
        return bind_inputs(binding, self.state.pool, self.state.cursor.items, branch, self._edits)

    # ---- changing

    def _begin_record(self) -> None:
        """Open what keeps the run: with the session, and not before its first picture. Raises ``OSError``."""
        self._record = self._open_record()

    @property
    def _recorder(self) -> Recorder:
        assert self._record is not None, "commands are refused until the session is open"
        return self._record

    def _checkpoint(self) -> Checkpoint:
        routes = dict(self._routes) if self._routes is not None else None
        return Checkpoint(self.state.cursor, self.state.pool, routes, tuple(self._pending), tuple(self._skipped))

    def _set_position(self, position: int) -> Checkpoint:
        """Take over a checkpoint of this timeline: it costs the same however far away it is."""
        checkpoint = self.timeline.checkpoint(position)
        assert checkpoint is not None
        self._failed = None
        self._edits = {}
        self._pending = [edit for edit in checkpoint.edits if edit.what != "input"]
        self._skipped = list(checkpoint.skipped)
        self._routes = dict(checkpoint.routes) if checkpoint.routes is not None else None
        self.state = replace(
            self.state,
            cursor=checkpoint.cursor,
            pool=checkpoint.pool,
            place=cursors.place_of(self.program, checkpoint.cursor),
            timeline=self.timeline.number,
            position=position,
            length=len(self.timeline.moments),
        )
        self._overlay_given()
        return checkpoint

    def _overlay_given(self) -> tuple[Edit, ...]:
        """Let parameters have the values that files and options give now; returns what that changed.

        What was edited by hand, or written by a step, stays. So a step that is run anew after a parameter file was
        saved is run with what the file says, while its recorded visit shows what it was given then.
        """
        changed = []
        for alias, section in self._given_parameters.items():
            for name, given in section.items():
                here = self.state.pool.parameters.get(alias, {}).get(name)
                if here is None or (is_given(here) and not is_same(here.value, given.value)):
                    pool = self.state.pool.with_parameter(alias, name, given.value, given.origin)
                    self.state = replace(self.state, pool=pool)
                    changed.append(Edit("parameter", name, given.value, alias=alias, origin=given.origin))
        self._pending += changed
        return tuple(changed)

    def _move(self, move: Move) -> None:
        self._edits = {}
        self.state = replace(self.state, cursor=move.cursor, place=cursors.place_of(self.program, move.cursor))
        if not self.state.is_past:
            self.timeline.end = self._checkpoint()
        for fact in move.facts:
            self._emit(fact)

    def _stop(self, reason: StopReason, why: str, *, visit: int | None = None) -> Stopped:
        place = self.state.place
        about: dict[str, Any] = {
            "step": place.step,
            "name": place.name,
            "round": place.round,
            "branch": place.branch,
            "visit": visit,
        }
        stopped = Stopped(reason=reason, why=why, **about)
        is_end = reason == "finished" or (reason == "reloaded" and self.state.cursor.is_end)
        status: Status = "finished" if is_end else "stopped"
        self.state = replace(self.state, status=status, stop=stopped, running=None)
        self._emit(stopped)
        return stopped

    async def _publish(self) -> None:
        """Write the memory file; where that fails the run is not lost, since its record is kept besides."""
        try:
            self.state = replace(self.state, memory=await self._recorder.complete(self.timeline))
        except OSError as error:
            self._emit(RecordFailed(message=f"the memory file can't be written: {error}"))

    async def _complete(self, outcome: Outcome) -> None:
        self._is_complete = True
        await self._publish()
        seconds = time.monotonic() - self._started
        self._emit(RunFinished(outcome=outcome, visits=len(self.visits), seconds=seconds, memory=self.state.memory))

    def _refuse_unless_stopped(self) -> None:
        if self.state.status in REFUSALS:
            raise CommandRefused(REFUSALS[self.state.status])

    def _refuse_while_busy(self) -> None:
        if self.state.status in ("starting", "running", "closed"):
            raise CommandRefused(REFUSALS[self.state.status])
