"""ROUGE-N and ROUGE-L F-measures (Lin 2004) over tokens.

The tokens are those of ``answer_text``: stems of words, and single characters for Chinese, Japanese and Korean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def rouge_n(prediction: Sequence[str], gold: Sequence[str], n: int) -> float:
    """F-measure of shared n-grams, each counted as often as it is in both."""
    found, wanted = _ngrams(prediction, n), _ngrams(gold, n)
    return _f_measure((found & wanted).total(), found.total(), wanted.total())


def rouge_l(prediction: Sequence[str], gold: Sequence[str]) -> float:
    """F-measure of the longest common subsequence."""
    return _f_measure(_common_subsequence(prediction, gold), len(prediction), len(gold))


def _ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1))


def _common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Its length, row by row of the usual table."""
    row = [0] * (len(second) + 1)
    for token in first:
        above = row
        row = [0]
        for column, other in enumerate(second):
            row.append(above[column] + 1 if token == other else max(above[column + 1], row[column]))
    return row[-1]


def _f_measure(common: int, found: int, wanted: int) -> float:
    return 2 * common / (found + wanted) if common else 0.0
