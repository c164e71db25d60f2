"""Cutting texts into chunks that are spans of them: (start, end) in characters, in order, joined the text again.

What is counted are *units*: characters, words, or the tokens of an encoding.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

Span = tuple[int, int]


@dataclass(frozen=True)
class Units:
    """Where the units of one text end."""

    counted: Sequence[int]
    """Where each ends, without the blanks after it."""
    cut: Sequence[int]
    """Where a text may be cut after it: behind those blanks."""

    def before(self, place: int) -> int:
        """How many end at or before a place."""
        return bisect_right(self.counted, place)

    def count(self, start: int, end: int) -> int:
        """How many end in a span."""
        return self.before(end) - self.before(start)


class Characters(Units):
    """Each character is a unit: nothing to look up."""

    def before(self, place: int) -> int:
        return place


UnitFinder = Callable[[str], Units]

_CJK = ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF))
_BLANK = ((0x09, 0x0D), (0x1C, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
          (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000))  # fmt: skip
# A lone line end is no end of a sentence: many texts are wrapped.
SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*\s+|[。！？…][”’」』）]*\s*|\n\s*\n\s*")
_LEVELS = (re.compile(r"\n\s*\n\s*"), re.compile(r"\n\s*"), SENTENCE_END, re.compile(r"[,;:]\s+|[，；：、]\s*"))
"""Behind what a recursive cut is tried first, second ...; after them, between units."""


def characters(text: str) -> Units:
    """One unit a character."""
    ends = range(1, len(text) + 1)
    return Characters(ends, ends)


def words(text: str) -> Units:
    """One unit a word; a Chinese, Japanese or Korean character is a word."""
    if text.isascii():
        letters = np.frombuffer(text.encode(), dtype=np.uint8)
        alone = np.zeros(len(text), dtype=bool)
        blank = _within(letters, _BLANK[:2])
    else:
        letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        alone, blank = _within(letters, _CJK), _within(letters, _BLANK)
    # A unit begins where a letter follows a blank, or either of two letters stands alone.
    begins = ~blank
    begins[1:] &= blank[:-1] | alone[1:] | alone[:-1]
    ends = ~blank
    ends[:-1] &= blank[1:] | alone[:-1] | alone[1:]
    starts: list[int] = np.flatnonzero(begins).tolist()
    counted: list[int] = (np.flatnonzero(ends) + 1).tolist()
    return Units(counted, [*starts[1:], len(text)] if starts else [])


def _within(letters: np.ndarray[Any, Any], ranges: Sequence[tuple[int, int]]) -> np.ndarray[Any, Any]:
    found = np.zeros(len(letters), dtype=bool)
    for first, last in ranges:
        found |= (letters >= first) & (letters <= last)
    return found


def sentence_pattern(delimiters: Sequence[str]) -> re.Pattern[str]:
    """What a sentence ends with, and the blanks after it."""
    ways = "|".join(re.escape(text) for text in sorted(delimiters, key=len, reverse=True))
    return re.compile(rf"(?:{ways})\s*")


def token_spans(text: str, find: UnitFinder, size: int, overlap: int) -> list[Span]:
    """Spans of ``size`` units; each repeats the last ``overlap`` units of the one before."""
    cut = find(text).cut
    step = size - overlap
    starts = range(0, max(1, len(cut) - overlap), step)
    spans = [(_after(cut, n - 1), _after(cut, min(n + size, len(cut)) - 1)) for n in starts]
    return _filled(text, spans)


def sentence_spans(  # noqa: PLR0917 - what a sentence chunk is
    text: str, find: UnitFinder, size: int, overlap: int, pattern: re.Pattern[str] = SENTENCE_END, least: int = 1
) -> list[Span]:
    """Spans of whole sentences of at most ``size`` units, but at least ``least`` sentences; a longer one is cut.

    The next span repeats those of the last sentences that fit into ``overlap`` units.
    """
    units = find(text)
    pieces = [part for start, end in _cut_after(text, pattern) for part in _fitting(start, end, units, size)]
    counts = [0, *(units.before(end) for _, end in pieces)]
    lengths = [after - before for before, after in pairwise(counts)]
    spans, first = [], 0
    while first < len(pieces):
        after = first + 1
        while after < len(pieces) and (counts[after + 1] - counts[first] <= size or after - first < least):
            after += 1
        spans.append((pieces[first][0], pieces[after - 1][1]))
        if after == len(pieces):
            break
        first = _step_back(lengths, first, after, min(overlap, size - lengths[after]))
    return _filled(text, spans)


def recursive_spans(text: str, find: UnitFinder, size: int) -> list[Span]:
    """Cut at paragraphs, then lines, sentences, commas, until every span has at most ``size`` units.

    Small neighbours are joined again while they fit.
    """
    units = find(text)
    if units.count(0, len(text)) <= size:
        return _filled(text, [(0, len(text))])
    cuts = [[match.end() for match in pattern.finditer(text)] for pattern in _LEVELS]
    parts = _recurse((0, 0, len(text), units.before(len(text))), units, size, cuts, 0)
    return _filled(text, [(start, end) for start, _, end, _ in parts])


Counted = tuple[int, int, int, int]
"""A span, each end with the units before it: start, units, end, units."""


def _recurse(span: Counted, units: Units, size: int, cuts: Sequence[Sequence[int]], level: int) -> list[Counted]:
    start, before, end, after = span
    if level == len(cuts):
        return [(a, units.before(a), b, units.before(b)) for a, b in _fitting(start, end, units, size)]
    own = cuts[level]
    edges = own[bisect_right(own, start) : bisect_left(own, end)]
    joined: list[Counted] = []
    for edge, count in [*((edge, units.before(edge)) for edge in edges), (end, after)]:
        if count - before <= size:
            parts = [(start, before, edge, count)]
        else:
            parts = _recurse((start, before, edge, count), units, size, cuts, level + 1)
        for part in parts:
            if joined and part[3] - joined[-1][1] <= size:
                joined[-1] = (*joined[-1][:2], *part[2:])
            else:
                joined.append(part)
        start, before = edge, count
    return joined


def _fitting(start: int, end: int, units: Units, size: int) -> Iterator[Span]:
    """A span in pieces of at most ``size`` units."""
    first, last = units.before(start), units.before(end)
    while last - first > size:
        cut = units.cut[first + size - 1]
        yield (start, cut)
        start, first = cut, first + size
    yield (start, end)


def _after(cut: Sequence[int], unit: int) -> int:
    return cut[unit] if unit >= 0 else 0


def _step_back(lengths: Sequence[int], start: int, end: int, room: int) -> int:
    """Where the next span starts: as far back from ``end`` as ``room`` allows, but after ``start``."""
    while end - 1 > start and 0 < lengths[end - 1] <= room:
        end -= 1
        room -= lengths[end]
    return end


def _cut_after(text: str, pattern: re.Pattern[str]) -> list[Span]:
    edges = [0, *(match.end() for match in pattern.finditer(text)), len(text)]
    return [(a, b) for a, b in pairwise(edges) if a < b]


def _filled(text: str, spans: Sequence[Span]) -> list[Span]:
    """Those that hold more than blanks; the blanks before the first of a text go with it."""
    return [(start, end) for start, end in spans if text[start:end].strip()]
