"""Scores of one prediction against its gold answers, each from 0 to 1; the best gold counts.

A gold without any word in it ("", "!!!") matches nothing; an item without golds scores 0.
em, f1 and the normal form follow SQuAD (Rajpurkar et al. 2016), with ``answer_text`` for other scripts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from workbench.cases.answer_text import tokens, words


def acc(prediction: str, golds: Sequence[str]) -> float:
    """1 if the prediction contains some gold."""
    return float(any(contains(prediction, gold) for gold in golds))


def em(prediction: str, golds: Sequence[str]) -> float:
    """1 if the prediction equals some gold."""
    return float(any(equal(prediction, gold) for gold in golds))


def stringem(prediction: str, golds: Sequence[str]) -> float:
    """The share of the golds that the prediction equals."""
    return sum(equal(prediction, gold) for gold in golds) / len(golds) if golds else 0.0


def coverem(prediction: str, golds: Sequence[str]) -> float:
    """1 if all words of some gold are in the prediction, in any order."""
    there = set(words(prediction))
    return float(any(bool(tokens(gold)) and there.issuperset(tokens(gold)) for gold in golds))


def f1(prediction: str, golds: Sequence[str]) -> float:
    """The harmonic mean of precision and recall over tokens."""
    found = tokens(prediction)
    return max((_token_f1(found, tokens(gold)) for gold in golds), default=0.0)


def contains(prediction: str, gold: str) -> bool:
    """Whether the gold is in the text; a single letter ("B") must be a word of it, not a letter of "because"."""
    wanted = tokens(gold)
    if not wanted:
        return False
    if len(wanted) == 1 and len(wanted[0]) == 1:
        return wanted[0] in words(prediction)
    return " ".join(wanted) in " ".join(tokens(prediction))


def equal(prediction: str, gold: str) -> bool:
    return bool(tokens(gold)) and tokens(prediction) == tokens(gold)


def as_texts(values: Sequence[Any]) -> list[str]:
    """Numbers are compared as text; null and NaN are the empty answer; of passages, all that they say counts."""
    return [
        "\n".join(as_texts(v)) if isinstance(v, list) else "" if v is None or _is_nan(v) else str(v) for v in values
    ]


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def as_golds(value: Any) -> list[str]:
    """A lone gold, text or number, is a list of one."""
    return as_texts(value if isinstance(value, list) else [value])


def _token_f1(prediction: Sequence[str], gold: Sequence[str]) -> float:
    common = sum((Counter(prediction) & Counter(gold)).values())
    return 2 * common / (len(prediction) + len(gold)) if common else 0.0
