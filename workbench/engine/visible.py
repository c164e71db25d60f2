"""Text from outside (documents, answers, errors, server logs) made safe to show: no control sequence survives."""

from __future__ import annotations

import re

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)}
_PICTURES[0x7F] = "␡"
_PICTURES |= dict.fromkeys(range(128, 160), "␛")
# Marks that reorder or hide what follows them: embeddings, overrides, isolates, zero-width and line separators.
_HIDDEN = (0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2028, 0x2029, 0x2060, *range(0x2066, 0x206A), 0xFEFF)
_PICTURES |= dict.fromkeys((*_HIDDEN, *range(55296, 57344)), "�")
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ud800-\udfff\ufeff]"
)


def visible(text: str) -> str:
    """The text with stand-ins for every character that a terminal would obey; newlines and tabs are kept."""
    text = text.replace("\r\n", "\n") if "\r" in text else text
    return text.translate(_PICTURES) if _UNSAFE.search(text) else text


def one_line(text: str, limit: int = 200) -> str:
    """The text on one line, cut to ``limit`` characters with its true length noted."""
    start = visible(text[: limit + 1]).replace("\n", "⏎").replace("\t", " ")
    return start if len(text) <= limit else f"{start[:limit]}… ({len(text):,} characters)"
