"""Cutting texts into chunks, counted in characters or words, without any download.

A text is cut into *pieces* that join to the text again (units, or sentences); chunks are runs of pieces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

Cutter = Callable[[str], list[str]]
"""A text to pieces; joined they give the text again."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"\s*(?:[{_CJK}]|[^\s{_CJK}]+)(?:\s+\Z)?|\s+\Z")
# A lone line end is no end of a sentence: many texts are wrapped.
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n\s*\n")
_LEVELS = (re.compile(r"\n\s*\n"), re.compile(r"\n"), _SENTENCE_END, re.compile(r"(?<=[,;:，；：、])\s*"))
"""Where a recursive cut is tried first, second ...; after them, between units."""


def characters(text: str) -> list[str]:
    """One piece a character."""
    return list(text)


def words(text: str) -> list[str]:
    """One piece a word, with its blanks; a Chinese, Japanese or Korean character is a word."""
    return _WORD.findall(text)


def sentences(text: str) -> list[str]:
    """One piece a sentence, with what separates it from the next."""
    return _cut_after(text, _SENTENCE_END)


COUNTERS: dict[str, Cutter] = {"character": characters, "word": words}


def token_chunks(text: str, units: Cutter, size: int, overlap: int) -> list[str]:
    """Chunks of ``size`` units; each repeats the last ``overlap`` units of the one before."""
    pieces = units(text)
    step = size - overlap
    starts = range(0, max(1, len(pieces) - overlap), step)
    return _cleaned("".join(pieces[start : start + size]) for start in starts)


def sentence_chunks(text: str, units: Cutter, size: int, overlap: int) -> list[str]:
    """Chunks of whole sentences of at most ``size`` units; a longer sentence is cut.

    The next chunk repeats those of the last sentences that fit into ``overlap`` units.
    """
    pieces = [part for sentence in sentences(text) for part in _fitting(sentence, units, size)]
    lengths = [len(units(piece)) for piece in pieces]
    chunks, start = [], 0
    while start < len(pieces):
        end, length = start, 0
        while end < len(pieces) and (length + lengths[end] <= size or end == start):
            length += lengths[end]
            end += 1
        chunks.append("".join(pieces[start:end]))
        if end == len(pieces):
            break
        start = _step_back(lengths, start, end, min(overlap, size - lengths[end]))
    return _cleaned(chunks)


def recursive_chunks(text: str, units: Cutter, size: int) -> list[str]:
    """Cut at paragraphs, then lines, sentences, commas, until every chunk has at most ``size`` units.

    Small neighbours are joined again while they fit.
    """
    return _cleaned(_recurse(text, units, size, 0))


def _recurse(text: str, units: Cutter, size: int, level: int) -> list[str]:
    if len(units(text)) <= size:
        return [text]
    if level == len(_LEVELS):
        return _fitting(text, units, size)
    parts = [p for part in _cut_after(text, _LEVELS[level]) for p in _recurse(part, units, size, level + 1)]
    return _joined(parts, units, size)


def _joined(parts: Sequence[str], units: Cutter, size: int) -> list[str]:
    chunks: list[str] = []
    for part in parts:
        if chunks and len(units(chunks[-1] + part)) <= size:
            chunks[-1] += part
        else:
            chunks.append(part)
    return chunks


def _fitting(text: str, units: Cutter, size: int) -> list[str]:
    pieces = units(text)
    return ["".join(pieces[start : start + size]) for start in range(0, len(pieces), size)]


def _step_back(lengths: Sequence[int], start: int, end: int, room: int) -> int:
    """Where the next chunk starts: as far back from ``end`` as ``room`` allows, but after ``start``."""
    while end - 1 > start and lengths[end - 1] <= room:
        end -= 1
        room -= lengths[end]
    return end


def _cut_after(text: str, pattern: re.Pattern[str]) -> list[str]:
    cuts = [match.end() for match in pattern.finditer(text)]
    edges = [0, *cuts, len(text)]
    return [text[a:b] for a, b in pairwise(edges) if a < b]


def _cleaned(chunks: Iterator[str] | Sequence[str]) -> list[str]:
    return [chunk.strip() for chunk in chunks if chunk.strip()]
