"""Headings in plain text: Markdown's, underlined ones, and numbered ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MARKDOWN = re.compile(r"^(?P<marks>#{1,6})[ \t]+(?P<title>.+?)[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r"^([*=\-~^\"])\1{2,}[ \t]*$")
_NUMBERED = re.compile(r"^(?P<number>\d{1,2}(?:\.\d{1,2}){0,4})\.?[ \t]+(?P<title>[^\W\d_].{0,78}[^\s.,;:!?])$")
_FENCE = re.compile(r"^[ \t]*(```|~~~)")
_UNDERLINES = '*="-~^'
"""Kinds of underlines from the highest level down, where a text has several."""


@dataclass(frozen=True)
class Heading:
    """A heading and where its section begins, in characters of the text."""

    level: int
    title: str
    start: int


def headings(text: str) -> list[Heading]:
    """All headings in order; levels from 1. Lines in fenced code are no headings."""
    return _levelled(list(_found(text)))


def _found(text: str) -> Iterator[tuple[tuple[int, int], str, int]]:
    """For each heading its rank (kind, and level within the kind), title, and start."""
    start, before, before_start, fenced = 0, "", 0, False
    for line in text.splitlines(keepends=True):
        bare = line.rstrip()
        if _FENCE.match(bare):
            fenced = not fenced
        elif not fenced:
            marked, numbered = _MARKDOWN.match(bare), _NUMBERED.match(bare)
            if marked:
                yield (0, len(marked["marks"])), marked["title"], start
            elif _UNDERLINE.match(bare) and before.strip() and not before[0].isspace() and not _UNDERLINE.match(before):
                yield (1, _UNDERLINES.index(bare[0])), before.strip(), before_start
            elif numbered and not before.strip():
                yield (2, numbered["number"].count(".")), f"{numbered['number']} {numbered['title']}", start
        before, before_start = bare, start
        start += len(line)


def _levelled(found: list[tuple[tuple[int, int], str, int]]) -> list[Heading]:
    """Ranks that occur, as levels without gaps."""
    ranks = sorted({rank for rank, _, _ in found})
    return [Heading(ranks.index(rank) + 1, title, start) for rank, title, start in found]
