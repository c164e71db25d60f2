"""Values in few characters. Only as much of one is looked at as fits, however large it is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.engine.values import UNSET, Message, is_list
from workbench.engine.visible import one_line


def preview(value: Any, limit: int = 100) -> str:
    """A value on one line of at most so many characters, safe to show."""
    text = beginning(value, limit)
    return text if len(text) <= limit else text[: limit - 1].rstrip(" ") + "…"


def beginning(value: Any, limit: int) -> str:
    """A value on one line, whole or as far as a little beyond the limit."""
    pieces: list[str] = []
    length = 0
    for piece in _pieces(value, limit):
        pieces.append(piece)
        length += len(piece)
        if length > limit:
            break
    return "".join(pieces)


def _pieces(value: Any, limit: int) -> Iterator[str]:
    if value is UNSET:
        yield "not set"
    elif isinstance(value, Message):
        yield f"{one_line(str(value.get('role', '')))}: "
        yield from _pieces(value.text, limit)
    elif isinstance(value, str):
        cut = one_line(value[:limit])
        yield f'"{cut}…" {len(value):,} characters' if len(value) > limit else f'"{cut}"'
    elif is_list(value):
        yield "["
        for number, entry in enumerate(value):
            yield ", " if number else ""
            yield from _pieces(entry, limit)
        yield "]"
    elif isinstance(value, Mapping):
        yield "{"
        for number, (key, entry) in enumerate(value.items()):
            yield f"{', ' if number else ''}{one_line(str(key)[:limit])}: "
            yield from _pieces(entry, limit)
        yield "}"
    elif value is None or isinstance(value, bool):
        yield json.dumps(value)
    else:
        yield one_line(str(value))
