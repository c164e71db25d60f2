"""Lists with an entry per item: held together, and told apart by their numbers in the run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from workbench.mcp.kit import check_lengths


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


def note(item: int, message: str) -> None:
    """Say something of one item on stderr, by its number in the run."""
    print(f"item [{item}]: {message}", file=sys.stderr)
