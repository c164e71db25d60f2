"""What changed between two texts, word by word."""

from __future__ import annotations

import difflib
import re
from typing import Literal

from msgspec import Struct

_WORD = re.compile(r"\s+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+|.", re.DOTALL)
_LONGEST = 4000
"""Words; longer texts are compared line by line, which takes no longer than looking at them."""


class Piece(Struct, frozen=True):
    """A part that both texts have, that only the first has, or only the second."""

    kind: Literal["same", "gone", "new"]
    text: str


def word_diff(first: str, second: str) -> list[Piece]:
    """The pieces in order: those that are no `new` make the first text, those that are no `gone` the second."""
    one, other = _WORD.findall(first), _WORD.findall(second)
    if len(one) + len(other) > _LONGEST:
        one, other = first.splitlines(keepends=True), second.splitlines(keepends=True)
    pieces: list[Piece] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(Piece("same", "".join(one[a:b])))
            continue
        if a < b:
            pieces.append(Piece("gone", "".join(one[a:b])))
        if c < d:
            pieces.append(Piece("new", "".join(other[c:d])))
    return pieces


def marked(pieces: list[Piece], context: int = 40) -> str:
    """A diff on one line: ``the [-red-] {+blue+} kiln``; what stays the same is cut to what is around changes."""
    parts = []
    for number, piece in enumerate(pieces):
        if piece.kind == "gone":
            parts.append(f"[-{piece.text}-]")
        elif piece.kind == "new":
            parts.append(f"{{+{piece.text}+}}")
        else:
            parts.append(_around(piece.text, context, first=number == 0, last=number == len(pieces) - 1))
    return "".join(parts)


def _around(text: str, context: int, *, first: bool, last: bool) -> str:
    if len(text) <= 2 * context:
        return text
    begin = "" if first else text[:context]
    end = "" if last else text[-context:]
    return f"{begin}…{end}"
