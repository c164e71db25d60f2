"""Every metric by its name; each is a score of one prediction against its golds, from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rouge import rouge_l, rouge_n
from stemming import stem

from workbench.cases.answer_scores import acc, coverem, em, f1, stringem
from workbench.cases.answer_text import tokens

Score = Callable[[str, Sequence[str]], float]
"""(prediction, golds) -> score."""


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
