"""Lists in pieces: two versions of a list share the pieces that did not change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import is_
from struct import pack
from typing import Any

_PIECE = 64
"""Entries to a piece: a change of one entry costs one piece and the table of pieces."""

_SMALLEST = 2 * _PIECE
"""Shorter lists are kept as they are."""


class Entries:
    """The entries of a list, in tuples of 64. Never changed; ``with_entries`` and ``of`` share what they can."""

    __slots__ = ("_length", "_pieces")

    def __init__(self, pieces: tuple[tuple[Any, ...], ...], length: int) -> None:
        self._pieces = pieces
        self._length = length

    @classmethod
    def of(cls, values: Sequence[Any], before: Entries | None = None) -> Entries:
        """These values; what is the same in ``before``, entry by entry, is taken from there and not kept twice."""
        if before is not None and len(before) != len(values):
            before = None
        pieces = []
        for number, begin in enumerate(range(0, len(values), _PIECE)):
            piece = tuple(values[begin : begin + _PIECE])
            pieces.append(piece if before is None else _shared(before._pieces[number], piece))
        return cls(tuple(pieces), len(values))

    def with_entries(self, changed: Mapping[int, Any]) -> Entries:
        """The same list with other entries at some places (place -> entry)."""
        pieces = list(self._pieces)
        for number in {place // _PIECE for place in changed}:
            begin = number * _PIECE
            pieces[number] = tuple(changed.get(begin + n, entry) for n, entry in enumerate(pieces[number]))
        return Entries(tuple(pieces), self._length)

    def pieces(self) -> tuple[tuple[Any, ...], ...]:
        return self._pieces

    def to_list(self) -> list[Any]:
        return list(chain.from_iterable(self._pieces))

    def __getitem__(self, place: int) -> Any:
        return self._pieces[place // _PIECE][place % _PIECE]

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self._pieces)

    def __len__(self) -> int:
        return self._length


def kept_form(value: Any, before: Any = None) -> Any:
    """How a value is kept: a long list as ``Entries`` that share with ``before``, the rest as it is."""
    if not isinstance(value, list) or len(value) < _SMALLEST:
        return value
    return Entries.of(value, before if isinstance(before, Entries) else None)


def differing(one: list[Any] | Entries, other: list[Any] | Entries) -> list[int]:
    """The places at which two lists of one length hold other objects; pieces that they share cost nothing."""
    if isinstance(one, Entries) and isinstance(other, Entries):
        return [
            number * _PIECE + n
            for number, (mine, its) in enumerate(zip(one.pieces(), other.pieces(), strict=True))
            if mine is not its
            for n in _places(mine, its)
        ]
    return _places(one, other)


def _places(one: Any, other: Any) -> list[int]:
    return [n for n, (mine, its) in enumerate(zip(one, other, strict=True)) if mine is not its]


def _shared(old: tuple[Any, ...], new: tuple[Any, ...]) -> tuple[Any, ...]:
    if all(map(is_, old, new)):
        return old
    try:
        mixed = tuple(was if is_same(was, now) else now for was, now in zip(old, new, strict=True))
    except RecursionError:
        return new
    return old if all(map(is_, old, mixed)) else mixed


def is_same(old: Any, new: Any) -> bool:
    """Whether two JSON values are the same to the letter: 1 is not 1.0, nor is 0.0 -0.0. Cheap where they differ."""
    if old is new:
        return True
    kind = type(new)
    if kind is float and type(old) is float:
        return pack("d", old) == pack("d", new)
    if kind is not type(old) or (kind is not list and old != new):
        return False
    if kind is list:
        return len(old) == len(new) and all(map(is_same, old, new))
    if issubclass(kind, dict):
        return list(old) == list(new) and all(map(is_same, old.values(), new.values()))
    return kind in (str, int, bool)
