"""What a step is given: each argument's value, where it came from, and the items it is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct

from workbench.engine.cursor import Items
from workbench.engine.pool import Variable, VariablePool, all_items
from workbench.engine.values import UNSET, numbered
from workbench.pipeline.binding import Binding
from workbench.pipeline.model import FromMemory, FromParameter, FromVariable, InputSource, Literal

EDITED = "edited"
"""The origin of a value that was changed by hand."""


class BoundInput(Struct, frozen=True):
    """One argument: its value, its source as written, and who gave it (a visit, a file, or an edit).

    A visit keeps its inputs, so what was read of the pool is not copied: ``read`` puts it together when asked for.
    """

    argument: str
    read: Callable[[], Any]
    source: InputSource
    origin: str
    visit: int | None = None
    is_edited: bool = False
    follows_edit: bool = False
    is_per_item: bool = False

    @property
    def value(self) -> Any:
        return self.read()


class BoundInputs(Struct, frozen=True):
    """All arguments of one visit.

    ``items`` are those the step works on; None where it read no item list and stands in no branch.
    ``reads_items`` says whether it read an item list; ``wrong`` are the lists of wrong length that it read.
    """

    inputs: tuple[BoundInput, ...]
    items: Items | None
    reads_items: bool
    wrong: tuple[Variable, ...] = ()

    @property
    def follows_edit(self) -> bool:
        """Whether any of them was edited by hand, or came of an edit."""
        return any(bound.is_edited or bound.follows_edit for bound in self.inputs)

    def item_lists(self) -> tuple[str, ...]:
        """The arguments that have one entry per item."""
        return tuple(bound.argument for bound in self.inputs if bound.is_per_item)

    def arguments(self) -> dict[str, Any]:
        return {bound.argument: bound.value for bound in self.inputs}


class StepError(Exception):
    """A step can't be run, or what it gave can't be kept; ``str()`` names the step and the variables."""


class Skip(Struct, frozen=True):
    """The step is passed over, without a visit."""

    reason: str


def bind_inputs(
    binding: Binding,
    pool: VariablePool,
    branch_items: Items | None,
    branch: str | None = None,
    edits: Mapping[str, Any] | None = None,
) -> BoundInputs | Skip:
    """Work out the inputs of one visit. Raises ``StepError``; ``Skip`` where its lists are set for no item.

    ``edits`` are inputs changed by hand for this visit (argument -> value).
    """
    edits = edits or {}
    if branch_items and not pool.alive(branch_items):
        return Skip(f"{numbered(branch_items)} of branch {branch} failed before")
    branch_items = pool.alive(branch_items) if branch_items is not None else None
    sources = {argument: source for argument, source in binding.inputs.items() if argument not in edits}
    names = [source.name for source in sources.values() if isinstance(source, FromVariable)]
    read = {name: pool.get(name) for name in names}
    found = [variable for variable in read.values() if variable is not None]
    item_lists = [variable for variable in found if pool.is_item_list(variable)]
    wrong = tuple(variable for variable in found if variable.is_wrong_length)
    missing = [name for name, variable in read.items() if variable is None]
    name = binding.step.name
    if missing and (branch_items is None or binding.is_router):
        return Skip(f"{_listed(missing)} {'was' if len(missing) == 1 else 'were'} never written")
    if missing:
        raise StepError(
            f"{name} reads {_listed(missing)}, not set for {numbered(branch_items or ())} of branch {branch}"
        )
    if item_lists and wrong:
        raise StepError(_lengths_differ(name, item_lists[0], wrong[0]))
    items = _items(binding, pool, item_lists, branch_items, branch)
    if isinstance(items, Skip):
        return items
    bound = [_bound(argument, source, pool, binding, items) for argument, source in sources.items()]
    bound += [_edited(name, value, binding.inputs.get(name, Literal(None)), items) for name, value in edits.items()]
    order = list(binding.inputs)
    bound.sort(key=lambda b: order.index(b.argument) if b.argument in order else len(order))
    return BoundInputs(tuple(bound), items, bool(item_lists), wrong)


def _items(
    binding: Binding,
    pool: VariablePool,
    item_lists: list[Variable],
    branch_items: Items | None,
    branch: str | None,
) -> Items | Skip | None:
    """The items that a step works on: those of its branch, or at root those for which its lists are set."""
    if binding.is_router or (binding.step.is_implied and item_lists):
        return _complete_items(pool, item_lists, branch_items)
    if branch_items is not None:
        for variable in item_lists:
            lacking = [item for item in branch_items if item in variable.unset]
            if lacking:
                raise StepError(
                    f"{binding.step.name} reads {variable.name}, not set for {numbered(lacking)} of branch {branch}"
                )
        return branch_items
    if not item_lists:
        return None
    if len({variable.unset - pool.failed for variable in item_lists}) > 1:
        raise StepError(f"{binding.step.name}: {_set_for_different_items(pool, item_lists)}")
    items = pool.alive(pool.set_items(item_lists[0]))
    if not items and pool.count:
        return Skip(
            f"{_listed([v.name for v in item_lists])} {'is' if len(item_lists) == 1 else 'are'} set for no item"
        )
    return items


def _complete_items(pool: VariablePool, item_lists: list[Variable], branch_items: Items | None) -> Items | Skip:
    """A router, and the step that saves after a run, get the items of their branch for which all lists are set."""
    if pool.count is None:
        return Skip("there are no items yet")
    unset = frozenset[int]().union(*(variable.unset for variable in item_lists))
    candidates = branch_items if branch_items is not None else pool.alive(all_items(pool.count))
    items = tuple(item for item in candidates if item not in unset) if unset else candidates
    if not items and candidates:
        return Skip(f"{_listed([v.name for v in item_lists])} set for no item")
    return items


def _bound(argument: str, source: InputSource, pool: VariablePool, binding: Binding, items: Items | None) -> BoundInput:
    if isinstance(source, Literal):
        return BoundInput(argument, partial(_as_given, source.value), source, "as written")
    if isinstance(source, FromParameter):
        parameter = pool.parameters.get(binding.step.alias, {}).get(source.name)
        if parameter is None:
            raise StepError(f"{binding.step.name} needs the parameter {source.name}, which has no value")
        read, origin = partial(_as_given, parameter.value), parameter.origin
        return BoundInput(argument, read, source, origin, is_edited=origin == EDITED)
    if isinstance(source, FromMemory):
        saved = pool.get(source.variable)
        follows = saved is not None and (saved.is_edited or saved.follows_edit)
        read = partial(memory_list, pool, source.variable, items)
        return BoundInput(argument, read, source, "all saves so far", follows_edit=follows)
    variable = pool.variables[source.name]
    is_part = items is not None and (variable.unset or len(items) != variable.length)
    is_per_item = pool.is_item_list(variable)
    read = partial(_of_variable, variable, items if is_part and is_per_item else None)
    origin = EDITED if variable.is_edited else f"visit {variable.visit}"
    edits = (variable.is_edited, variable.follows_edit)
    return BoundInput(argument, read, source, origin, variable.visit, *edits, is_per_item)


def _edited(argument: str, value: Any, source: InputSource, items: Items | None) -> BoundInput:
    is_per_item = isinstance(value, list) and items is not None and len(value) == len(items)
    read = partial(_as_given, value)
    return BoundInput(argument, read, source, EDITED, is_edited=True, is_per_item=is_per_item)


def _as_given(value: Any) -> Any:
    return value


def _of_variable(variable: Variable, items: Items | None) -> Any:
    """Its value; with ``items``, the entries of these."""
    return variable.value if items is None else [variable.kept[item] for item in items]


def memory_list(pool: VariablePool, name: str, items: Items | None) -> list[Any]:
    """One entry per save, each cut to the items; what a save did not write is null in it (saves x items)."""
    variable = pool.get(name)
    return [_entry(pool, save, items) for save in variable.saves()] if variable is not None else []


def _entry(pool: VariablePool, save: Variable, items: Items | None) -> Any:
    if not pool.is_item_list(save):
        return save.value
    length = save.length or 0
    written = range(length) if save.written is None else set(save.written)
    wanted = range(length) if items is None else items
    entries = (save.kept[item] if item in written else None for item in wanted)
    return [None if entry is UNSET else entry for entry in entries]


def _set_for_different_items(pool: VariablePool, item_lists: list[Variable]) -> str:
    parts = []
    for variable in sorted(item_lists, key=lambda v: len(v.unset), reverse=True):
        items = pool.set_items(variable)
        if not variable.unset:
            parts.append(f"{variable.name} for all")
        elif not items:
            parts.append(f"{variable.name} is set for no item")
        else:
            parts.append(f"{variable.name} is set for {numbered(items)} only")
    return ", ".join(parts)


def _lengths_differ(name: str, item_list: Variable, wrong: Variable) -> str:
    return (
        f"{name} reads lists of different lengths: {wrong.name} has {wrong.length} entries "
        f"(computed for {wrong.computed_for} items), {item_list.name} has {item_list.length}, one per item"
    )


def _listed(names: list[str]) -> str:
    return ", ".join(dict.fromkeys(names)) or "its input"
