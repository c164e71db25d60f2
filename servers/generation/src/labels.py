"""How items are named in messages."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.mcp.kit import item_numbers

_NAMED = 20
"""How many a message names."""


def item_labels(count: int) -> list[str]:
    """``[3]`` for each item of a call."""
    return [f"[{number}]" for number in item_numbers(count)]


def listed(which: Sequence[str], mark: str = ", ") -> str:
    """The first ones, and how many more there are."""
    more = len(which) - _NAMED
    return mark.join([*which[:_NAMED], *([f"and {more} more"] if more > 0 else [])])
