"""Rankings against relevance judgements in the files of TREC, measured by trec_eval itself (pytrec-eval-terrier)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fastmcp.exceptions import ToolError

from workbench.mcp.backends import need

Qrels = dict[str, dict[str, int]]
"""Query -> document -> relevance."""
Run = dict[str, dict[str, float]]
"""Query -> document -> score. Documents are ranked by score; of equal scores the later name comes first."""
Scores = dict[str, dict[str, float]]
"""Metric (``ndcg@10``) -> query -> score."""

IR_METRICS = ("mrr", "map", "recall", "ndcg", "precision")
CUTS = (1, 5, 10, 20, 50, 100)
_AT_EACH_CUT = {"recall": "recall", "ndcg": "ndcg_cut", "precision": "P"}
_WHOLE = {"mrr": "recip_rank", "map": "map"}


def read_qrels(path: str) -> Qrels:
    """Lines ``query iteration document relevance``. Raises ``ToolError`` with file and line."""
    found: Qrels = {}
    for query, document, relevance in _rows(path, 4, lambda parts: (parts[0], parts[2], int(parts[3]))):
        found.setdefault(query, {})[document] = relevance
    return _not_empty(found, path)


def read_run(path: str) -> Run:
    """Lines ``query Q0 document rank score tag``; the rank does not count. Raises ``ToolError`` with file and line."""
    found: Run = {}
    for query, document, score in _rows(path, 6, lambda parts: (parts[0], parts[2], float(parts[4]))):
        found.setdefault(query, {})[document] = score
    return _not_empty(found, path)


def measured(qrels: Qrels, run: Run, metrics: Sequence[str] | None, cuts: Sequence[int] | None) -> Scores:
    """The scores of the queries that both have. Raises ``ToolError`` for unknown metrics, and where none is in both."""
    names = _names(metrics or IR_METRICS, cuts or CUTS)
    evaluator = _evaluator()(qrels, set(names.values()))
    by_query: Mapping[str, Mapping[str, float]] = evaluator.evaluate(run)
    if not by_query:
        raise ToolError("no query of the run is in the qrels: are these files of the same questions?")
    return {
        name: {query: found[measure.replace(".", "_")] for query, found in sorted(by_query.items())}
        for name, measure in names.items()
    }


def tied_at_the_top(run: Run) -> list[str]:
    """The queries whose two best documents have equal scores."""
    return [
        query
        for query, scores in sorted(run.items())
        if len(best := sorted(scores.values())[-2:]) == 2 and best[0] == best[1]
    ]


def _names(metrics: Sequence[str], cuts: Sequence[int]) -> dict[str, str]:
    """Each metric as it is called here, with trec_eval's name for it."""
    if unknown := [name for name in metrics if name not in IR_METRICS]:
        raise ToolError(f"unknown metric {', '.join(map(repr, unknown))}; known are {', '.join(IR_METRICS)}")
    if wrong := [cut for cut in cuts if cut < 1]:
        raise ToolError(f"ks are ranks from 1, not {wrong[0]}")
    names = {}
    for metric in metrics:
        if metric in _WHOLE:
            names[metric] = _WHOLE[metric]
        else:
            names.update({f"{metric}@{cut}": f"{_AT_EACH_CUT[metric]}.{cut}" for cut in cuts})
    return names


def _evaluator() -> Any:
    return need("pytrec_eval", "what measures rankings (pytrec-eval)", "ragwb[trec]").RelevanceEvaluator


def _rows(path: str, fields: int, read: Callable[[list[str]], tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """What is read from each line; one with too few fields, or with a number that is none, is a mistake."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ToolError(f"{path}: {error}") from None
    rows = []
    for number, line in enumerate(lines, 1):
        parts = line.split()
        if not parts:
            continue
        if len(parts) < fields:
            raise ToolError(f"{path}:{number}: {len(parts)} fields, and {fields} are needed: {line[:60]!r}")
        try:
            rows.append(read(parts))
        except ValueError as error:
            raise ToolError(f"{path}:{number}: {error}") from None
    return rows


def _not_empty(found: dict[str, Any], path: str) -> dict[str, Any]:
    if not found:
        raise ToolError(f"{path}: nothing is in it")
    return found
