"""Text from outside (documents, answers, errors, server logs) made safe to show: no control sequence survives."""

from __future__ import annotations

import re

_STAND_IN = "␦"
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without newline and tab, DEL, C1
    "\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # zero width, bidi
    "\ufe00-\ufe0f\U000e0000-\U000e0fff"  # variation selectors, tags
    "\ud800-\udfff]"  # lone surrogates
)
_VARIATION_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def visible(text: str) -> str:
    """The text with a visible stand-in for whatever could move the cursor, hide or reorder letters, or ring the bell.

    Every text that was not written in this package passes here. Newlines and tabs stay. Variation selectors are left
    out: they only choose a glyph, and terminals disagree about its width.
    """
    return _UNSAFE.sub(lambda found: _stand_in(found[0]), text)


def one_line(text: str, limit: int | None = None) -> str:
    """The text on one line: newlines and tabs become stand-ins too; cut after ``limit`` characters."""
    start = visible(text[:limit]).replace("\n", "␊").replace("\t", "␉")
    return start if limit is None or len(text) <= limit else f"{start}… ({len(text):,} characters)"


def _stand_in(letter: str) -> str:
    code = ord(letter)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return "" if _VARIATION_SELECTORS.match(letter) else _STAND_IN
