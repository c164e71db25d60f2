"""A prompt that is too long, with a part of its middle taken out: the task stands at its ends, the passages between."""

from __future__ import annotations

from typing import Any

from answer import GenerationError, TooLong
from backend import Messages

AT_MOST = 6
"""How often one prompt is shortened."""
_UNKNOWN, _MARGIN = 0.3, 1.1
"""The part that is taken out where nobody says how much is too much, and how much more than that, where they do."""
_QUOTED = 40


def shortened(messages: Messages, error: TooLong) -> tuple[Messages, str]:
    """The messages with whole lines taken out of the middle of the longest, and what was, in words.

    Raises the error where there is nothing to take.
    """
    texts = [message["content"] if isinstance(message["content"], str) else "" for message in messages]
    place = max(range(len(texts)), key=lambda n: len(texts[n]))
    text = texts[place]
    lines = text.split("\n")
    if len(lines) < 3:
        raise GenerationError(f"{error}. It can't be cut: it has no lines in its middle to take out")
    first, last = _cut(lines, int(len(text) * _part(error)))
    gone = "\n".join(lines[first:last])
    kept = "\n".join([*lines[:first], *lines[last:]])
    said = f"{len(gone)} of {len(text)} characters, from {_start(gone)!r} to {_end(gone)!r}"
    return [*messages[:place], {**messages[place], "content": kept}, *messages[place + 1 :]], said


def length(messages: Messages) -> int:
    """Characters of all texts."""
    return sum(len(text) for message in messages for text in texts_of(message["content"]))


def texts_of(content: Any) -> list[str]:
    """The texts of a message's content."""
    return [content] if isinstance(content, str) else [part.get("text", "") for part in content]


def _part(error: TooLong) -> float:
    """Which part of the prompt is to go."""
    if not error.tokens or not error.fitting or error.fitting >= error.tokens:
        return _UNKNOWN
    return min(0.95, (1 - error.fitting / error.tokens) * _MARGIN)


def _cut(lines: list[str], characters: int) -> tuple[int, int]:
    """Lines, from and to, of about so many characters, grown out of the middle; the first and last line stay."""
    middle = first = last = len(lines) // 2
    size = 0
    while size < max(1, characters) and (first > 1 or last < len(lines) - 1):
        if first > 1 and (middle - first <= last - middle or last == len(lines) - 1):
            first -= 1
            size += len(lines[first]) + 1
        else:
            size += len(lines[last]) + 1
            last += 1
    return first, last


def _start(text: str) -> str:
    return " ".join(text[: _QUOTED * 2].split())[:_QUOTED]


def _end(text: str) -> str:
    return " ".join(text[-_QUOTED * 2 :].split())[-_QUOTED:]
