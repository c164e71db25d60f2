"""Scores of one prediction against its gold answers, each from 0 to 1; the best gold counts.

A gold without any word in it ("", "!!!") matches nothing; an item without golds scores 0.
em, f1 and the normal form follow SQuAD (Rajpurkar et al. 2016), with ``answer_text`` for other scripts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from answer_text import tokens, words
from rouge import rouge_l, rouge_n
from stemming import stem

Score = Callable[[str, Sequence[str]], float]
"""(prediction, golds) -> score."""


def acc(prediction: str, golds: Sequence[str]) -> float:
    """1 if the prediction contains some gold."""
    return float(any(_contains(prediction, gold) for gold in golds))


def em(prediction: str, golds: Sequence[str]) -> float:
    """1 if the prediction equals some gold."""
    return float(any(_equal(prediction, gold) for gold in golds))


def stringem(prediction: str, golds: Sequence[str]) -> float:
    """The share of the golds that the prediction equals."""
    return sum(_equal(prediction, gold) for gold in golds) / len(golds) if golds else 0.0


def coverem(prediction: str, golds: Sequence[str]) -> float:
    """1 if all words of some gold are in the prediction, in any order."""
    there = set(words(prediction))
    return float(any(bool(tokens(gold)) and there.issuperset(tokens(gold)) for gold in golds))


def f1(prediction: str, golds: Sequence[str]) -> float:
    """The harmonic mean of precision and recall over tokens."""
    return _best(_token_f1, prediction, golds)


def _contains(prediction: str, gold: str) -> bool:
    wanted = tokens(gold)
    if not wanted:
        return False
    if len(wanted) == 1 and len(wanted[0]) == 1:  # the choice "B" must be a word, not a letter of "because"
        return wanted[0] in words(prediction)
    return " ".join(wanted) in " ".join(tokens(prediction))


def _equal(prediction: str, gold: str) -> bool:
    return bool(tokens(gold)) and tokens(prediction) == tokens(gold)


def _token_f1(prediction: Sequence[str], gold: Sequence[str]) -> float:
    common = sum((Counter(prediction) & Counter(gold)).values())
    return 2 * common / (len(prediction) + len(gold)) if common else 0.0


def _stems(tokens: Sequence[str]) -> list[str]:
    return [stem(token) for token in tokens]


def _best(compare: Callable[[Sequence[str], Sequence[str]], float], prediction: str, golds: Sequence[str]) -> float:
    return max((compare(tokens(prediction), tokens(gold)) for gold in golds), default=0.0)


METRICS: Mapping[str, Score] = {
    "acc": acc,
    "em": em,
    "stringem": stringem,
    "coverem": coverem,
    "f1": f1,
    "rouge-1": lambda prediction, golds: _best(lambda p, g: rouge_n(_stems(p), _stems(g), 1), prediction, golds),
    "rouge-2": lambda prediction, golds: _best(lambda p, g: rouge_n(_stems(p), _stems(g), 2), prediction, golds),
    "rouge-l": lambda prediction, golds: _best(lambda p, g: rouge_l(_stems(p), _stems(g)), prediction, golds),
}
