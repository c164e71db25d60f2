"""Cutting texts into chunks that are spans of them: (start, end) in characters, in order, joined the text again.

What is counted are *units*: characters, words, or the tokens of an encoding.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

Span = tuple[int, int]


@dataclass(frozen=True)
class Units:
    """Where the units of one text end."""

    counted: Sequence[int]
    """Where each ends, without the blanks after it."""
    cut: Sequence[int]
    """Where a text may be cut after it: behind those blanks."""

    def count(self, start: int, end: int) -> int:
        """How many end in a span."""
        return bisect_right(self.counted, end) - bisect_right(self.counted, start)


UnitFinder = Callable[[str], Units]

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"(?:[{_CJK}]|[^\s{_CJK}]+)(\s*)")
# A lone line end is no end of a sentence: many texts are wrapped.
SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*\s+|[。！？…][”’」』）]*\s*|\n\s*\n\s*")
_LEVELS = (re.compile(r"\n\s*\n\s*"), re.compile(r"\n\s*"), SENTENCE_END, re.compile(r"[,;:]\s+|[，；：、]\s*"))
"""Behind what a recursive cut is tried first, second ...; after them, between units."""


def characters(text: str) -> Units:
    """One unit a character."""
    ends = range(1, len(text) + 1)
    return Units(ends, ends)


def words(text: str) -> Units:
    """One unit a word; a Chinese, Japanese or Korean character is a word."""
    spans = [(match.start(1), match.end()) for match in _WORD.finditer(text)]
    return Units([stop for stop, _ in spans], [end for _, end in spans])


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
    lengths = [units.count(*piece) for piece in pieces]
    spans, first = [], 0
    while first < len(pieces):
        after, length = first, 0
        while after < len(pieces) and (length + lengths[after] <= size or after - first < least):
            length += lengths[after]
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
    return _filled(text, _recurse(0, len(text), units, size, cuts, 0))


def _recurse(  # noqa: PLR0917 - a span, and what it is cut by
    start: int, end: int, units: Units, size: int, cuts: Sequence[Sequence[int]], level: int
) -> list[Span]:
    if units.count(start, end) <= size:
        return [(start, end)]
    if level == len(cuts):
        return list(_fitting(start, end, units, size))
    own = cuts[level]
    edges = [start, *own[bisect_right(own, start) : bisect_left(own, end)], end]
    parts = [part for a, b in pairwise(edges) for part in _recurse(a, b, units, size, cuts, level + 1)]
    return _joined(parts, units, size)


def _joined(parts: Sequence[Span], units: Units, size: int) -> list[Span]:
    spans: list[Span] = []
    for start, end in parts:
        if spans and units.count(spans[-1][0], end) <= size:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _fitting(start: int, end: int, units: Units, size: int) -> Iterator[Span]:
    """A span in pieces of at most ``size`` units."""
    first = bisect_right(units.counted, start)
    last = bisect_right(units.counted, end)
    while last - first > size:
        cut = units.cut[first + size - 1]
        yield (start, cut)
        start, first = cut, first + size
    yield (start, end)


def _after(cut: Sequence[int], unit: int) -> int:
    return cut[unit] if unit >= 0 else 0


def _step_back(lengths: Sequence[int], start: int, end: int, room: int) -> int:
    """Where the next span starts: as far back from ``end`` as ``room`` allows, but after ``start``."""
    while end - 1 > start and lengths[end - 1] <= room:
        end -= 1
        room -= lengths[end]
    return end


def _cut_after(text: str, pattern: re.Pattern[str]) -> list[Span]:
    edges = [0, *(match.end() for match in pattern.finditer(text)), len(text)]
    return [(a, b) for a, b in pairwise(edges) if a < b]


def _filled(text: str, spans: Sequence[Span]) -> list[Span]:
    """Those that hold more than blanks; the blanks before the first of a text go with it."""
    return [(start, end) for start, end in spans if text[start:end].strip()]
