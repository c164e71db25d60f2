"""Finds where values begin and end in JSON bytes, without decoding them: for files larger than memory.

A text is skipped as a whole and brackets are counted; one call of the regular expression engine passes over
everything up to the next bracket. 150 MB a second and more, by the length of the texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from mmap import mmap
from typing import Any

import msgspec

Buffer = bytes | mmap

_BLANK = re.compile(rb"[ \t\r\n]*+")
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^\s,:\[\]{}\"]++")
_TO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
_OPENING, _CLOSING = b"[{", b"]}"
_STRIDE = 8 << 20
"""After how many bytes ``passed`` is told how far a scan has come."""


class CutShort(Exception):
    """The bytes end within a value. ``at`` is the end of what is whole."""

    def __init__(self, at: int) -> None:
        super().__init__(f"ends within the value that begins at byte {at}")
        self.at = at


class NotJson(Exception):
    """Something stands where JSON has no place for it; ``at`` is where."""

    def __init__(self, at: int) -> None:
        super().__init__(f"not valid JSON at byte {at}")
        self.at = at


class Scanner:
    """Positions in one buffer. ``passed`` hears now and then how far it has come, in bytes."""

    def __init__(self, buffer: Buffer, passed: Callable[[int], None] = lambda at: None) -> None:
        self._buffer = buffer
        self._size = len(buffer)
        self._passed = passed
        self._told = 0

    def blank(self, at: int) -> int:
        """The first place from ``at`` on that is no blank."""
        found = _BLANK.match(self._buffer, at)
        return found.end() if found is not None else at

    def letter(self, at: int) -> bytes:
        """The byte at a place; empty at the end."""
        return self._buffer[at : at + 1]

    def value_end(self, at: int) -> int:
        """Where the value that begins at ``at`` ends. Raises ``CutShort``, ``NotJson``."""
        first = self.letter(at)
        if not first:
            raise CutShort(at)
        if first in _OPENING:
            return self._container_end(at)
        found = (_TEXT if first == b'"' else _SCALAR).match(self._buffer, at)
        if found is None:
            raise CutShort(at) if first == b'"' else NotJson(at)
        return found.end()

    def list_end(self, at: int, read: Callable[[int], int]) -> int:
        """Where the list that begins at ``at`` ends. ``read`` is given the begin of each entry, and gives its end.

        Raises ``CutShort``, ``NotJson``.
        """
        at = self.blank(at + 1)
        while self.letter(at) != b"]":
            at = self._after_entry(read(at), b"]")
        return at + 1

    def map_end(self, at: int, read: Callable[[str, int], int]) -> int:
        """Where the map that begins at ``at`` ends. ``read`` is given each key and the begin of its value, and gives
        the value's end. Raises ``CutShort``, ``NotJson``.
        """
        at = self.blank(at + 1)
        while self.letter(at) != b"}":
            if self.letter(at) != b'"':
                raise NotJson(at) if self.letter(at) else CutShort(at)
            end = self.value_end(at)
            key = self.decoded(at, end)
            at = self.blank(end)
            if self.letter(at) != b":":
                raise NotJson(at) if self.letter(at) else CutShort(at)
            at = self._after_entry(read(str(key), self.blank(at + 1)), b"}")
        return at + 1

    def decoded(self, begin: int, end: int) -> Any:
        """The value between two places. Raises ``NotJson``."""
        raw = self._buffer[begin:end]
        try:
            return msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError):  # NaN and the like, which json reads
            try:
                return json.loads(raw)
            except (ValueError, RecursionError):
                raise NotJson(begin) from None

    def _after_entry(self, at: int, closing: bytes) -> int:
        """The begin of the next entry, or the closing bracket."""
        self._tell(at)
        at = self.blank(at)
        if self.letter(at) == b",":
            return self.blank(at + 1)
        if self.letter(at) != closing:
            raise NotJson(at) if self.letter(at) else CutShort(at)
        return at

    def _container_end(self, begin: int) -> int:
        at, depth = begin + 1, 1
        while depth:
            found = _TO_BRACKET.match(self._buffer, at)
            at = found.end() if found is not None else at
            letter = self.letter(at)
            if not letter or letter == b'"':  # a text that is not closed
                raise CutShort(begin)
            depth += 1 if letter in _OPENING else -1
            at += 1
            self._tell(at)
        return at

    def _tell(self, at: int) -> None:
        if at - self._told >= _STRIDE:
            self._told = at
            self._passed(at)
