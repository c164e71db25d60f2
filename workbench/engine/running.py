"""Runs a session: step by step, until something stops it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any, Literal

from msgspec.structs import asdict, replace

from workbench.engine import cursor as cursors
from workbench.engine.breakpoints import When
from workbench.engine.events import (
    Continued,
    Forked,
    LogPrinted,
    StepSkipped,
    Stopped,
    VariableWritten,
    VisitFailed,
    VisitFinished,
)
from workbench.engine.expressions import render
from workbench.engine.inputs import BoundInputs, Skip, StepError
from workbench.engine.pool import VariablePool
from workbench.engine.ports import ServerGone, ServerStartFailed, ToolsError
from workbench.engine.program import Program
from workbench.engine.rebuilding import Rebuilding
from workbench.engine.routing import routes_in_words, unknown_states
from workbench.engine.state import Command, CommandRefused, StopReason
from workbench.engine.timeline import Moment, Timeline
from workbench.engine.values import shape
from workbench.engine.visit import Visit
from workbench.pipeline.model import BranchStep, LoopStep, Step, ToolStep


class Running(Rebuilding):
    """The commands that run steps. ``pause`` and ``cancel`` take effect while another of them runs."""

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
        """Run the step at the cursor anew and stop after it; a router that has decided is asked again, in a fork."""
        self._refuse_unless_stopped()
        if self._routes is not None:
            self._set_position(self.state.position - 1)
        return await self._run("over")

    def pause(self) -> None:
        """Stop before the next step; a call that is under way is waited for."""
        self._pause_wanted = True

    def cancel(self) -> None:
        """Cancel the call that is under way; its server lives, the pool stays as it was."""
        if self._call is not None and not self._is_keeping:
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
                stopped = await self._run_step(step, ends_command=_ends_here(command, depth, self.state.cursor.depth))
                if stopped is not None:
                    return stopped
            else:
                self._move(cursors.enter(self.program, self.state.cursor))
        if self._why is not None:
            why, self._why = self._why, None
            return self._stop("breakpoint", why)
        await self._complete("finished")
        return self._stop("finished", "the pipeline has run to its end")

    async def rebuild(self) -> Stopped:
        """Answer from the recording up to where it goes live, or to the first step that lacks in it.

        Nothing is called on the way but routers that are pure, whose decisions the recording does not hold.
        """
        while isinstance(step := cursors.step_at(self.program, self.state.cursor), LoopStep | BranchStep):
            self._move(cursors.enter(self.program, self.state.cursor))
        why = self._why_live(step) if step is not None else None
        return self._stop(*why) if why is not None else await self._run("continue")

    # ---- where it stops

    def _reason_to_stop(
        self, command: Command, depth: int, step: Step, until: str | None
    ) -> tuple[StopReason, str] | None:
        if self.is_rebuilding:
            return ("pause", "paused") if self._pause_wanted else self._why_live(step)
        why = self._hit("before", step, self.state.pool, self._items_of(step)) or self._why
        self._why = None
        if why is not None:
            return "breakpoint", why
        if self._pause_wanted:
            return "pause", "paused"
        if step.path == until:
            return "step", f"reached step {until}"
        if _ends_here(command, depth, self.state.cursor.depth):
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
            place = self.state.place
            about: dict[str, Any] = {"round": place.round, "branch": place.branch}
            text = render(counted.log, pool, context)
            self._emit(LogPrinted(step=step.path, name=step.name, text=text, **about))
        return None

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

    async def _run_step(self, step: ToolStep, *, ends_command: bool) -> Stopped | None:
        """Run the step at the cursor and move on; returns the stop if it failed or was cancelled.

        A router is a step of its own: where the command ends with it, the run stops before its branches begin.
        """
        if self._routes is not None:
            return await self._follow_routes(step)
        visit = self._new_visit(step)
        self.state = replace(self.state, running=visit)
        work = self._call = asyncio.ensure_future(self._visit(step, visit))
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError:
            if not self._is_keeping:
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
        if isinstance(error, StepError | ToolsError) and step.is_implied:
            self._pass_over(step, visit, error)
            return None
        if isinstance(error, StepError | ToolsError):
            stopped = self._fail(visit, str(error), "failed")
            await (self._publish() if self.breakpoints.on_failure else self._complete("failed"))
            return stopped
        work.result()
        return await self._after_router(step, ends_command=ends_command)

    async def _after_router(self, step: ToolStep, *, ends_command: bool) -> Stopped | None:
        """Follow what a router has just decided; a stop before the branches begin is where it can be changed."""
        if self._routes is None:
            return None
        why, self._why = self._why, None
        if why is not None:
            return self._stop("breakpoint", why)
        unknown = unknown_states(step.name, self._routes, self._branch_at_cursor())
        if unknown is not None:
            return await self._led_nowhere(unknown)
        if ends_command:
            return self._stop("step", f"{step.name} decided: {routes_in_words(self._routes)}")
        return await self._follow_routes(step)

    async def _led_nowhere(self, why: str) -> Stopped:
        """A router's decision that no branch is there for stops the run where it can be mended."""
        stopped = self._stop("failed", why)
        if not self.breakpoints.on_failure:
            await self._complete("failed")
        return stopped

    async def _visit(self, step: ToolStep, visit: Visit) -> None:
        """Carry out a visit and keep it: the pool changes and the cursor moves only when it is on disk."""
        answers = self.answers_of(step.path)
        recording = self.recording
        if recording is not None and recording.is_rebuilding:
            self._repeat_edits(recording.edits_before(visit))
        at = self._checkpoint()
        kept = await self._visiting.run(
            self.program,
            step,
            at,
            visit,
            edits=self._edits,
            twin=self._twin(visit),
            answers=answers,
            begun=self._begun,
            recording=recording if recording is not None and recording.knows(visit, answers) else None,
            ready=self._ready,
        )
        if isinstance(kept, Skip):
            self._skip(step, kept)
            return
        if recording is not None and kept.visit.provenance == "recorded" and not kept.visit.saved:
            self._uninitialised.add(step.alias)  # what it does to its server was not done
        moment = Moment(at, kept.visit, kept.pool)
        timeline = self._timeline_to_go_on()
        await self._keep(timeline, moment)
        if not self.is_rebuilding:
            self._why = self._hit("after", step, kept.pool, kept.visit.items)
            self._why = self._why or self.breakpoints.watched(at.pool, kept.pool, self._context())
        self._finish(timeline, moment)
        if self.program.is_router(step):
            self._routes = dict(kept.visit.routes)
            self.timeline.end = self._checkpoint()
        else:
            self._move(cursors.advance(self.program, self.state.cursor))

    async def _keep(self, timeline: Timeline, moment: Moment) -> None:
        """Put a visit on disk. Raises ``StepError`` where that can't be done.

        From here on it can't be cancelled: what is on disk must be in the timeline too.
        """
        self._is_keeping = True
        try:
            await self._recorder.finished(timeline, moment)
        except OSError as error:
            raise StepError(f"{moment.visit.name} ran, but what it gave can't be kept: {error}") from None
        finally:
            self._is_keeping = False

    def _begun(self, visit: Visit) -> None:
        """Its server is up and has told what it offers; so the variables that steps give may be better known."""
        self.state = replace(self.state, running=visit)
        if not self.program.given:
            self.program = Program.of(self.prepared.pipeline, self.bindings.given())

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
        self._skipped.append(step.path)
        self._move(cursors.advance(self.program, self.state.cursor, {}))

    def _finish(self, timeline: Timeline, moment: Moment) -> None:
        visit = moment.visit
        self._edits = {}
        self._pending = []
        self._skipped = []
        self._failed = None
        self._is_complete = False
        self._go_on_in(timeline)
        timeline.moments.append(moment)
        if visit.is_stateful:
            self._stands[visit.alias] = (timeline, len(timeline.moments))
        count = len(timeline.moments)
        self.state = replace(self.state, pool=moment.after, running=None, position=count, length=count)
        for name, variable in visit.saved.items():
            size = shape(variable.value)
            self._emit(VariableWritten(name=name, visit=visit.number, shape=size, items=variable.written))
        self._emit(
            VisitFinished(
                seconds=visit.seconds,
                **(asdict(visit.timing) if visit.timing is not None else {}),
                outputs=tuple(visit.saved),
                failed=tuple(visit.failures),
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
        self._emit(VisitFailed(seconds=seconds, error=error, **self._failed.where()))
        why = error if reason == "failed" else f"{visit.name} was cancelled"
        return self._stop(reason, why, visit=visit.number)

    def _pass_over(self, step: ToolStep, visit: Visit, error: Exception) -> None:
        """Go on after a step that failed and that the file does not have: the run is as good without it."""
        place = self.state.place
        seconds = time.time() - visit.started
        self._emit(VisitFailed(seconds=seconds, error=str(error), **(self.state.running or visit).where()))
        reason = f"it failed, and the run is over all the same: {error}"
        self._emit(StepSkipped(step=step.path, name=step.name, reason=reason, round=place.round, branch=place.branch))
        self._failed = None
        self.state = replace(self.state, running=None)
        self._skipped.append(step.path)
        self._move(cursors.advance(self.program, self.state.cursor, {}))

    async def _follow_routes(self, step: ToolStep) -> Stopped | None:
        """Send each item to its branch; a state without a branch stops here, where the decision can be mended."""
        routes = self._routes or {}
        unknown = unknown_states(step.name, routes, self._branch_at_cursor())
        if unknown is not None:
            return await self._led_nowhere(unknown)
        self._routes = None
        self._move(cursors.advance(self.program, self.state.cursor, routes))
        return None

    def _branch_at_cursor(self) -> BranchStep:
        branch = self.program.blocks[self.state.cursor.frames[-1].block].owner
        assert isinstance(branch, BranchStep)
        return branch

    # ---- forks

    def _timeline_to_go_on(self) -> Timeline:
        """This timeline; from a checkpoint in the past, or the end of a closed one, a fork: it stays whole."""
        if not self.state.is_past and not self.timeline.is_closed:
            return self.timeline
        return self.timeline.fork(max(self.timelines) + 1, self.state.position)

    def _go_on_in(self, timeline: Timeline) -> None:
        if timeline is self.timeline:
            return
        left, self.timeline = self.timeline, timeline
        self.timelines = {**self.timelines, timeline.number: timeline}
        self.state = replace(self.state, timeline=timeline.number, length=len(timeline.moments))
        self._emit(Forked(number=timeline.number, parent=left.number, parent_visit=timeline.parent_visit))


def _ends_here(command: Command, depth: int, now: int) -> bool:
    """Whether a command that was given at one depth of blocks stops at another."""
    return command == "into" or (command == "over" and now <= depth) or (command == "out" and now < depth)
