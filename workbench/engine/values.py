"""The values that variables hold: what is not set, prompt messages, and shapes in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final


class Unset:
    """An entry of an item list that no step has given. It is not null and is never passed to a tool."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "not set"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset()


class Message(dict[str, Any]):
    """One prompt message, ``{"role": ..., "content": {"type": "text", "text": ...}}``, as tools receive it.

    A class of its own, so that data which only looks like a message stays data.
    """

    @property
    def text(self) -> str:
        content = self.get("content")
        if isinstance(content, Mapping):
            return str(content.get("text", ""))
        return str(content)


def is_list(value: Any) -> bool:
    """Whether a value is a list, all in memory or still in its file."""
    return isinstance(value, list) or (isinstance(value, Sequence) and not isinstance(value, str | bytes))


def shape(value: Any) -> str:
    """A value's size in a few characters: ``list 10``, ``10 x 5`` for lists of equal length, ``text 120``."""
    if isinstance(value, list):
        inner = {len(entry) for entry in value if isinstance(entry, list)}
        if len(inner) == 1 and all(isinstance(entry, list) for entry in value):
            return f"{len(value)} x {inner.pop()}"
        return f"list {len(value)}"
    if is_list(value):
        return f"list {len(value)}"
    if isinstance(value, Mapping):
        return f"map {len(value)}"
    if isinstance(value, str):
        return f"text {len(value)}"
    return {bool: "yes/no", int: "number", float: "number", type(None): "null", Unset: "not set"}.get(
        type(value), type(value).__name__
    )


def numbered(items: Any) -> str:
    """Item numbers as they are written everywhere: ``[1] and [3]``, ``[0], [1] and [4]``."""
    names = [f"[{item}]" for item in items]
    if len(names) > 8:
        names = [*names[:7], f"{len(names) - 7} more"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def count_of(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
