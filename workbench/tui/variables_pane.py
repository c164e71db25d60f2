"""All variables and parameters as they stand at the checkpoint that is looked at, and expressions over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from workbench.engine.pool import Variable
from workbench.tui.expressions import Evaluated, ExpressionRow, Expressions
from workbench.tui.lens import item_of_variable
from workbench.tui.model import Model
from workbench.tui.previews import NoValue, short_shape
from workbench.tui.rows import Part
from workbench.tui.text import content
from workbench.tui.values_view import Path, Root, ValuesView

_NOTHING = "no variable has been written yet"


class ParametersOf(Struct, frozen=True):
    """Marks the row that holds a server's parameters."""

    alias: str


class ParameterAt(Struct, frozen=True):
    """A parameter, or by its path an entry in it."""

    alias: str
    name: str
    path: Path


class VariablesPane(ValuesView):
    """Each variable with its shape and the visit that wrote it; below them servers' parameters, and expressions."""

    BORDER_TITLE = "Variables"
    FILTER_HINT: ClassVar[str] = "part of a name"

    def __init__(self, model: Model, expressions: Expressions, *, id: str) -> None:
        super().__init__(_NOTHING, id=id)
        self._model = model
        self._expressions = expressions
        self.needle = ""

    # ---- what the cursor is on

    @property
    def is_at_parameters(self) -> bool:
        """Whether the cursor is on a server's row, or on a parameter in it."""
        return self.node is not None and isinstance(self.node.root.key, ParametersOf)

    @property
    def parameter(self) -> ParameterAt | None:
        if self.node is None or not self.node.path or not isinstance(self.node.root.key, ParametersOf):
            return None
        name, *path = self.node.path
        return ParameterAt(self.node.root.key.alias, str(name).removeprefix("$"), tuple(path))

    @property
    def variable(self) -> str | None:
        key = self.node.root.key if self.node is not None else None
        return key if isinstance(key, str) else None

    @property
    def expression(self) -> str | None:
        key = self.node.root.key if self.node is not None else None
        return key.text if isinstance(key, ExpressionRow) else None

    @property
    def index(self) -> int | None:
        """The entry of the variable's list that the cursor is on or in."""
        path = self.node.path if self.node is not None else ()
        return path[0] if path and isinstance(path[0], int) else None

    # ---- what it shows

    def narrow(self, needle: str) -> None:
        """Show those alone whose name holds this."""
        self.needle = needle
        self.show_pool()

    def show_pool(self) -> None:
        wanted = self.needle.casefold()
        roots = [root for root in (*self._variables(), *self._parameters()) if wanted in root.name.casefold()]
        self.border_subtitle = content(f"filter: {self.needle}" if self.needle else "")
        self.show([*roots, *self._watched()], "no name holds that" if self.needle else _NOTHING)

    def _variables(self) -> Iterator[Root]:
        pool = self._model.pool
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
        recorded = (Part(" recorded", "mark"),) if self._model.is_recorded(variable) else ()
        if is_item:
            return (*recorded, visit, star)
        edited = (Part(" edited", "mark"),) if variable.is_edited else ()
        missing = (Part(f" {len(variable.unset)} not set", "warning"),) if variable.unset else ()
        ran = () if recorded or edited or variable.visit is None else (Part(" ran", "dim"),)
        return (*ran, *recorded, visit, *missing, *edited, star)

    def _parameters(self) -> Iterator[Root]:
        parameters = self._model.pool.parameters
        for alias in self._model.debugger.prepared.pipeline.used_aliases():
            known = parameters.get(alias, {})
            values = {f"${name}": self._model.without_secrets(one.value) for name, one in known.items()}
            edited = sum(one.origin == "edited" for one in known.values())
            notes = (Part(f" {edited} edited", "mark"),) if edited else ()
            if values:
                yield Root(alias, values, notes, look="dim", shape=f"params {len(values)}", key=ParametersOf(alias))

    def _watched(self) -> Iterator[Root]:
        for text, found in self._expressions.shown.items():
            known = found if found is not None else Evaluated(NoValue("being evaluated"))
            value = known.value if known.error is None else NoValue(known.error)
            shape = "error" if known.error is not None else None
            yield Root(
                f"= {text}", self._model.without_secrets(value), look="present", shape=shape, key=ExpressionRow(text)
            )
