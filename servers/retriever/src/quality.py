"""How good a ranking is against gold passages: recall@5, MRR and nDCG@10 (binary relevance)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fastmcp.exceptions import ToolError

RECALL_AT, NDCG_AT = 5, 10


def ranking_quality(rankings: Sequence[Sequence[str]], golds: Sequence[Sequence[str]]) -> dict[str, Any]:
    """``ranking_scores``, the means, and ``per_query``. Raises ``ToolError`` for another number of golds."""
    if len(rankings) != len(golds):
        raise ToolError(f"{len(rankings)} rankings and {len(golds)} lists of gold passages: they must be as many")
    if not rankings:
        raise ToolError("nothing to score: there are no rankings")
    rows = [(_recall(found, gold), _reciprocal_rank(found, gold), _ndcg(found, gold))
            for found, gold in zip(rankings, (set(map(str, gold)) for gold in golds), strict=True)]  # fmt: skip
    names = (f"recall@{RECALL_AT}", "mrr", f"ndcg@{NDCG_AT}")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    means = {name: round(sum(values) / len(values), 4) for name, values in columns.items()}
    return {"ranking_scores": means, "per_query": columns}


def ranking_table(ways: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """A line of Markdown each: the head, and the means of every way."""
    names = [f"recall@{RECALL_AT}", "mrr", f"ndcg@{NDCG_AT}"]
    rows = {way: " | ".join(f"{scores[name]:.3f}" for name in names) for way, scores in ways.items()}
    return {"search": " | ".join(names), **rows}


def _recall(found: Sequence[str], gold: set[str]) -> float:
    return len(gold & set(found[:RECALL_AT])) / len(gold) if gold else 0.0


def _reciprocal_rank(found: Sequence[str], gold: set[str]) -> float:
    return next((1 / rank for rank, name in enumerate(found, 1) if name in gold), 0.0)


def _ndcg(found: Sequence[str], gold: set[str]) -> float:
    """Järvelin, Kekäläinen: Cumulated gain-based evaluation of IR techniques, 2002; with log2 from rank 1 on."""
    gained: set[str] = set()
    gain = 0.0
    for rank, name in enumerate(found[:NDCG_AT], 1):
        if name in gold and name not in gained:
            gained.add(name)
            gain += 1 / math.log2(rank + 1)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(gold), NDCG_AT) + 1))
    return gain / ideal if ideal else 0.0
