"""Lists with an entry per item: held together, and told apart by their numbers in the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.mcp.kit import check_lengths

Notes = list[tuple[int, str]]
"""Items, by their numbers in the run, and what is to be said of each."""

_NAMED = 20
"""Of how many items something is said."""


def merged(temp_psg: Sequence[Any], ret_psg: Sequence[Any]) -> list[list[Any]]:
    """Items x passages. Order and repetitions are kept: what was found twice is there twice."""
    check_lengths(temp_psg=temp_psg, ret_psg=ret_psg)
    return [as_list(old) + as_list(new) for new, old in zip(temp_psg, ret_psg, strict=True)]


def as_list(passages: Any) -> list[Any]:
    """A lone passage is a list of one."""
    return list(passages) if isinstance(passages, list) else [passages]


def columns(rows: Sequence[tuple[Any, ...]], *names: str) -> dict[str, list[Any]]:
    """One list per name, of rows with a value for each."""
    return {name: [row[number] for row in rows] for number, name in enumerate(names)}


def noted(notes: Notes) -> list[str]:
    """What is to be said of items, as warnings of a result."""
    said = [f"[{item}] {message}" for item, message in notes[:_NAMED]]
    more = [f"and {len(notes) - _NAMED} more"] if len(notes) > _NAMED else []
    return ["; ".join([*said, *more])] if said else []
