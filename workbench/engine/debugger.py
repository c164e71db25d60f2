"""The debugger: commands in, events out. Every front end, with a screen or without, drives this one class."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from workbench.engine import cursor as cursors
from workbench.engine.bindings import Bindings
from workbench.engine.breakpoints import Breakpoints
from workbench.engine.cursor import Cursor, Move, Place
from workbench.engine.edits import edited_parameter, edited_variable
from workbench.engine.events import (
    Continued,
    Edited,
    Emit,
    RunFinished,
    SessionStarted,
    StepSkipped,
    Stopped,
    VariableWritten,
    VisitFailed,
    VisitFinished,
    VisitProgress,
    VisitStarted,
)
from workbench.engine.inputs import BoundInputs, Skip, StepError, bind_inputs
from workbench.engine.pool import VariablePool
from workbench.engine.ports import Call, Progress, Recorder, Tools, ToolsError
from workbench.engine.program import Program
from workbench.engine.routing import check_states
from workbench.engine.values import shape
from workbench.engine.visit import Visit
from workbench.engine.visiting import keep_result
from workbench.pipeline.model import BranchStep, Step, ToolStep
from workbench.pipeline.prepare import Prepared

Command = Literal["over", "into", "out", "continue"]
Status = Literal["starting", "stopped", "running", "finished", "closed"]
StopReason = Literal["entry", "step", "breakpoint", "pause", "failed", "cancelled", "finished"]


@dataclass(frozen=True)
class State:
    """All of a session at one moment, replaced as a whole: a reader on another thread never sees half of one."""

    status: Status
    cursor: Cursor
    pool: VariablePool
    place: Place
    stop: Stopped | None = None
    running: Visit | None = None
    memory: str | None = None


class CommandRefused(Exception):
    """A command that can't be carried out now; ``str()`` says why."""


class Debugger:
    """One pipeline, run step by step.

    ``tools`` run its steps, ``record`` opens what keeps a run. Commands are coroutines of the loop that ``open`` ran
    on; ``pause`` and ``cancel`` take effect while one of them runs. ``state``, ``visits`` and ``breakpoints`` may be
    read at any time and from any thread.
    """

    def __init__(self, prepared: Prepared, tools: Tools, *, emit: Emit, record: Callable[[], Recorder]) -> None:
        self.prepared = prepared
        self.tools = tools
        self.bindings = Bindings(prepared, tools)
        self.breakpoints = Breakpoints()
        self.visits: list[Visit] = []
        self._emit = emit
        self._open_record = record
        self._numbers = 0
        self._begin()

    def _begin(self) -> None:
        """Set everything that belongs to one run to its start."""
        self.program = Program.of(self.prepared.pipeline, self.bindings.given())
        self._recorder = self._open_record()
        self._started = time.monotonic()
        self._edits: dict[str, Any] = {}
        self._failed: Visit | None = None
        self._routes: dict[int, str] | None = None
        self._call: asyncio.Task[Any] | None = None
        self._is_cancelling = False
        self._pause_wanted = False
        self._is_complete = False
        pool = VariablePool(parameters=self.prepared.parameters.values)
        cursor = Cursor()
        self.state = State("starting", cursor, pool, cursors.place_of(self.program, cursor))

    # ---- the session

    async def open(self, *, wait_for_servers: bool) -> None:
        """Start the servers the pipeline uses, and stop before the first step.

        With ``wait_for_servers`` all of them must be up and agree with the pipeline: raises ``ServerStartFailed``,
        ``PipelineError``. Without, a server is waited for when its first step is reached.
        """
        aliases = self.prepared.pipeline.used_aliases()
        self._emit(SessionStarted(pipeline=str(self.prepared.pipeline.file), servers=aliases))
        self.tools.start(aliases)
        if wait_for_servers:
            await asyncio.gather(*(self.bindings.learn(alias) for alias in aliases))
            self.bindings.check()
        self.program = Program.of(self.prepared.pipeline, self.bindings.given())
        self._stop("entry", "before the first step")

    async def close(self) -> None:
        """End the session: complete the record, stop every server. Nothing is left running."""
        if self.state.status == "closed":
            return
        if self._call is not None:
            self.cancel()
            await asyncio.wait([self._call])
        if not self._is_complete and self.state.status != "starting":
            await self._complete("failed" if self._failed is not None else "interrupted")
        await self._recorder.close()
        await self.tools.close()
        self.state = replace(self.state, status="closed", running=None)

    # ---- moving

    async def run(self, command: Command) -> Stopped:
        """Go on until the command's end, a breakpoint, a pause or a failure; returns why the run stopped.

        ``over`` runs the step at the cursor, a loop or branch as a whole; ``into`` goes to its first inner step;
        ``out`` finishes the innermost block; ``continue`` runs on. A step that failed or was cancelled runs anew.
        Raises ``CommandRefused``.
        """
        self._refuse_unless_stopped()
        self._pause_wanted = False
        self.state = replace(self.state, status="running", stop=None)
        self._emit(Continued(command=command))
        try:
            return await self._go(command)
        except BaseException:
            self.state = replace(self.state, status="stopped", running=None)
            raise

    async def retry(self) -> Stopped:
        """Run the step at the cursor anew and stop after it; a router whose decision led nowhere is asked again."""
        self._routes = None
        return await self.run("over")

    async def restart(self) -> None:
        """Begin the run anew, with the servers as they are. The record of the run so far is completed."""
        if self.state.status == "running":
            raise CommandRefused("the run must be stopped before it can be restarted")
        if not self._is_complete:
            await self._complete("interrupted")
        await self._recorder.close()
        self.visits.clear()
        self._begin()
        self._emit(
            SessionStarted(pipeline=str(self.prepared.pipeline.file), servers=self.prepared.pipeline.used_aliases())
        )
        self._stop("entry", "restarted, before the first step")

    async def restart_server(self, alias: str) -> None:
        """Stop a server and start it anew. Raises ``ServerStartFailed``."""
        await self.tools.restart(alias)
        await self.bindings.learn(alias)

    def pause(self) -> None:
        """Stop before the next step; a call that is under way is waited for."""
        self._pause_wanted = True

    def cancel(self) -> None:
        """Cancel the call that is under way; its server lives, the pool stays as it was."""
        if self._call is not None:
            self._is_cancelling = True
            self._call.cancel()

    async def _go(self, command: Command) -> Stopped:
        depth = self.state.cursor.depth
        is_first = True
        while (step := cursors.step_at(self.program, self.state.cursor)) is not None:
            stop = None if is_first else self._reason_to_stop(command, depth, step)
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

    def _reason_to_stop(self, command: Command, depth: int, step: Step) -> tuple[StopReason, str] | None:
        now = self.state.cursor.depth
        found = self.breakpoints.by_step.get(step.path)
        if found is not None:
            rounds = self.state.place.round
            context = {"round": rounds[-1] if rounds else 0, "visit": self._numbers + 1}
            why = found.reason(self.state.pool, self._items_of(step), context)
            if why is not None:
                self.breakpoints.hit(step.path)
                return "breakpoint", why
        if self._pause_wanted:
            return "pause", "paused"
        if command == "into" or (command == "over" and now <= depth) or (command == "out" and now < depth):
            return "step", {"into": "stepped in", "over": "stepped", "out": "stepped out"}[command]
        return None

    def _items_of(self, step: Step) -> tuple[int, ...] | None:
        """The items that a step would handle, as far as that is known before it runs."""
        binding = self.bindings.known.get(step.path)
        if binding is not None:
            try:
                bound = self._bind(binding)
            except StepError:
                return self.state.cursor.items
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
        work = asyncio.ensure_future(self._visit(step, visit))
        self._call = work
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work
            raise
        finally:
            self._call = None
        if work.cancelled() and self._is_cancelling:
            self._is_cancelling = False
            return self._fail(visit, "cancelled", "cancelled")
        self._is_cancelling = False
        error = work.exception()
        if isinstance(error, StepError | ToolsError):
            stopped = self._fail(visit, str(error), "failed")
            await self._publish()
            return stopped
        work.result()
        return self._follow_routes(step) if self._routes is not None else None

    async def _visit(self, step: ToolStep, visit: Visit) -> None:
        """Bind, call, keep, record: the pool changes and the cursor moves only when all of that is done."""
        binding = await self.bindings.of(step)
        if not self.program.given:
            self.program = Program.of(self.prepared.pipeline, self.bindings.given())
        bound = self._bind(binding)
        if isinstance(bound, Skip):
            self._skip(step, bound)
            return
        visit = replace(visit, bound=bound, items=bound.items)
        self.state = replace(self.state, running=visit)
        self._emit(VisitStarted(attempt=visit.attempt, **_where(visit)))
        call = Call(
            alias=step.alias,
            tool=step.tool,
            kind=binding.declaration.kind,
            arguments=bound.arguments(),
            visit=visit.number,
            items=bound.items,
            on_progress=lambda progress: self._progress(visit, progress),
        )
        result = await self.tools.call(call)
        kept = keep_result(self.program, binding, bound, result=result, state=self.state, visit=visit)
        await asyncio.shield(self._recorder.finished(kept.visit))
        self._finish(kept.visit, kept.pool)
        if binding.is_router:
            self._routes = dict(kept.visit.routes)
        else:
            self._move(cursors.advance(self.program, self.state.cursor))

    def _bind(self, binding: Any) -> BoundInputs | Skip:
        place = self.state.place
        branch = place.branch[-1] if place.branch else None
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

    def _progress(self, visit: Visit, progress: Progress) -> None:
        self._emit(
            VisitProgress(progress=progress.progress, total=progress.total, message=progress.message, **_where(visit))
        )

    def _skip(self, step: ToolStep, skip: Skip) -> None:
        if self._failed is None:
            self._numbers -= 1
        self._failed = None
        place = self.state.place
        self._emit(
            StepSkipped(step=step.path, name=step.name, reason=skip.reason, round=place.round, branch=place.branch)
        )
        self.state = replace(self.state, running=None)
        self._move(cursors.advance(self.program, self.state.cursor, {}))

    def _finish(self, visit: Visit, pool: VariablePool) -> None:
        self._edits = {}
        self._failed = None
        self.visits.append(visit)
        self.state = replace(self.state, pool=pool, running=None)
        for name, variable in visit.saved.items():
            self._emit(
                VariableWritten(name=name, visit=visit.number, shape=shape(variable.value), items=variable.written)
            )
        self._emit(
            VisitFinished(
                attempt=visit.attempt,
                seconds=visit.seconds,
                outputs=tuple(visit.saved),
                warnings=visit.warnings,
                **_where(visit),
            )
        )

    def _fail(self, visit: Visit, error: str, reason: Literal["failed", "cancelled"]) -> Stopped:
        running = self.state.running or visit
        seconds = time.time() - visit.started
        self._failed = replace(running, status=reason, error=error, seconds=seconds)
        self.state = replace(self.state, running=None)
        self._emit(VisitFailed(attempt=visit.attempt, seconds=seconds, error=error, **_where(self._failed)))
        return self._stop(reason, error if reason == "failed" else f"{visit.name} was cancelled")

    @property
    def failed(self) -> Visit | None:
        """The visit that failed or was cancelled at the cursor, until it is run anew."""
        return self._failed

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
        self._routes[item] = state
        self._emit(Edited(what="state", name=state, item=item))

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
        try:
            pool = edited_variable(self.state.pool, name, value, item)
        except StepError as error:
            raise CommandRefused(str(error)) from None
        self.state = replace(self.state, pool=pool)
        self._emit(Edited(what="variable", name=name, item=item))

    def edit_parameter(self, alias: str, name: str, value: Any) -> None:
        """Give a parameter of a server another value, from the next step on. Raises ``CommandRefused``."""
        self._refuse_unless_stopped()
        self.state = replace(self.state, pool=edited_parameter(self.state.pool, alias, name, value))
        self._emit(Edited(what="parameter", name=f"{alias}.{name}"))

    def edit_input(self, argument: str, value: Any) -> None:
        """Change one input of the step at the cursor, for this visit only. Raises ``CommandRefused``."""
        self._refuse_unless_stopped()
        step = cursors.step_at(self.program, self.state.cursor)
        if not isinstance(step, ToolStep):
            raise CommandRefused("there is no tool at the cursor whose input could be edited")
        binding = self.bindings.known.get(step.path)
        if binding is not None and argument not in {a.name for a in binding.declaration.arguments}:
            raise CommandRefused(f"{step.name} has no input {argument}")
        self._edits[argument] = value
        self._emit(Edited(what="input", name=argument))

    # ---- the run as a whole

    def _move(self, move: Move) -> None:
        self._edits = {}
        self.state = replace(self.state, cursor=move.cursor, place=cursors.place_of(self.program, move.cursor))
        for fact in move.facts:
            self._emit(fact)

    def _stop(self, reason: StopReason, why: str) -> Stopped:
        place = self.state.place
        stopped = Stopped(
            reason=reason, why=why, step=place.step, name=place.name, round=place.round, branch=place.branch
        )
        status: Status = "finished" if reason == "finished" else "stopped"
        self.state = replace(self.state, status=status, stop=stopped, running=None)
        self._emit(stopped)
        return stopped

    async def _publish(self) -> None:
        self.state = replace(self.state, memory=await self._recorder.complete())

    async def _complete(self, outcome: Literal["finished", "failed", "interrupted"]) -> None:
        self._is_complete = True
        await self._publish()
        self._emit(
            RunFinished(
                outcome=outcome,
                visits=len(self.visits),
                seconds=time.monotonic() - self._started,
                memory=self.state.memory,
            )
        )

    def _refuse_unless_stopped(self) -> None:
        refusals = {
            "starting": "the session is still starting",
            "running": "a step is running: pause or cancel it first",
            "finished": "the pipeline has run to its end: restart it",
            "closed": "the session is closed",
        }
        if self.state.status in refusals:
            raise CommandRefused(refusals[self.state.status])


def _where(visit: Visit) -> dict[str, Any]:
    return {
        "visit": visit.number,
        "step": visit.step,
        "name": visit.name,
        "round": visit.round,
        "branch": visit.branch,
        "items": visit.items,
    }
