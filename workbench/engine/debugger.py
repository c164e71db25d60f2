"""The debugger: commands in, events out. Every front end, with a screen or without, drives this one class."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from workbench.engine.bindings import Bindings
from workbench.engine.editing import Editing, Parameters
from workbench.engine.edits import edited_parameters
from workbench.engine.events import Reloaded, SessionStarted, Stopped
from workbench.engine.pool import VariablePool
from workbench.engine.program import Program
from workbench.engine.restoring import Restored, as_run, restored
from workbench.engine.state import CommandRefused, Outcome, Status
from workbench.engine.timeline import AsRun, Timeline
from workbench.pipeline.binding import Binding
from workbench.pipeline.outline import Outline, outline_of
from workbench.pipeline.prepare import Prepared


class Debugger(Editing):
    """One pipeline, run step by step, forth and back, and changed by hand.

    Commands are coroutines of the loop that ``open`` ran on.
    """

    # ---- the session

    async def open(self, *, wait_for_servers: bool, start_servers: bool = True) -> None:
        """Start the servers the pipeline uses, and stop before the first step, or where a saved session stopped.

        With ``wait_for_servers`` all of them must be up and agree with the pipeline: raises ``ServerStartFailed``,
        ``PipelineError``. Without, a server is waited for when its first step is reached; without
        ``start_servers`` it is started only then. Raises ``OSError`` where the run could not be kept.
        """
        aliases = self.prepared.pipeline.used_aliases()
        self._begin_record()
        self._emit(SessionStarted(pipeline=str(self.prepared.pipeline.file), servers=aliases))
        self._starts_servers = start_servers
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
        self._recorder.went_to(self.timeline)
        self._repeat(self._late_edits)
        self._late_edits = ()
        self.take_parameters(self.prepared.parameters.values)

    def restore(
        self,
        timelines: Mapping[int, Timeline],
        present: int,
        *,
        outlines: Mapping[int, Outline] | None = None,
        begin: Parameters | None = None,
    ) -> str | None:
        """Take over the timelines of a saved session, before ``open``: it then stops where that session did.

        ``outlines`` are of the pipeline as each timeline was run, ``begin`` the parameters that the first one began
        with; the end of each timeline has the edits after its last visit. Visits that do not fit the pipeline of today
        are left out, and what runs on is a fork: returns why then.
        """
        self._given_parameters = begin if begin is not None else self.prepared.parameters.values
        self._begin_pool = pool = VariablePool(parameters=self._given_parameters)
        now, outlines = outline_of(self.prepared.pipeline), outlines or {}
        ran = {number: AsRun(timeline, outlines.get(number, now)) for number, timeline in timelines.items()}
        found = restored(self.program, ran, bindings=self.bindings.known, begin=pool)
        self.timelines = found.timelines
        self._uninitialised = set(self.prepared.pipeline.used_aliases())
        self.timeline = self.timelines[present]
        self._numbers = max((visit.number for t in timelines.values() for visit in t.visits), default=0)
        end = self._set_position(len(self.timeline.moments))
        self._late_edits = tuple(edit for edit in end.edits if edit.what == "input")
        self._is_complete = True
        return found.cuts[present]

    # ---- files that were saved while it stood

    def reloading(self, prepared: Prepared) -> tuple[int, str | None]:
        """The visits before the cursor after a ``reload``; and where they are fewer than now, why no more fit."""
        return self._place_in(self._fitted(prepared, prepared.checked.bindings))

    async def reload(self, prepared: Prepared, saved_servers: Iterable[str] = ()) -> Stopped:
        """Go on with the pipeline as its files are now, keeping the past as far as it fits.

        A run that stands at the end of its timeline stands there afterwards, also where visits fit again that did not
        fit before. It can't be left half done: cancelling it leaves it to its end.

        Servers that are started otherwise now, and ``saved_servers``, whose code was saved, begin anew before their
        next step, and their initialising calls are repeated. Breakpoints move with their steps.
        Raises ``CommandRefused``, ``OSError`` where the pipeline can't be kept: nothing is changed then.
        """
        self._refuse_while_busy()
        status = self.state.status
        self.state = replace(self.state, status="running")
        self._reload = asyncio.ensure_future(self._read_anew(prepared, saved_servers, status))
        return await asyncio.shield(self._reload)

    async def _read_anew(self, prepared: Prepared, saved_servers: Iterable[str], status: Status) -> Stopped:
        try:
            await self._recorder.reloaded(prepared)
            restarted = await self._begin_servers_anew(prepared, saved_servers)
        finally:
            self.state = replace(self.state, status=status)
        old, new = outline_of(self.prepared.pipeline), outline_of(prepared.pipeline)
        position, pending = self.state.position, list(self._pending)
        bindings = Bindings(prepared, self.tools)
        found = self._fitted(prepared, bindings.known)
        cut = self._place_in(found)[1]
        self.prepared, self.bindings, self._visiting.bindings = prepared, bindings, bindings
        self.program = Program.of(prepared.pipeline, bindings.given())
        gone = self.breakpoints.move(old, new)
        if old != new:
            self._take_over(found)
            if self.state.position == position:
                self._repeat([edit for edit in pending if edit not in self._pending])
        parameters = self.take_parameters(prepared.parameters.values)
        self._emit(
            Reloaded(
                cut=cut,
                visits=self.state.position,
                servers=restarted,
                parameters=parameters,
                breakpoints_gone=tuple(b.key for b in gone),
            )
        )
        kept = f"; {cut}: the run goes on from before it" if cut is not None else ""
        return self._stop("reloaded", f"reloaded{kept}")

    def _fitted(self, prepared: Prepared, bindings: Mapping[str, Binding]) -> Restored:
        ran = as_run(self.timelines, outline_of(self.prepared.pipeline))
        return restored(Program.of(prepared.pipeline), ran, bindings=bindings, begin=self._begin_pool)

    def _place_in(self, found: Restored) -> tuple[int, str | None]:
        """Where the run stands in timelines that were fitted anew; and why that is before where it stood."""
        number, position = self.timeline.number, self.state.position
        end = len(found.timelines[number].moments)
        here = min(position, end) if self.state.is_past else end
        return here, found.cuts[number] if here < position else None

    def _take_over(self, found: Restored) -> None:
        """Stand where the run stood, or at the end of what was kept of its timeline."""
        position, _ = self._place_in(found)
        stands = {alias: (timeline.number, place) for alias, (timeline, place) in self._stands.items()}
        self.timelines = found.timelines
        self._stands = {alias: (self.timelines[number], place) for alias, (number, place) in stands.items()}
        self.timeline = self.timelines[self.timeline.number]
        self._set_position(position)
        self._recorder.went_to(self.timeline)

    async def _begin_servers_anew(self, prepared: Prepared, saved: Iterable[str]) -> tuple[str, ...]:
        stopped = {*await self.tools.take(prepared.used_sources()), *saved}
        for alias in stopped:
            await self.tools.stop(alias)
        self._uninitialised |= stopped
        if self._starts_servers:
            self.tools.start(prepared.pipeline.used_aliases())
        return tuple(sorted(stopped))

    # ---- the end, and a new beginning

    async def close(self) -> None:
        """End the session: complete the record, stop every server. Nothing is left running."""
        if self.state.status == "closed":
            return
        if self._reload is not None:
            await asyncio.wait([self._reload])
        if self._call is not None:
            self.cancel()
            await asyncio.wait([self._call])
        outcome = self._outcome()
        try:
            if not self._is_complete and (self.visits or outcome == "failed"):
                await self._complete(outcome)
            if self._record is not None:
                await self._record.close()
        finally:
            await self.tools.close()
        self.state = replace(self.state, status="closed", running=None)

    def _outcome(self) -> Outcome:
        reason = self.state.stop.reason if self.state.stop is not None else None
        if reason == "failed":
            return "failed"
        if self.state.cursor.is_end:
            return "finished"
        return "stopped" if reason == "breakpoint" else "interrupted"

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
        self._begin_record()
        for alias, name, value in edited:
            self._set_parameter(alias, name, value, None)
        self.breakpoints.start_over()
        aliases = self.prepared.pipeline.used_aliases()
        self._emit(SessionStarted(pipeline=str(self.prepared.pipeline.file), servers=aliases))
        self._stop("entry", "restarted, before the first step")
