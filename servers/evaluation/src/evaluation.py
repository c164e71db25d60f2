"""Scores of predictions against gold answers, per item and on average, kept in a JSON file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from fastmcp.exceptions import ToolError
from scores import METRICS

from workbench.cases.answer_scores import as_golds, as_texts
from workbench.mcp.kit import ToolServer, output_path

app = ToolServer("evaluation")


@app.tool(output="pred_ls,gt_ls,metrics,save_path->eval_res")
def evaluate(
    pred_ls: list[Any], gt_ls: list[Any], metrics: list[str] | None, save_path: str
) -> dict[str, dict[str, Any]]:
    """``eval_res``: for each metric the scores per item and ``avg_<metric>``; ``path`` is their file."""
    results: dict[str, Any] = score_all(as_texts(pred_ls), [as_golds(gold) for gold in gt_ls], metrics or None)
    path = stamped(Path(output_path(save_path)), datetime.now())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return {"eval_res": {**results, "path": str(path.resolve())}}


def score_all(
    predictions: Sequence[str], golds: Sequence[Sequence[str]], metrics: Sequence[str] | None
) -> dict[str, list[float] | float]:
    """``{"em": [1.0, 0.0], "avg_em": 0.5, ...}``; golds are items x accepted answers.

    Raises ``ToolError`` for lists of unequal length, empty lists and unknown metrics.
    """
    names = list(METRICS) if metrics is None else list(metrics)
    if unknown := [name for name in names if name not in METRICS]:
        raise ToolError(f"unknown metric {', '.join(map(repr, unknown))}; known are {', '.join(METRICS)}")
    if len(predictions) != len(golds):
        raise ToolError(
            f"pred_ls has {len(predictions)} entries and gt_ls has {len(golds)}: each prediction needs its "
            "gold answers. Look for the step where pred_ls grew or lost items"
        )
    if not golds:
        raise ToolError("nothing to evaluate: pred_ls and gt_ls are empty")
    results: dict[str, list[float] | float] = {}
    for name in names:
        values = [METRICS[name](prediction, gold) for prediction, gold in zip(predictions, golds, strict=True)]
        results[name] = values
        results[f"avg_{name}"] = sum(values) / len(values)
    return results


def stamped(path: Path, now: datetime) -> Path:
    """``out/res.json`` -> ``out/res_20260102_030405.json``, with ``_2``, ``_3`` ... if that is taken."""
    stem = f"{path.stem}_{now:%Y%m%d_%H%M%S}"
    candidate, number = path.with_name(f"{stem}.json"), 2
    while candidate.exists():
        candidate, number = path.with_name(f"{stem}_{number}.json"), number + 1
    return candidate


if __name__ == "__main__":
    app.run(transport="stdio")
