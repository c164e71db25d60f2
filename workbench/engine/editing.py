"""Changes by hand: variables, parameters, inputs, outputs, a router's decisions. Each is recorded, old and new."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from workbench.engine import cursor as cursors
from workbench.engine.edits import edited_parameter, edited_variable
from workbench.engine.events import Edited
from workbench.engine.inputs import BoundInputs, StepError
from workbench.engine.ports import Edit
from workbench.engine.state import CommandRefused
from workbench.engine.timeline import Moment
from workbench.engine.travelling import Travelling
from workbench.pipeline.model import BranchStep, LoopStep, ToolStep
from workbench.pipeline.parameters import ParameterValue

Parameters = Mapping[str, Mapping[str, ParameterValue]]


class Editing(Travelling):
    """The commands that change something. They count from the next step on."""

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
        self._refuse_output(self.moment(visit), name, value, item)
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

    def take_parameters(self, parameters: Parameters) -> tuple[str, ...]:
        """Give parameters the values that their files have now, from the next step on; returns those that changed.

        What was edited by hand, or written by a step, stays. Raises ``CommandRefused``.
        """
        self._refuse_while_busy()
        before = self.state.pool.parameters
        self._given_parameters = parameters
        changed = self._overlay_given()
        for edit in changed:
            old = before.get(edit.alias or "", {}).get(edit.name)
            self._told_of(edit, old.value if old is not None else None)
        self._keep_end()
        return tuple(f"{edit.alias}.{edit.name}" for edit in changed)

    def _repeat(self, edits: Iterable[Edit]) -> None:
        """Change again what was changed by hand; what can't be any more is left out."""
        for edit in edits:
            with contextlib.suppress(CommandRefused):
                if edit.what == "variable":
                    self.edit_variable(edit.name, edit.value, edit.item)
                elif edit.what == "parameter" and edit.alias is not None:
                    self._set_parameter(edit.alias, edit.name, edit.value, edit.origin)
                elif edit.what == "input":
                    self._enter_blocks()
                    self.edit_input(edit.name, edit.value)
                elif edit.what == "state" and edit.item is not None:
                    self.edit_state(edit.item, edit.value)

    def _enter_blocks(self) -> None:
        """Go to the first step inside the loops and branches at the cursor: nothing runs on the way."""
        while isinstance(cursors.step_at(self.program, self.state.cursor), LoopStep | BranchStep):
            self._move(cursors.enter(self.program, self.state.cursor))

    @staticmethod
    def _refuse_output(moment: Moment, name: str, value: Any, item: int | None) -> None:
        """Raises ``CommandRefused`` where an output can't be given that value, before anything is moved."""
        if name in moment.visit.parameters:
            if item is not None:
                raise CommandRefused(f"{name} is a parameter: it has no items")
            return
        try:
            edited_variable(moment.after, name, value, item)
        except StepError as error:
            raise CommandRefused(str(error)) from None

    def _edited(self, edit: Edit, old: Any) -> None:
        """Keep an edit and tell of it: the value before, and the one it has now."""
        if self.timeline.is_closed and not self.state.is_past:
            self._begin_fork()
        self._pending.append(edit)
        self._keep_end()
        self._told_of(edit, old)

    def _begin_fork(self) -> None:
        """Go on in a fork before anything has run: a closed timeline does not keep what is changed at its end."""
        self._go_on_in(self._timeline_to_go_on())
        self._late_edits = ()
        for edit in self._pending:
            self._recorder.edited(replace(edit, after_visit=self._last_visit), self.timeline)

    @property
    def _last_visit(self) -> int | None:
        return self.timeline.moments[self.state.position - 1].visit.number if self.state.position else None

    def _keep_end(self) -> None:
        """An edit at the end of the timeline stays there, also if the user goes away and comes back."""
        if not self.state.is_past:
            self.timeline.end = self._checkpoint()

    def _told_of(self, edit: Edit, old: Any) -> None:
        edit = replace(edit, after_visit=self._last_visit)
        if edit not in self._late_edits:
            self._recorder.edited(edit, self.timeline)
        name = f"{edit.alias}.{edit.name}" if edit.alias else edit.name
        step = self.state.place.step if edit.what in ("input", "state") else None
        self._emit(Edited(what=edit.what, name=name, step=step, item=edit.item, old=old, new=edit.value))
