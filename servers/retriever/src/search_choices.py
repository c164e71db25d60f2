"""What a hybrid search may be asked for: searches, fusion, a filter for each query; and what a filter left."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from fastmcp.exceptions import ToolError
from filters import Where, read_filter
from hits import Hit
from passages import Corpus
from retrieval import is_query

from workbench.mcp.kit import item_numbers

SEARCHES = ("bm25", "dense")
FUSIONS = ("rrf", "weighted")
_NAMED = 5
"""How many items and keys a warning names."""


def without_passages(
    found: Sequence[Sequence[Hit]],
    queries: Sequence[str],
    given: dict[str, Any] | list[dict[str, Any]] | None,
    corpus: Corpus | None,
) -> list[str]:
    """Says which queries found nothing for their filter: that looks like a corpus without an answer.

    ``corpus``, where there is one, tells which keys of a filter no record has.
    """
    filters = given if isinstance(given, list) else [given or {}] * len(queries)
    rows = zip(item_numbers(len(queries)), found, queries, filters, strict=True)
    empty = [(item, where) for item, hits, query, where in rows if not hits and where and is_query(query)]
    if not empty:
        return []
    keys = dict.fromkeys(f"`{key}`" for _, where in empty for key in where if corpus and key not in corpus.keys)
    told = "; ".join(f"[{item}] {json.dumps(where, ensure_ascii=False)}" for item, where in empty[:_NAMED])
    more = f"; and {len(empty) - _NAMED} more" if len(empty) > _NAMED else ""
    lacking = [f"no passage has the key {', '.join([*keys][:_NAMED])}"] if keys else []
    return [*lacking, f"no passage meets the filter: {told}{more}"]


def by_filter(given: dict[str, Any] | list[dict[str, Any]] | None, count: int) -> dict[Where, list[int]]:
    """The places of the queries that share a filter. Raises ``ToolError`` for what is none, or not one a query."""
    if isinstance(given, list) and len(given) != count:
        raise ToolError(f"search_filter has {len(given)} filters for {count} queries")
    wheres = [read_filter(one) for one in given] if isinstance(given, list) else [read_filter(given)] * count
    places: dict[Where, list[int]] = {}
    for place, where in enumerate(wheres):
        places.setdefault(where, []).append(place)
    return places


def check_choices(
    searches: Sequence[str], fusion: str, weights: dict[str, float], mmr: float | None, rrf_k: float
) -> None:
    """Raises ``ToolError`` for what can't be."""
    for name in (*searches, *weights):
        if name not in SEARCHES:
            raise ToolError(f"retriever.searches and fusion_weights know bm25 and dense; found {name!r}")
    if not searches:
        raise ToolError("retriever.searches is empty; give bm25, dense or both")
    if fusion not in FUSIONS:
        raise ToolError(f"unknown retriever.fusion {fusion!r}; known are {', '.join(FUSIONS)}")
    for name, weight in weights.items():
        if not math.isfinite(weight) or weight < 0:
            raise ToolError(f"retriever.fusion_weights.{name} must be a number from 0 on; found {weight}")
    if mmr is not None and not 0 <= mmr <= 1:
        raise ToolError(f"retriever.mmr_lambda must be between 0 (most unlike) and 1 (best score); found {mmr}")
    check_rrf(rrf_k)


def check_rrf(rrf_k: float) -> None:
    """Raises ``ToolError`` for a constant that divides by nothing."""
    if not (math.isfinite(rrf_k) and rrf_k > 0):
        raise ToolError(f"retriever.rrf_k must be above 0; found {rrf_k}")
