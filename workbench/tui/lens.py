"""The item lens: of each value, the part that is one item's."""

from __future__ import annotations

from typing import Any

from workbench.engine.inputs import BoundInput, BoundInputs
from workbench.engine.pool import Variable, VariablePool
from workbench.pipeline.model import FromMemory, FromVariable
from workbench.tui.previews import NoValue

NOT_THIS_ITEM = NoValue("not among the items of this step")


def item_of_variable(pool: VariablePool, variable: Variable, item: int | None) -> tuple[Any, bool]:
    """``(value, whether it is one item's)``. A run that was begun anew may have fewer items than the lens knows."""
    if item is None or not pool.is_item_list(variable):
        return variable.value, False
    return (variable.value[item] if item < len(variable.value) else NOT_THIS_ITEM), True


def item_of_input(bound: BoundInput, inputs: BoundInputs, item: int | None) -> tuple[Any, bool]:
    """``(value, whether it is one item's)``. A step in a branch gets the entries of its own items only."""
    if item is None or inputs.items is None or not _is_per_item(bound, len(inputs.items)):
        return bound.value, False
    if item not in inputs.items:
        return NOT_THIS_ITEM, True
    position = inputs.items.index(item)
    if isinstance(bound.source, FromMemory):
        return [save[position] for save in bound.value], True
    return bound.value[position], True


def position_in_input(bound: BoundInput, inputs: BoundInputs, item: int | None) -> int | None:
    """Where an item's entry stands in an input; None where there is none."""
    is_list = isinstance(bound.value, list) and not isinstance(bound.source, FromMemory)
    if not is_list or item is None or inputs.items is None or item not in inputs.items:
        return None
    return inputs.items.index(item) if _is_per_item(bound, len(inputs.items)) else None


def _is_per_item(bound: BoundInput, count: int) -> bool:
    if isinstance(bound.source, FromMemory):
        return all(isinstance(save, list) and len(save) == count for save in bound.value)
    return isinstance(bound.source, FromVariable) and isinstance(bound.value, list) and len(bound.value) == count
