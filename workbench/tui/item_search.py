"""Finds items by what stands in any of their lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from workbench.engine.pool import VariablePool
from workbench.engine.values import Message


class FoundItem(Struct, frozen=True):
    """An item, and the list in which it holds what was sought, with some of the text around it."""

    item: int
    variable: str
    excerpt: str


_BEFORE, _AFTER = 20, 200


class ItemSearch:
    """The texts of all items, read once: made and asked away from the screen's thread."""

    def __init__(self, pool: VariablePool) -> None:
        lists = [variable for variable in pool if pool.is_item_list(variable)]
        self._texts = {variable.name: [text_of(entry) for entry in variable.value] for variable in lists}
        self._folded = {name: [text.casefold() for text in texts] for name, texts in self._texts.items()}
        self._count = pool.count or 0

    def find(self, needle: str) -> list[FoundItem]:
        """The items that hold a text, in order. A number finds the item of that number first."""
        wanted = needle.casefold()
        found = [one for item in range(self._count) if (one := self._found(item, wanted)) is not None]
        if needle.isdecimal() and int(needle) < self._count:
            found = [self._shown(int(needle)), *(one for one in found if one.item != int(needle))]
        return found

    def _found(self, item: int, wanted: str) -> FoundItem | None:
        for name, folded in self._folded.items():
            at = folded[item].find(wanted)
            if at >= 0:
                begin = max(0, at - _BEFORE) if at > 2 * _BEFORE else 0
                text = self._texts[name][item][begin : at + _AFTER]
                return FoundItem(item, name, f"…{text}" if begin else text)
        return None

    def _shown(self, item: int) -> FoundItem:
        return self._found(item, "") or FoundItem(item, "", "")


def text_of(value: Any) -> str:
    """All that can be read in a value, one after the other."""
    return value if isinstance(value, str) else " · ".join(_leaves(value))


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, Message):
        yield value.text
    elif isinstance(value, list):
        for entry in value:
            yield from _leaves(entry)
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _leaves(entry)
    else:
        yield str(value)
