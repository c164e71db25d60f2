"""Values changed by hand."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from workbench.engine.inputs import EDITED, StepError
from workbench.engine.pool import Variable, VariablePool, unset_entries
from workbench.engine.ports import Edit
from workbench.engine.values import Message
from workbench.pipeline.parameters import ParameterValue


def edited_variable(pool: VariablePool, name: str, value: Any, item: int | None) -> VariablePool:
    """The pool with another value of a variable, or of one item of an item list. Raises ``StepError``."""
    before = pool.get(name)
    if before is None:
        raise StepError(f"there is no variable {name}")
    if item is not None:
        if not pool.is_item_list(before):
            raise StepError(f"{name} is no item list")
        if not 0 <= item < (before.length or 0):
            raise StepError(f"{name} has no item [{item}]; there are {before.length}")
        entries = list(before.value)
        entries[item] = _like(entries[item], value)
        value = entries
    elif pool.is_item_list(before):
        if not isinstance(value, list) or len(value) != pool.count:
            raise StepError(f"{name} has one value per item: give a list of {pool.count}")
        value = [_like(old, new) for old, new in zip(before.value, value, strict=True)]
    unset = unset_entries(value) if isinstance(value, list) else frozenset[int]()
    written = before.written if item is None or before.written is None else tuple(sorted({*before.written, item}))
    return pool.with_edited(
        Variable(
            name,
            value,
            before.visit,
            written=written,
            is_whole=before.is_whole,
            computed_for=before.computed_for,
            unset=unset,
        )
    )


def edited_parameter(pool: VariablePool, alias: str, name: str, value: Any, origin: str | None = None) -> VariablePool:
    """The pool with another value of a parameter; ``origin`` is the file that gave it, if it was not typed."""
    return pool.with_parameter(alias, name, value, origin or EDITED)


WRITTEN = "written by "
"""How the origin of a parameter begins that a step wrote."""


def is_given(parameter: ParameterValue) -> bool:
    """Whether a file or an option gave a parameter, and neither a hand nor a step."""
    return parameter.origin != EDITED and not parameter.origin.startswith(WRITTEN)


def with_edit(pool: VariablePool, edit: Edit) -> VariablePool:
    """The pool after an edit of a variable or a parameter, made again; as it is where that can't be any more."""
    if edit.what == "parameter" and edit.alias is not None:
        return edited_parameter(pool, edit.alias, edit.name, edit.value, edit.origin)
    if edit.what == "variable":
        with contextlib.suppress(StepError):
            return edited_variable(pool, edit.name, edit.value, edit.item)
    return pool


def edited_parameters(pool: VariablePool) -> list[tuple[str, str, Any]]:
    """``(server, name, value)`` of every parameter that was edited by hand."""
    return [
        (alias, name, parameter.value)
        for alias, section in pool.parameters.items()
        for name, parameter in section.items()
        if parameter.origin == EDITED
    ]


def _like(before: Any, value: Any) -> Any:
    """A new value in the form of the old one: the text of a prompt stays a message."""
    if not isinstance(before, Message):
        return value
    if isinstance(value, str):
        return Message({**before, "content": {"type": "text", "text": value}})
    return Message(value) if isinstance(value, Mapping) else value
