"""What a search finds, and how several lists of it become one: rank fusion, weighted fusion, MMR."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from embedders import Vectors

RRF_K = 60
"""The constant of reciprocal rank fusion in its paper."""


@dataclass(frozen=True)
class Hit:
    """A passage with the score that it was found by; higher is better."""

    id: str
    text: str
    score: float
    position: int | None = None
    """In the corpus; None where the index keeps the passages itself."""

    @property
    def key(self) -> object:
        """What makes two hits the same passage: ids need not be unique in a file."""
        return self.id if self.position is None else self.position


def reciprocal_rank_fusion(lists: Mapping[str, Sequence[Hit]], weights: Mapping[str, float], k: float) -> list[Hit]:
    """Each passage gets the sum of weight / (k + rank) over the lists it is in, ranks from 1, the first in each list.

    Cormack, Clarke, Buettcher: Reciprocal Rank Fusion outperforms Condorcet and individual rank learning
    methods, SIGIR 2009.
    """
    return _fused(lists, lambda name, rank, hit: weights.get(name, 1.0) / (k + rank))


def weighted_fusion(lists: Mapping[str, Sequence[Hit]], weights: Mapping[str, float]) -> list[Hit]:
    """Each passage gets the sum of weight x score, the scores of each list scaled to 0..1.

    The best of a list has 1; what a list does not hold has 0 there, as the worst of it has.
    """
    scales = {name: _scale([hit.score for hit in hits]) for name, hits in lists.items()}
    return _fused(lists, lambda name, rank, hit: weights.get(name, 1.0) * scales[name](hit.score))


def _fused(lists: Mapping[str, Sequence[Hit]], share: Callable[[str, int, Hit], float]) -> list[Hit]:
    """Best first; of equal scores, the one with the better rank in some list, then the earlier passage."""
    shares: dict[object, list[float]] = {}
    best: dict[object, tuple[int, str]] = {}
    found: dict[object, Hit] = {}
    for name, hits in lists.items():
        first: dict[object, tuple[int, Hit]] = {}
        for rank, hit in enumerate(hits, start=1):  # a list that names a passage again does not vote twice
            first.setdefault(hit.key, (rank, hit))
        for rank, hit in first.values():
            shares.setdefault(hit.key, []).append(share(name, rank, hit))
            best[hit.key] = min(best.get(hit.key, (rank, hit.id)), (rank, hit.id))
            found.setdefault(hit.key, hit)
    # Summed in one order whatever the lists' order is: floats are not associative.
    scores = {key: sum(sorted(parts)) for key, parts in shares.items()}
    order = sorted(found, key=lambda key: (-scores[key], *best[key]))
    return [replace(found[key], score=scores[key]) for key in order]


def _scale(scores: Sequence[float]) -> Callable[[float], float]:
    low, high = (min(scores), max(scores)) if scores else (0.0, 0.0)
    if high == low:
        return lambda score: 1.0
    return lambda score: (score - low) / (high - low)


def maximal_marginal_relevance(relevance: Vectors, likeness: Vectors, top_k: int, trade: float) -> list[int]:
    """Positions chosen one by one: ``trade`` x relevance less (1 - ``trade``) x the likeness to those chosen.

    ``relevance``: candidates; ``likeness``: candidates x candidates. Carbonell, Goldstein: The use of MMR,
    diversity-based reranking for reordering documents and producing summaries, SIGIR 1998.
    """
    import numpy as np

    chosen: list[int] = []
    nearest: Any = np.zeros(len(relevance), dtype=np.float32)
    open_ = np.ones(len(relevance), dtype=bool)
    while len(chosen) < min(top_k, len(relevance)):
        gain = np.where(open_, trade * relevance - (1 - trade) * nearest, -np.inf)
        pick = int(np.argmax(gain))
        chosen.append(pick)
        open_[pick] = False
        nearest = likeness[pick] if len(chosen) == 1 else np.maximum(nearest, likeness[pick])
    return chosen
