"""All variables and parameters as they stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.engine.pool import Variable
from workbench.tui.lens import item_of_variable
from workbench.tui.model import Model
from workbench.tui.previews import short_shape
from workbench.tui.rows import Part
from workbench.tui.values_view import Path, Root, ValuesView


@dataclass(frozen=True)
class ParametersOf:
    """Marks the row that holds a server's parameters."""

    alias: str


@dataclass(frozen=True)
class ParameterAt:
    """A parameter, or by its path an entry in it."""

    alias: str
    name: str
    path: Path


class VariablesPane(ValuesView):
    """Each variable with its shape and the visit that wrote it; below them a row for each server's parameters."""

    BORDER_TITLE = "Variables"

    def __init__(self, model: Model, *, id: str) -> None:
        super().__init__("no variable has been written yet", id=id)
        self._model = model

    @property
    def is_at_parameters(self) -> bool:
        """Whether the cursor is on a server's row, or on a parameter in it."""
        return self.node is not None and isinstance(self.node.root.key, ParametersOf)

    @property
    def parameter(self) -> ParameterAt | None:
        """What the cursor is on or in, of a server's parameters."""
        if self.node is None or not self.node.path or not isinstance(self.node.root.key, ParametersOf):
            return None
        name, *path = self.node.path
        return ParameterAt(self.node.root.key.alias, str(name).removeprefix("$"), tuple(path))

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
            yield Root(name, value, self._notes(variable, is_item), shape=size, key=variable.name)

    def _notes(self, variable: Variable, is_item: bool) -> tuple[Part, ...]:
        """What is known of one item alone is its value: which items were edited or not set is left off."""
        visit = Part(f" visit {variable.visit}" if variable.visit is not None else "", "dim")
        star = Part(" *", "mark") if self._model.changed(variable) else Part("  ")
        if is_item:
            return (visit, star)
        edited = (Part(" edited", "mark"),) if variable.is_edited else ()
        missing = (Part(f" {len(variable.unset)} not set", "warning"),) if variable.unset else ()
        return (visit, *missing, *edited, star)

    def _parameters(self) -> Iterator[Root]:
        parameters = self._model.debugger.state.pool.parameters
        for alias in self._model.debugger.prepared.pipeline.used_aliases():
            known = parameters.get(alias, {})
            values = {f"${name}": self._model.without_secrets(one.value) for name, one in known.items()}
            edited = sum(one.origin == "edited" for one in known.values())
            notes = (Part(f" {edited} edited", "mark"),) if edited else ()
            if values:
                yield Root(alias, values, notes, look="dim", shape=f"params {len(values)}", key=ParametersOf(alias))
