"""The debugger: commands in, events out. Every front end, with a screen or without, drives this one class."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.engine import cursor as cursors
from workbench.engine.edits import edited_parameter, edited_parameters, edited_variable
from workbench.engine.events import Edited, SessionStarted, Stopped, WentBack
from workbench.engine.inputs import BoundInputs, StepError
from workbench.engine.pool import VariablePool
from workbench.engine.ports import Edit
from workbench.engine.program import Program
from workbench.engine.restoring import restored
from workbench.engine.running import Running
from workbench.engine.state import CommandRefused, Outcome
from workbench.engine.timeline import Timeline
from workbench.pipeline.model import ToolStep
from workbench.pipeline.outline import Outline
from workbench.pipeline.parameters import ParameterValue

Parameters = Mapping[str, Mapping[str, ParameterValue]]


class Debugger(Running):
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
        self.take_parameters(self.prepared.parameters.values)

    def restore(
        self,
        timelines: Mapping[int, Timeline],
        present: int,
        *,
        outlines: Mapping[int, Outline] | None = None,
        begin: Parameters | None = None,
        late_edits: Sequence[Edit] = (),
    ) -> str | None:
        """Take over the timelines of a saved session, before ``open``: it then stops where that session did.

        ``outlines`` are of the pipeline as each timeline was run, ``begin`` the parameters that the first one began
        with, ``late_edits`` came after the last visit. Visits that do not fit the pipeline of today are left out, and
        what runs on is a new timeline: returns why then.
        """
        self._given_parameters = begin if begin is not None else self.prepared.parameters.values
        pool = VariablePool(parameters=self._given_parameters)
        bindings = self.bindings.known
        found = restored(self.program, timelines, present, outlines=outlines or {}, bindings=bindings, begin=pool)
        self.timelines = found.timelines
        self._uninitialised = set(self.prepared.pipeline.used_aliases())
        self.timeline = self.timelines[found.present]
        self._numbers = max((visit.number for t in timelines.values() for visit in t.visits), default=0)
        self._set_position(len(self.timeline.moments))
        self._late_edits = tuple(late_edits) if found.cut is None else ()
        self._is_complete = True
        return found.cut

    def take_parameters(self, parameters: Parameters) -> tuple[str, ...]:
        """Give parameters the values that their files have now, from the next step on; returns those that changed.

        What was edited by hand, or written by a step, stays. Raises ``CommandRefused``.
        """
        self._refuse_while_busy()
        before, self._given_parameters = self._given_parameters, parameters
        changed = []
        for alias, section in parameters.items():
            for name, now in section.items():
                here = self.state.pool.parameters.get(alias, {}).get(name)
                is_given = here is None or here == before.get(alias, {}).get(name)
                if is_given and (here is None or here.value != now.value):
                    self._set_parameter(alias, name, now.value, now.origin)
                    changed.append(f"{alias}.{name}")
        return tuple(changed)

    def _repeat_edits(self) -> None:
        """What was changed by hand after the last visit is changed again."""
        for edit in self._late_edits:
            with contextlib.suppress(CommandRefused):
                if edit.what == "variable":
                    self.edit_variable(edit.name, edit.value, edit.item)
                elif edit.what == "parameter" and edit.alias is not None:
                    self._set_parameter(edit.alias, edit.name, edit.value, edit.origin)
                elif edit.what == "input":
                    self.edit_input(edit.name, edit.value)
                elif edit.what == "state" and edit.item is not None:
                    self.edit_state(edit.item, edit.value)
        self._late_edits = ()

    async def close(self) -> None:
        """End the session: complete the record, stop every server. Nothing is left running."""
        if self.state.status == "closed":
            return
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
            self.state = replace(self.state, pool=edited_parameter(self.state.pool, alias, name, value))
        self.timeline.end = self._checkpoint()
        aliases = self.prepared.pipeline.used_aliases()
        self._emit(SessionStarted(pipeline=str(self.prepared.pipeline.file), servers=aliases))
        self._stop("entry", "restarted, before the first step")

    # ---- going back

    async def go_to(self, visit: int) -> Stopped:
        """Go to the checkpoint before a visit of this timeline, without running anything. Raises ``CommandRefused``."""
        self._refuse_while_busy()
        self.moment(visit)
        return self._travel(self.timeline.index_of(visit) or 0)

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
        checkpoint = self._set_position(position)
        stateful = self.out_of_step()
        before = self.timeline.moments[position].visit.number if position < len(self.timeline.moments) else None
        self._emit(WentBack(visit=before, timeline=self.timeline.number, stateful=stateful))
        why = f"before visit {before}" if before is not None else "after the last visit"
        if stateful:
            why += f"; {', '.join(stateful)} kept the state of what ran since"
        return self._stop("went back" if not checkpoint.cursor.is_end else "finished", why)

    # ---- editing

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

    def edit_output(self, visit: int, name: str, value: Any, item: int | None = None) -> None:
        """Change what a finished visit of this timeline gave, and go to right after it. Raises ``CommandRefused``."""
        self._refuse_while_busy()
        given = self.moment(visit).visit
        if name not in given.saved and name not in given.parameters:
            raise CommandRefused(f"visit {visit} {given.name} gave no {name}")
        position = (self.timeline.index_of(visit) or 0) + 1
        if self.state.position != position:
            self._travel(position)
        if name in given.parameters:
            self.edit_parameter(given.alias, name, value)
        else:
            self.edit_variable(name, value, item)

    def edit_parameter(self, alias: str, name: str, value: Any) -> None:
        """Give a parameter of a server another value, from the next step on. Raises ``CommandRefused``."""
        self._refuse_unless_stopped()
        self._set_parameter(alias, name, value, None)

    def _set_parameter(self, alias: str, name: str, value: Any, origin: str | None) -> None:
        before = self.state.pool.parameters.get(alias, {}).get(name)
        self.state = replace(self.state, pool=edited_parameter(self.state.pool, alias, name, value, origin))
        self._edited(Edit("parameter", name, value, alias=alias, origin=origin), before.value if before else None)

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

    def edit_state(self, item: int, state: str) -> None:
        """Change what the router at the cursor decided for one item. Raises ``CommandRefused``."""
        self._refuse_unless_stopped()
        if self._routes is None or item not in self._routes:
            raise CommandRefused(f"no router has just decided for item [{item}]")
        old, self._routes[item] = self._routes[item], state
        self._edited(Edit("state", self.state.place.name or "", state, item), old)

    def _edited(self, edit: Edit, old: Any) -> None:
        """Keep an edit and tell of it: the value before, and the one it has now."""
        last = self.timeline.moments[self.state.position - 1].visit.number if self.state.position else None
        edit = replace(edit, after_visit=last)
        self._pending.append(edit)
        if edit not in self._late_edits:
            self._recorder.edited(edit, self.timeline.number)
        name = f"{edit.alias}.{edit.name}" if edit.alias else edit.name
        step = self.state.place.step if edit.what in ("input", "state") else None
        self._emit(Edited(what=edit.what, name=name, step=step, item=edit.item, old=old, new=edit.value))
