"""The item lens: of each value, the part that is one item's."""

from __future__ import annotations

from typing import Any

from workbench.engine.inputs import BoundInput, BoundInputs
from workbench.engine.pool import Variable, VariablePool
from workbench.pipeline.model import FromMemory, FromVariable


class NotThisItem:
    """What there is to see of a step's input through the lens, where the step does not work on that item."""

    def __str__(self) -> str:
        return "not among the items of this step"


NOT_THIS_ITEM = NotThisItem()


def item_of_variable(pool: VariablePool, variable: Variable, item: int | None) -> tuple[Any, bool]:
    """``(value, whether it is one item's)``."""
    if item is None or not pool.is_item_list(variable):
        return variable.value, False
    return variable.value[item], True


def item_of_input(bound: BoundInput, inputs: BoundInputs, item: int | None) -> tuple[Any, bool]:
    """``(value, whether it is one item's)``. A step in a branch gets the entries of its own items only."""
    items = inputs.items
    is_item_list = (
        items is not None
        and isinstance(bound.source, FromVariable)
        and isinstance(bound.value, list)
        and len(bound.value) == len(items)
    )
    if item is None or items is None:
        return bound.value, False
    if is_item_list:
        return (bound.value[items.index(item)], True) if item in items else (NOT_THIS_ITEM, True)
    if isinstance(bound.source, FromMemory) and all(_has(save, len(items)) for save in bound.value):
        return ([save[items.index(item)] for save in bound.value], True) if item in items else (NOT_THIS_ITEM, True)
    return bound.value, False


def _has(save: Any, count: int) -> bool:
    return isinstance(save, list) and len(save) == count
