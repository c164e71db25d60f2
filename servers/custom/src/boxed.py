r"""The answer inside the last ``\boxed{...}`` of a model's text."""

from __future__ import annotations

import re
from dataclasses import dataclass

_BOX = re.compile(r"\\boxed\s*\{")
_WRAPPER = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox)\s*\{([^{}]*)\}")
_CHOICE = re.compile(r"\(([A-Za-z])\)")
_MATH = re.compile(r"\$\$?(?P<dollar>[^$]*)\$\$?|\\\((?P<round>.*)\\\)|\\\[(?P<square>.*)\\\]", re.DOTALL)


@dataclass(frozen=True)
class Extract:
    """What was taken out. ``closed`` is false where the text ended inside the box."""

    text: str
    closed: bool = True


def last_boxed(answer: str) -> Extract:
    r"""The last box's content; without a box the whole answer, stripped.

    Cleaning: dollar signs and ``\(...\)`` around the whole are removed as pairs, ``\text{...}`` and its like
    are unwrapped one by one, and a lettered choice ``(B)`` gives ``B``. All else stays, backslashes too.
    """
    starts = [opening.end() for opening in _BOX.finditer(answer)]
    if not starts:
        return Extract(clean(answer))
    end = closing_brace(answer, starts[-1])
    return Extract(clean(answer[starts[-1] : end]), closed=end is not None)


def closing_brace(text: str, start: int) -> int | None:
    """Where the brace that was opened before ``start`` is closed; escaped braces do not count."""
    depth, position = 1, start
    while position < len(text):
        if text[position] == "\\":
            position += 2
            continue
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return position
        position += 1
    return None


def clean(text: str) -> str:
    """Take away what is around the answer and no part of it."""
    text = text.strip()
    if math := _MATH.fullmatch(text):
        text = next(group for group in math.groups() if group is not None).strip()
    unwrapped = _WRAPPER.sub(r"\1", text)
    while unwrapped != text:
        text, unwrapped = unwrapped, _WRAPPER.sub(r"\1", unwrapped)
    text = text.strip()
    choice = _CHOICE.fullmatch(text)
    return choice[1] if choice else text
