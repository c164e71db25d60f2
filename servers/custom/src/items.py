"""Lists with an entry per item: held together, and told apart by their numbers in the run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from fastmcp.exceptions import ToolError

from workbench.mcp.kit import call_items


def merged(temp_psg: Sequence[Any], ret_psg: Sequence[Any]) -> list[list[Any]]:
    """Items x passages. Order and repetitions are kept: what was found twice is there twice."""
    check_lengths(temp_psg=temp_psg, ret_psg=ret_psg)
    return [as_list(old) + as_list(new) for new, old in zip(temp_psg, ret_psg, strict=True)]


def as_list(passages: Any) -> list[Any]:
    """A lone passage is a list of one."""
    return list(passages) if isinstance(passages, list) else [passages]


def check_lengths(**lists: Sequence[Any]) -> None:
    """Lists of one call belong together item by item; unequal ones would be paired wrongly."""
    if len({len(values) for values in lists.values()}) > 1:
        sizes = ", ".join(f"{name} has {len(values)}" for name, values in lists.items())
        raise ToolError(f"one entry per item is needed in each list, but {sizes}")


def columns(rows: Sequence[tuple[Any, ...]], *names: str) -> dict[str, list[Any]]:
    """One list per name, of rows with a value for each."""
    return {name: [row[number] for row in rows] for number, name in enumerate(names)}


def items_of(values: Sequence[Any]) -> Sequence[int]:
    """The numbers of the items that the lists of a call are about."""
    return call_items() or range(len(values))


def note(position: int, message: str) -> None:
    """Say something of one item on stderr, by its number in the run."""
    items = call_items()
    item = items[position] if items is not None and position < len(items) else position
    print(f"item [{item}]: {message}", file=sys.stderr)
