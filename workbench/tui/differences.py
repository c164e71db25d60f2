"""What is different between two values: entry by entry, and in texts word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any, Literal

from msgspec import Struct

from workbench.engine.entries import is_same
from workbench.engine.values import Message
from workbench.tui.previews import NoValue
from workbench.tui.values_view import path_name

ABSENT = NoValue("not there")
COMPARED_WORDS = 1_500
"""What differs of two texts is compared word by word up to this length: the time for it grows with the square."""
_KEPT = 120
"""Characters that are shown of what is the same, before and after what is not."""
_WIDE = "\u3000-\u9fff\uf900-\uffef"
_WORD = rf"[{_WIDE}]|[^\s{_WIDE}]+\s*|\s+"  # compiled when it is first needed: so wide a class takes milliseconds

Sign = Literal["=", "-", "+", "…"]
Piece = tuple[Sign, str]
"""A stretch of text that both have (``=``), only the old one (``-``), or only the new; ``…`` tells of what is cut."""


class Difference(Struct, frozen=True):
    """One place at which two values differ; ``ABSENT`` stands where there is nothing."""

    place: str
    old: Any
    new: Any


def differences(name: str, old: Any, new: Any) -> Iterator[Difference]:
    """Where two values differ, down to the single entry."""
    return _inside(name, (), old, new)


def _inside(name: str, path: tuple[int | str, ...], old: Any, new: Any) -> Iterator[Difference]:
    if is_same(old, new):
        return
    if isinstance(old, list) and isinstance(new, list):
        for number in range(max(len(old), len(new))):
            yield from _inside(name, (*path, number), _entry(old, number), _entry(new, number))
    elif _is_map(old) and _is_map(new):
        for key in {**old, **new}:
            yield from _inside(name, (*path, key), old.get(key, ABSENT), new.get(key, ABSENT))
    else:
        yield Difference(path_name(name, path), old, new)


def _entry(entries: list[Any], number: int) -> Any:
    return entries[number] if number < len(entries) else ABSENT


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping) and not isinstance(value, Message)


def text_of(value: Any) -> str | None:
    """The text of a value that is compared word by word; None for any other."""
    if isinstance(value, Message):
        return value.text
    return value if isinstance(value, str) else None


def text_pieces(old: str, new: str) -> list[Piece]:
    """Two texts as one: what stayed, what went, what came. Of long stretches that stayed the ends are kept."""
    ours, theirs = re.findall(_WORD, old), re.findall(_WORD, new)
    before = _common(ours, theirs)
    after = _common(ours[before:][::-1], theirs[before:][::-1])
    middle = _compared(ours[before : len(ours) - after], theirs[before : len(theirs) - after])
    stayed: tuple[Piece, Piece] = ("=", "".join(ours[:before])), ("=", "".join(ours[len(ours) - after :]))
    pieces = [piece for piece in (stayed[0], *middle, stayed[1]) if piece[1]]
    return [part for n, piece in enumerate(pieces) for part in _shortened(piece, n == 0, n == len(pieces) - 1)]


def _common(ours: Sequence[str], theirs: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False)))


def _compared(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Piece]:
    if max(len(ours), len(theirs)) > COMPARED_WORDS:
        yield "-", "".join(ours)
        yield "+", "".join(theirs)
        return
    for what, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if what == "equal":
            yield "=", "".join(ours[a:b])
        else:
            yield "-", "".join(ours[a:b])
            yield "+", "".join(theirs[c:d])


def _shortened(piece: Piece, is_first: bool, is_last: bool) -> Iterator[Piece]:
    sign, text = piece
    limit = 20 * _KEPT if sign != "=" else 3 * _KEPT
    if len(text) <= limit:
        yield piece
        return
    kept = limit // 3
    begin, end = ("" if is_first and sign == "=" else text[:kept]), ("" if is_last and sign == "=" else text[-kept:])
    yield sign, begin
    yield "…", f" … {len(text) - len(begin) - len(end):,} characters … "
    yield sign, end
