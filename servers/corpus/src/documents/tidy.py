"""What is done to every text: line ends, blanks, ligatures, characters that nobody sees."""

from __future__ import annotations

import re

_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\u00ad\u200b\u2060\ufeff]")
_MANY_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
_LIGATURES = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st"}
)


def tidied(text: str) -> str:
    """Plain newlines, at most one empty line at a time, no unseen characters, ligatures as letters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n\n")
    text = _UNSEEN.sub("", text.replace("\u3000", " ").replace("\xa0", " ")).translate(_LIGATURES)
    return _MANY_LINES.sub("\n\n", text).strip()
