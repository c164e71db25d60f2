"""The debugger: commands in, events out. Every front end, with a screen or without, drives this one class."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from workbench.engine import cursor as cursors
from workbench.engine.bindings import Bindings
from workbench.engine.breakpoints import Breakpoints, When
from workbench.engine.cursor import Cursor, Move
from workbench.engine.edits import edited_parameter, edited_parameters, edited_variable
from workbench.engine.events import (
    Continued,
    Edited,
    Emit,
    Forked,
    LogPrinted,
    RecordFailed,
    RunFinished,
    ServerInitialised,
    SessionStarted,
    StepSkipped,
    Stopped,
    VariableWritten,
    VisitFailed,
    VisitFinished,
    WentBack,
)
from workbench.engine.expressions import render
from workbench.engine.inputs import BoundInputs, Skip, StepError, bind_inputs
from workbench.engine.pool import VariablePool
from workbench.engine.ports import Edit, Recorder, ServerGone, ServerStartFailed, Tools, ToolsError
from workbench.engine.program import Program
from workbench.engine.restoring import finish_timelines
from workbench.engine.routing import check_states
from workbench.engine.state import REFUSALS, Command, CommandRefused, State, Status, StopReason
from workbench.engine.timeline import Checkpoint, Moment, Timeline
from workbench.engine.values import shape
from workbench.engine.visit import Visit
from workbench.engine.visiting import Answers, Visiting
from workbench.pipeline.binding import Binding
from workbench.pipeline.model import BranchStep, Step, ToolStep
from workbench.pipeline.prepare import Prepared


class Debugger:
    """One pipeline, run step by step, forth and back.

    ``tools`` run its steps, ``record`` opens what keeps a run. Commands are coroutines of the loop that ``open`` ran
    on; ``pause`` and ``cancel`` take effect while one of them runs. ``state``, ``visits``, ``timelines`` and
    ``breakpoints`` may be read at any time and from any thread.
    """

    def __init__(self, prepared: Prepared, tools: Tools, *, emit: Emit, record: Callable[[], Recorder]) -> None:
        self.prepared = prepared
        self.tools = tools
        self.bindings = Bindings(prepared, tools)
        self.breakpoints = Breakpoints()
        self.answers: Answers = "run"
        """How steps after a fork are answered that the timeline before it holds."""
        self._visiting = Visiting(self.bindings, tools, emit)
        self._emit = emit
        self._open_record = record
        self._numbers = 0
        self._begin()

    def _begin(self) -> None:
        """Set everything that belongs to one run to its start."""
        self.program = Program.of(self.prepared.pipeline, self.bindings.given())
        self.timelines: dict[int, Timeline] = {1: Timeline()}
        self.timeline = self.timelines[1]
        self._recorder = self._open_record()
        self._started = time.monotonic()
        self._edits: dict[str, Any] = {}
        self._failed: Visit | None = None
        self._routes: dict[int, str] | None = None
        self._call: asyncio.Task[Any] | None = None
        self._is_cancelling = False
        self._pause_wanted = False
        self._is_complete = False
        self._why: str | None = None
        """Why the run stops before the next step: a breakpoint after the last one, or a watch."""
        self._late_edits: tuple[Edit, ...] = ()
        self._gone: set[str] = set()
        """Servers that died or did not start: they are started anew when their step is tried again."""
        self._uninitialised: set[str] = set()
        """Servers that were started anew after steps of theirs had run."""
        pool = VariablePool(parameters=self.prepared.parameters.values)
        cursor = Cursor()
        self.timeline.end = Checkpoint(cursor, pool)
        self.state = State("starting", cursor, pool, cursors.place_of(self.program, cursor))

    @property
    def visits(self) -> Sequence[Visit]:
        """The visits of this timeline that lie before the cursor."""
        return self.timeline.visits[: self.state.position]

    # ---- the session

    async def open(self, *, wait_for_servers: bool, start_servers: bool = True) -> None:
        """Start the servers the pipeline uses, and stop before the first step, or where a saved session stopped.

        With ``wait_for_servers`` all of them must be up and agree with the pipeline: raises ``ServerStartFailed``,
        ``PipelineError``. Without, a server is waited for when its first step is reached; without
        ``start_servers`` it is started only then.
        """
        aliases = self.prepared.pipeline.used_aliases()
        self._emit(SessionStarted(pipeline=str(self.prepared.pipeline.file), servers=aliases))
        if start_servers:
            self.tools.start(aliases)
        if wait_for_servers:
            await asyncio.gather(*(self.bindings.learn(alias) for alias in aliases))
            self.bindings.check()
        self.program = Program.of(self.prepared.pipeline, self.bindings.given())
        if not self.timeline.moments:
            self._stop("entry", "before the first step")
            return
        last = self.timeline.moments[-1].visit
        is_end = self.state.cursor.is_end
        self._stop("finished" if is_end else "entry", f"resumed after visit {last.number} {last.name}")
        self._repeat_edits()

    def _repeat_edits(self) -> None:
        """What was changed by hand after the last visit is changed again."""
        for edit in self._late_edits:
            with contextlib.suppress(CommandRefused):
                if edit.what == "variable":
                    self.edit_variable(edit.name, edit.value, edit.item)
                elif edit.what == "parameter" and edit.alias is not None:
                    self.edit_parameter(edit.alias, edit.name, edit.value)
                elif edit.what == "input":
                    self.edit_input(edit.name, edit.value)
                elif edit.what == "state" and edit.item is not None:
                    self.edit_state(edit.item, edit.value)
        self._late_edits = ()

    def restore(self, timelines: Mapping[int, Timeline], present: int, late_edits: Sequence[Edit] = ()) -> None:
        """Take over the timelines of a saved session, before ``open``: it then stops where that session did.

        ``late_edits`` came after the last visit. Raises ``CannotRestore`` where the pipeline has other steps now.
        """
        begin = self.timeline.end
        assert begin is not None
        finish_timelines(self.program, timelines, self.bindings.known, begin)
        self.timelines = dict(timelines)
        self._uninitialised = set(self.prepared.pipeline.used_aliases())
        self.timeline = self.timelines[present]
        self._numbers = max((visit.number for t in timelines.values() for visit in t.visits), default=0)
        self._set_position(len(self.timeline.moments))
        self._late_edits = tuple(late_edits)
        self._is_complete = True

    async def close(self) -> None:
        """End the session: complete the record, stop every server. Nothing is left running."""
        if self.state.status == "closed":
            return
        if self._call is not None:
            self.cancel()
            await asyncio.wait([self._call])
        has_failed = self.state.stop is not None and self.state.stop.reason == "failed"
        try:
            if not self._is_complete and (self.visits or has_failed):
                await self._complete("failed" if has_failed else "interrupted")
            await self._recorder.close()
        finally:
            await self.tools.close()
        self.state = replace(self.state, status="closed", running=None)

    # ---- moving

    async def run(self, command: Command) -> Stopped:
        """Go on until the command's end, a breakpoint, a pause or a failure; returns why the run stopped.

        ``over`` runs the step at the cursor, a loop or branch as a whole; ``into`` goes to its first inner step;
        ``out`` finishes the innermost block; ``continue`` runs on. A step that failed or was cancelled runs anew.
        From a checkpoint in the past a fork begins. Raises ``CommandRefused``.
        """
        self._refuse_unless_stopped()
        return await self._run(command)

    async def run_to(self, step: str) -> Stopped:
        """Go on until before a step (by its path), or until something else stops the run. Raises ``CommandRefused``."""
        self._refuse_unless_stopped()
        if step not in self.program.steps:
            raise CommandRefused(f"there is no step {step}")
        return await self._run("continue", until=step)

    async def retry(self) -> Stopped:
        """Run the step at the cursor anew and stop after it; a router whose decision led nowhere is asked again."""
        self._refuse_unless_stopped()
        self._routes = None
        return await self._run("over")

    async def restart(self) -> None:
        """Begin the run anew, with the servers as they are; parameters that were edited stay so.

        The record of the run so far is completed.
        """
        if self.state.status == "running":
            raise CommandRefused("the run must be stopped before it can be restarted")
        if not self._is_complete:
            await self._complete("interrupted")
        await self._recorder.close()
        edited = edited_parameters(self.state.pool)
        self._begin()
        for alias, name, value in edited:
            self.state = replace(self.state, pool=edited_parameter(self.state.pool, alias, name, value))
        self.timeline.end = self._checkpoint()
        aliases = self.prepared.pipeline.used_aliases()
        self._emit(SessionStarted(pipeline=str(self.prepared.pipeline.file), servers=aliases))
        self._stop("entry", "restarted, before the first step")

    async def restart_server(self, alias: str) -> None:
        """Stop a server and start it anew; its initialising calls are repeated before its next step.

        Raises ``ServerStartFailed``.
        """
        self._uninitialised.add(alias)
        await self.tools.restart(alias)
        self._gone.discard(alias)
        await self.bindings.learn(alias)

    def pause(self) -> None:
        """Stop before the next step; a call that is under way is waited for."""
        self._pause_wanted = True

    def cancel(self) -> None:
        """Cancel the call that is under way; its server lives, the pool stays as it was."""
        if self._call is not None:
            self._is_cancelling = True
            self._call.cancel()

    async def _run(self, command: Command, until: str | None = None) -> Stopped:
        self._pause_wanted = False
        self._why = None
        self.state = replace(self.state, status="running", stop=None)
        self._emit(Continued(command=command))
        try:
            return await self._go(command, until)
        except BaseException:
            self.state = replace(self.state, status="stopped", running=None)
            raise

    async def _go(self, command: Command, until: str | None) -> Stopped:
        depth = self.state.cursor.depth
        is_first = True
        while (step := cursors.step_at(self.program, self.state.cursor)) is not None:
            stop = None if is_first else self._reason_to_stop(command, depth, step, until)
            is_first = False
            if stop is not None:
                return self._stop(*stop)
            if isinstance(step, ToolStep):
                failure = await self._run_step(step)
                if failure is not None:
                    return failure
            else:
                self._move(cursors.enter(self.program, self.state.cursor))
        await self._complete("finished")
        return self._stop("finished", "the pipeline has run to its end")

    def _reason_to_stop(
        self, command: Command, depth: int, step: Step, until: str | None
    ) -> tuple[StopReason, str] | None:
        now = self.state.cursor.depth
        why = self._hit("before", step, self.state.pool, self._items_of(step)) or self._why
        self._why = None
        if why is not None:
            return "breakpoint", why
        if self._pause_wanted:
            return "pause", "paused"
        if step.path == until:
            return "step", f"reached step {until}"
        if command == "into" or (command == "over" and now <= depth) or (command == "out" and now < depth):
            return "step", {"into": "stepped in", "over": "stepped", "out": "stepped out"}[command]
        return None

    def _hit(self, when: When, step: Step, pool: VariablePool, items: tuple[int, ...] | None) -> str | None:
        """Why a breakpoint stops the run before or after a step; logpoints print, and let it go on."""
        context = self._context()
        paths = [step.path]
        if when == "before" and self.state.cursor.frames[-1].index == 0:
            paths.append(self.state.cursor.frames[-1].block)
        found = {b.key: b for path in paths for b in self.breakpoints.at(path, step.name, when)}
        for breakpoint_ in found.values():
            why = breakpoint_.reason(pool, items, context)
            if why is None:
                continue
            counted = self.breakpoints.held(breakpoint_)
            if not counted.is_due():
                continue
            if counted.log is None:
                self.breakpoints.hit(counted)
                return why if when == "before" else f"{why}, after {step.path} {step.name}"
            self._emit(LogPrinted(step=step.path, name=step.name, text=render(counted.log, pool, context)))
        return None

    def _context(self) -> dict[str, Any]:
        rounds = self.state.place.round
        return {"round": rounds[-1] if rounds else 0, "visit": self._numbers + 1}

    def _items_of(self, step: Step) -> tuple[int, ...] | None:
        """The items that a step would handle, as far as that is known before it runs."""
        binding = self.bindings.known.get(step.path)
        if binding is not None:
            with contextlib.suppress(StepError):
                bound = self._bind(binding)
                if isinstance(bound, BoundInputs) and bound.items is not None:
                    return bound.items
        return self.state.cursor.items

    # ---- one step

    async def _run_step(self, step: ToolStep) -> Stopped | None:
        """Run the step at the cursor and move on; returns the stop if it failed or was cancelled."""
        if self._routes is not None:
            return self._follow_routes(step)
        visit = self._new_visit(step)
        self.state = replace(self.state, running=visit)
        work = self._call = asyncio.ensure_future(self._visit(step, visit))
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work
            raise
        finally:
            self._call = None
        was_cancelled, self._is_cancelling = work.cancelled() and self._is_cancelling, False
        if was_cancelled:
            return self._fail(visit, "cancelled", "cancelled")
        error = work.exception()
        if isinstance(error, ServerGone | ServerStartFailed):
            self._gone.add(step.alias)
        if isinstance(error, StepError | ToolsError):
            stopped = self._fail(visit, str(error), "failed")
            await self._publish()
            return stopped
        work.result()
        return self._follow_routes(step) if self._routes is not None else None

    async def _visit(self, step: ToolStep, visit: Visit) -> None:
        """Carry out a visit and keep it: the pool changes and the cursor moves only when it is on disk."""
        if step.alias in self._gone:
            await self.restart_server(step.alias)
        await self._initialise(step.alias)
        at = self._checkpoint()
        twin = self._twin(visit)
        kept = await self._visiting.run(
            self.program, step, at, visit, edits=self._edits, twin=twin, answers=self.answers, begun=self._begun
        )
        if isinstance(kept, Skip):
            self._skip(step, kept)
            return
        moment = Moment(at, kept.visit, kept.pool)
        timeline = self._timeline_to_go_on()
        await asyncio.shield(self._keep(timeline, moment))
        self._why = self._hit("after", step, kept.pool, kept.visit.items)
        self._why = self._why or self.breakpoints.watched(at.pool, kept.pool, self._context())
        self._finish(timeline, moment)
        if self.program.is_router(step):
            self._routes = dict(kept.visit.routes)
            self.timeline.end = self._checkpoint()
        else:
            self._move(cursors.advance(self.program, self.state.cursor))

    async def _initialise(self, alias: str) -> None:
        """Bring a server that was started anew to where the one before it was. Raises ``StepError``, ``ToolsError``."""
        if alias not in self._uninitialised:
            return
        await self.bindings.learn(alias)
        calls = await self._visiting.initialise(self.timeline.moments[: self.state.position], alias)
        self._uninitialised.discard(alias)
        if calls:
            self._emit(ServerInitialised(server=alias, calls=calls))

    async def _keep(self, timeline: Timeline, moment: Moment) -> None:
        """Put a visit on disk. Raises ``StepError`` where that can't be done."""
        try:
            await self._recorder.finished(timeline, moment)
        except OSError as error:
            raise StepError(f"{moment.visit.name} ran, but what it gave can't be kept: {error}") from None

    def _begun(self, visit: Visit) -> None:
        """Its server is up and has told what it offers; so the variables that steps give may be better known."""
        self.state = replace(self.state, running=visit)
        if not self.program.given:
            self.program = Program.of(self.prepared.pipeline, self.bindings.given())

    def _bind(self, binding: Binding) -> BoundInputs | Skip:
        branch = self.state.place.branch[-1] if self.state.place.branch else None
        return bind_inputs(binding, self.state.pool, self.state.cursor.items, branch, self._edits)

    def _new_visit(self, step: ToolStep) -> Visit:
        """A new visit, or the next attempt of the one that failed here."""
        place = self.state.place
        if self._failed is not None:
            number, attempt = self._failed.number, self._failed.attempt + 1
        else:
            self._numbers += 1
            number, attempt = self._numbers, 1
        return Visit(number, step.path, step.name, "running", attempt, place.round, place.branch, started=time.time())

    def _skip(self, step: ToolStep, skip: Skip) -> None:
        if self._failed is None:
            self._numbers -= 1
        self._failed = None
        place = self.state.place
        about: dict[str, Any] = {"round": place.round, "branch": place.branch}
        self._emit(StepSkipped(step=step.path, name=step.name, reason=skip.reason, **about))
        self.state = replace(self.state, running=None)
        self._move(cursors.advance(self.program, self.state.cursor, {}))

    def _finish(self, timeline: Timeline, moment: Moment) -> None:
        visit = moment.visit
        self._edits = {}
        self._failed = None
        self._is_complete = False
        self._go_on_in(timeline)
        timeline.moments.append(moment)
        count = len(timeline.moments)
        self.state = replace(self.state, pool=moment.after, running=None, position=count, length=count)
        for name, variable in visit.saved.items():
            size = shape(variable.value)
            self._emit(VariableWritten(name=name, visit=visit.number, shape=size, items=variable.written))
        self._emit(
            VisitFinished(
                attempt=visit.attempt,
                seconds=visit.seconds,
                outputs=tuple(visit.saved),
                warnings=visit.warnings,
                provenance=visit.provenance,
                follows_edit=visit.follows_edit,
                **visit.where(),
            )
        )

    def _fail(self, visit: Visit, error: str, reason: Literal["failed", "cancelled"]) -> Stopped:
        running = self.state.running or visit
        seconds = time.time() - visit.started
        self._failed = replace(running, status=reason, error=error, seconds=seconds)
        self.state = replace(self.state, running=None)
        self._emit(VisitFailed(attempt=visit.attempt, seconds=seconds, error=error, **self._failed.where()))
        return self._stop(reason, error if reason == "failed" else f"{visit.name} was cancelled")

    @property
    def failed(self) -> Visit | None:
        """The visit that failed or was cancelled at the cursor, until it is run anew."""
        return self._failed

    # ---- going back

    async def go_to(self, visit: int) -> Stopped:
        """Go to the checkpoint before a visit of this timeline, without running anything. Raises ``CommandRefused``."""
        self._refuse_while_busy()
        position = self.timeline.index_of(visit)
        if position is None:
            raise CommandRefused(f"there is no visit {visit} in timeline {self.timeline.number}")
        return self._travel(position)

    async def go_to_end(self) -> Stopped:
        """Go to the end of this timeline, without running anything."""
        self._refuse_while_busy()
        return self._travel(len(self.timeline.moments))

    async def step_back(self) -> Stopped:
        """Go to the checkpoint before the last visit. Raises ``CommandRefused``."""
        self._refuse_while_busy()
        if not self.state.position:
            raise CommandRefused("this is the beginning")
        return self._travel(self.state.position - 1)

    async def step_forth(self) -> Stopped:
        """Go over the next recorded visit, without running it. Raises ``CommandRefused``."""
        self._refuse_while_busy()
        if not self.state.is_past:
            raise CommandRefused("nothing is recorded after this")
        return self._travel(self.state.position + 1)

    async def round_back(self) -> Stopped:
        """Go to the begin of this round, or from there to that of the one before. Raises ``CommandRefused``."""
        self._refuse_while_busy()
        if not self.state.position:
            raise CommandRefused("this is the beginning")
        return self._travel(self.timeline.round_begins(self.state.position))

    async def switch_to(self, timeline: int) -> Stopped:
        """Go to the end of another timeline. Raises ``CommandRefused``."""
        self._refuse_while_busy()
        if timeline not in self.timelines:
            raise CommandRefused(f"there is no timeline {timeline}")
        await self._publish()
        self.timeline = self.timelines[timeline]
        await self._publish()
        return self._travel(len(self.timeline.moments))

    def _travel(self, position: int) -> Stopped:
        stateful = self._stateful_between(position, self.state.position)
        checkpoint = self._set_position(position)
        before = self.timeline.moments[position].visit.number if position < len(self.timeline.moments) else None
        self._emit(WentBack(visit=before, timeline=self.timeline.number, stateful=stateful))
        why = f"before visit {before}" if before is not None else "after the last visit"
        if stateful:
            why += f"; {', '.join(stateful)} kept the state of what ran since: restart it, if that matters"
        return self._stop("went back" if not checkpoint.cursor.is_end else "finished", why)

    def _set_position(self, position: int) -> Checkpoint:
        """Take over a checkpoint of this timeline: it costs the same however far away it is."""
        checkpoint = self.timeline.checkpoint(position)
        assert checkpoint is not None
        self._failed = None
        self._edits = {}
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
        return checkpoint

    def _stateful_between(self, begin: int, end: int) -> tuple[str, ...]:
        """The servers whose calls between two positions are not undone by going back over them."""
        found: dict[str, None] = {}
        for moment in self.timeline.moments[begin:end]:
            binding = self.bindings.known.get(moment.visit.step)
            if binding is not None and (binding.declaration.stateful or not binding.outputs):
                found[binding.step.alias] = None
        return tuple(found)

    def _twin(self, visit: Visit) -> Visit | None:
        """The recorded visit that this one would be a repetition of, after a fork or where one begins."""
        if self.answers == "run":
            return None
        timeline: Timeline | None = self.timeline
        position = self.state.position
        while timeline is not None:
            found = timeline.matching(position, visit)
            if found is not None or timeline.parent is None:
                return found
            parent = self.timelines[timeline.parent]
            forked_at = parent.index_of(timeline.parent_visit) if timeline.parent_visit is not None else None
            timeline, position = parent, forked_at if forked_at is not None else len(parent.moments)
        return None

    def _timeline_to_go_on(self) -> Timeline:
        """This timeline; from a checkpoint in the past a new one, and the one it leaves stays whole."""
        if not self.state.is_past:
            return self.timeline
        return self.timeline.fork(max(self.timelines) + 1, self.state.position)

    def _go_on_in(self, timeline: Timeline) -> None:
        if timeline is self.timeline:
            return
        left, self.timeline = self.timeline, timeline
        self.timelines = {**self.timelines, timeline.number: timeline}
        self.state = replace(self.state, timeline=timeline.number)
        self._emit(Forked(number=timeline.number, parent=left.number, parent_visit=timeline.parent_visit))

    # ---- routers

    @property
    def routes(self) -> Mapping[int, str] | None:
        """What the router at the cursor decided (item -> state), while its branches have not begun."""
        return self._routes

    def _follow_routes(self, step: ToolStep) -> Stopped | None:
        """Send each item to its branch; a state without a branch stops here, where the decision can be mended."""
        routes = self._routes or {}
        branch = self.program.blocks[self.state.cursor.frames[-1].block].owner
        assert isinstance(branch, BranchStep)
        try:
            check_states(step.name, routes, branch)
        except StepError as error:
            return self._stop("failed", str(error))
        self._routes = None
        self._move(cursors.advance(self.program, self.state.cursor, routes))
        return None

    def edit_state(self, item: int, state: str) -> None:
        """Change what the router at the cursor decided for one item. Raises ``CommandRefused``."""
        self._refuse_unless_stopped()
        if self._routes is None or item not in self._routes:
            raise CommandRefused(f"no router has just decided for item [{item}]")
        old, self._routes[item] = self._routes[item], state
        self._edited(Edit("state", self.state.place.name or "", state, item), old)

    # ---- looking and editing

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

    def edit_variable(self, name: str, value: Any, item: int | None = None) -> None:
        """Give a variable, or one item of an item list, another value. Raises ``CommandRefused``."""
        self._refuse_unless_stopped()
        before = self.state.pool.get(name)
        try:
            pool = edited_variable(self.state.pool, name, value, item)
        except StepError as error:
            raise CommandRefused(str(error)) from None
        self.state = replace(self.state, pool=pool)
        old = before.value if before is not None else None
        self._edited(Edit("variable", name, value, item), old[item] if old and item is not None else old)

    def edit_parameter(self, alias: str, name: str, value: Any) -> None:
        """Give a parameter of a server another value, from the next step on. Raises ``CommandRefused``."""
        self._refuse_unless_stopped()
        before = self.state.pool.parameters.get(alias, {}).get(name)
        self.state = replace(self.state, pool=edited_parameter(self.state.pool, alias, name, value))
        self._edited(Edit("parameter", name, value, alias=alias), before.value if before else None)

    def edit_input(self, argument: str, value: Any) -> None:
        """Change one input of the step at the cursor, for this visit only. Raises ``CommandRefused``."""
        self._refuse_unless_stopped()
        step = cursors.step_at(self.program, self.state.cursor)
        if not isinstance(step, ToolStep):
            raise CommandRefused("there is no tool at the cursor whose input could be edited")
        binding = self.bindings.known.get(step.path)
        if binding is not None and argument not in {a.name for a in binding.declaration.arguments}:
            raise CommandRefused(f"{step.name} has no input {argument}")
        bound = self.inputs()
        given = bound.arguments() if isinstance(bound, BoundInputs) else {}
        self._edits[argument] = value
        self._edited(Edit("input", argument, value), given.get(argument))

    def _edited(self, edit: Edit, old: Any) -> None:
        """Keep an edit and tell of it: the value before, and the one it has now."""
        last = self.timeline.moments[self.state.position - 1].visit.number if self.state.position else None
        self._recorder.edited(replace(edit, after_visit=last), self.timeline.number)
        name = f"{edit.alias}.{edit.name}" if edit.alias else edit.name
        self._emit(Edited(what=edit.what, name=name, item=edit.item, old=old, new=edit.value))

    # ---- the run as a whole

    def _checkpoint(self) -> Checkpoint:
        routes = dict(self._routes) if self._routes is not None else None
        return Checkpoint(self.state.cursor, self.state.pool, routes)

    def _move(self, move: Move) -> None:
        self._edits = {}
        self.state = replace(self.state, cursor=move.cursor, place=cursors.place_of(self.program, move.cursor))
        if not self.state.is_past:
            self.timeline.end = self._checkpoint()
        for fact in move.facts:
            self._emit(fact)

    def _stop(self, reason: StopReason, why: str) -> Stopped:
        place = self.state.place
        about: dict[str, Any] = {
            "step": place.step,
            "name": place.name,
            "round": place.round,
            "branch": place.branch,
        }
        stopped = Stopped(reason=reason, why=why, **about)
        status: Status = "finished" if reason == "finished" else "stopped"
        self.state = replace(self.state, status=status, stop=stopped, running=None)
        self._emit(stopped)
        return stopped

    async def _publish(self) -> None:
        """Write the memory file; where that fails the run is not lost, since its record is kept besides."""
        try:
            self.state = replace(self.state, memory=await self._recorder.complete(self.timeline))
        except OSError as error:
            self._emit(RecordFailed(message=f"the memory file can't be written: {error}"))

    async def _complete(self, outcome: Literal["finished", "failed", "interrupted"]) -> None:
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
