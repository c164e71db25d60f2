"""Golds looked for in texts, in the normal form that evaluation uses; and answers that say the same otherwise."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from workbench.cases.answer_text import tokens, words
from workbench.cases.numerals import as_number

_PLAIN_ANSWERS = frozenset({"yes", "no", "true", "false", "none", "unknown"})
_EXCERPT = 60
"""Characters shown before and after what was found."""


class Golds:
    """The golds of one item."""

    def __init__(self, golds: Sequence[str]) -> None:
        self.texts = tuple(golds)
        self._wanted = [(gold, wanted) for gold in golds if (wanted := tokens(gold))]

    @property
    def are_telling(self) -> bool:
        """Whether finding them in a text says something: a letter, `yes` or a digit is found everywhere."""
        return any(len("".join(wanted)) > 1 and not set(wanted) <= _PLAIN_ANSWERS for _, wanted in self._wanted)

    def found_in(self, text: str) -> str | None:
        """The first gold that is in a text, word for word; None where none is."""
        if not text:
            return None
        lower = text.lower()
        for gold, wanted in self._wanted:
            # A word that is not there needs no normal form; only plain letters may be compared this way.
            if text.isascii() and any(word.isascii() and word not in lower for word in wanted):
                continue
            if f" {' '.join(wanted)} " in _normal(text):
                return gold
        return None

    def same_as(self, text: str) -> str | None:
        """How a text says the same as a gold in another way, in words; None where it does not."""
        found = tokens(text)
        for gold, wanted in self._wanted:
            if not found:
                continue
            if found == wanted:
                return "the same but for case, punctuation, articles or full-width letters"
            if (number := as_number(text)) is not None and number == as_number(gold):
                return "the same number, once in words and once in digits"
            if _bare(text) == _bare(gold):
                return "the same but for accents, blanks or hyphens"
            if len(wanted) > 1 and Counter(found) == Counter(wanted):
                return "the same words in another order"
        return None

    def in_other_script(self, *texts: str) -> tuple[str, str] | None:
        """The script of the golds, and that of all these texts, where they share none: nothing can match then."""
        golds = {script for gold in self.texts for script in scripts(gold)}
        others = [scripts(text) for text in texts if text]
        if len(golds) != 1 or not others:
            return None
        (its,) = golds
        if any(its in found for found in others) or not all(others):
            return None
        return its, others[0].most_common(1)[0][0]

    def missing_part(self, text: str) -> str | None:
        """The beginning of a gold that a text ends with: it was cut in the middle of it."""
        found = words(text)
        for gold, wanted in self._wanted:
            for length in range(len(wanted) - 1, 0, -1):
                if len("".join(wanted[:length])) > 3 and found[-length:] == wanted[:length]:
                    return gold
        return None


@lru_cache(maxsize=4096)
def _normal(text: str) -> str:
    return f" {' '.join(tokens(text))} "


@lru_cache(maxsize=4096)
def scripts(text: str) -> Counter[str]:
    """The scripts of the letters in a text (LATIN, CJK, CYRILLIC ...), by the first word of their Unicode names."""
    found: Counter[str] = Counter()
    for letter in text[:2000]:
        if letter.isalpha():
            found[_script(letter)] += 1
    return found


@lru_cache(maxsize=8192)
def _script(letter: str) -> str:
    return "LATIN" if letter.isascii() else unicodedata.name(letter, "OTHER").split(" ")[0]


def _bare(text: str) -> str:
    """Letters and digits alone, without accents."""
    plain = unicodedata.normalize("NFKD", text.lower())
    return "".join(re.findall(r"[^\W_]", "".join(c for c in plain if not unicodedata.combining(c))))


def excerpt(text: str, around: str | None = None, limit: int = 240) -> str:
    """A part of a text to look at: around what was found in it, else its beginning."""
    at = text.lower().find(around.lower()) if around else -1
    begin = max(0, at - _EXCERPT) if at >= 0 else 0
    part = text[begin : begin + limit]
    return f"{'…' if begin else ''}{part}{'…' if begin + limit < len(text) else ''}"
