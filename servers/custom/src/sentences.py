"""The first sentence of a text, and the answer that a chain of thought comes to."""

from __future__ import annotations

import re

_END = re.compile(r"[。！？]+[”」』）]*|[.!?]+[\"'”’)\]]*(?=\s|$)")
_ABBREVIATION = re.compile(
    r"(?:\b(?i:dr|mr|mrs|ms|prof|st|jr|sr|no|vs|etc|fig|eq|al|e\.g|i\.e|a\.m|p\.m|approx|dept|inc|ltd|co)|\b[A-Z])\.$"
)
_SO = re.compile(r"so the answer is\s*[:：]?\s*", re.IGNORECASE)


def first_sentence(text: str) -> str:
    """Up to the first end of a sentence, within one line; else the first line that is not empty.

    A full stop ends a sentence where a blank or the end of the line follows, unless it belongs to an abbreviation
    (``Dr.``, ``e.g.``) or to the initial of a name; a decimal point therefore does not.
    """
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    for end in _END.finditer(line):
        sentence = line[: end.end()]
        if not _is_abbreviated(sentence) or end.end() == len(line):
            return sentence
    return line


def final_answer(text: str) -> str:
    """What follows "so the answer is", to the end of its line, without a final full stop; else the whole text."""
    found = _SO.search(text)
    if found is None:
        return text.strip()
    line = text[found.end() :].partition("\n")[0].strip()
    return line[:-1].rstrip() if line.endswith((".", "。")) and not _is_abbreviated(line) else line


def _is_abbreviated(text: str) -> bool:
    return _ABBREVIATION.search(text) is not None
