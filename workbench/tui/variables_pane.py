"""All variables and parameters as they stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.engine.pool import Variable
from workbench.tui.lens import item_of_variable
from workbench.tui.model import Model
from workbench.tui.previews import short_shape
from workbench.tui.rows import Part
from workbench.tui.values_view import Root, ValuesView


@dataclass(frozen=True)
class ParameterKey:
    """Which parameter a row shows."""

    alias: str
    name: str


class VariablesPane(ValuesView):
    """Each variable with its shape and the visit that wrote it; below them the servers' parameters."""

    BORDER_TITLE = "Variables"

    def __init__(self, model: Model, *, id: str) -> None:
        super().__init__("no variable has been written yet", names=16, id=id)
        self._model = model

    @property
    def parameter(self) -> ParameterKey | None:
        key = self.node.root.key if self.node is not None else None
        return key if isinstance(key, ParameterKey) else None

    @property
    def variable(self) -> str | None:
        key = self.node.root.key if self.node is not None else None
        return key if isinstance(key, str) else None

    @property
    def index(self) -> int | None:
        """The entry of the variable's list that the cursor is on or in."""
        path = self.node.path if self.node is not None else ()
        return path[0] if path and isinstance(path[0], int) else None

    def show_pool(self) -> None:
        self.show([*self._variables(), *self._parameters()])

    def _variables(self) -> Iterator[Root]:
        pool = self._model.debugger.state.pool
        for variable in pool:
            value, is_item = item_of_variable(pool, variable, self._model.lens)
            name = f"{variable.name} [{self._model.lens}]" if is_item else variable.name
            is_wrong = variable.is_wrong_length and not is_item
            size = f"{short_shape(value)} of {variable.computed_for}" if is_wrong else None
            yield Root(name, value, self._notes(variable), shape=size, key=variable.name)

    def _notes(self, variable: Variable) -> tuple[Part, ...]:
        visit = f" visit {variable.visit}" if variable.visit is not None else ""
        edited = (Part(" edited", "mark"),) if variable.is_edited else ()
        star = Part(" *", "mark") if self._model.changed(variable) else Part("  ")
        missing = (Part(f" {len(variable.unset)} not set", "warning"),) if variable.unset else ()
        return (*missing, *edited, Part(visit, "dim"), star)

    def _parameters(self) -> Iterator[Root]:
        parameters = self._model.debugger.state.pool.parameters
        for alias in self._model.debugger.prepared.pipeline.used_aliases():
            for name, parameter in parameters.get(alias, {}).items():
                notes = (Part(" edited", "mark"),) if parameter.origin == "edited" else ()
                value = self._model.without_secrets(parameter.value)
                yield Root(f"{alias} ${name}", value, notes, look="dim", key=ParameterKey(alias, name))
