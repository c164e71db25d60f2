"""Scores of predictions, rankings and answers, per item and on average, kept in a JSON file."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import judged
from bootstrap import interval
from fastmcp import Context
from fastmcp.exceptions import ToolError
from judge import Judge
from scores import METRICS
from trec import Run, Scores, measured, read_qrels, read_run, tied_at_the_top

from workbench.cases.answer_scores import as_golds, as_texts
from workbench.cases.permutation import RESAMPLES, paired_test
from workbench.mcp.client_model import Unclear, each
from workbench.mcp.kit import MarkedResult, ToolServer, check_lengths, find_file, item_numbers, output_path

app = ToolServer("evaluation")
_SIGNIFICANT = 0.05
NAMED = 20
"""How many items a warning names."""

EvalRes = dict[str, dict[str, Any]]
"""``{"eval_res": {...}}``: for each metric the scores per item and ``avg_<metric>``; ``path`` is their file."""


@app.tool(output="pred_ls,gt_ls,metrics,save_path->eval_res")
def evaluate(pred_ls: list[Any], gt_ls: list[Any], metrics: list[str] | None, save_path: str) -> EvalRes:
    """Scores of each prediction against its golds; ``intervals`` says how far each average may be off."""
    results: dict[str, Any] = score_all(as_texts(pred_ls), [as_golds(gold) for gold in gt_ls], metrics or None)
    scores = {name: values for name, values in results.items() if isinstance(values, list)}
    return kept({**results, "intervals": {name: interval(values) for name, values in scores.items()}}, save_path)


# ---- rankings


@app.tool(output="run_path,qrels_path,ir_metrics,ks,save_path->eval_res", whole=("eval_res",))
def evaluate_trec(
    run_path: str, qrels_path: str, metrics: list[str] | None, ks: list[int] | None, save_path: str
) -> MarkedResult:
    """How good a ranking is, for each query that has judgements and was ranked."""
    qrels, run = read_qrels(str(find_file(qrels_path))), read_run(str(find_file(run_path)))
    scores = measured(qrels, run, metrics, ks)
    results = {**_by_query(scores), "intervals": {n: interval([*s.values()]) for n, s in scores.items()}}
    return MarkedResult(kept(results, save_path), warnings=said_of_rankings(qrels, {run_path: run}))


@app.tool(
    output="run_new_path,run_old_path,qrels_path,ir_metrics,ks,n_resamples,save_path,seed->eval_res",
    whole=("eval_res",),
)
def evaluate_trec_pvalue(  # noqa: PLR0917 - the dialect's signature
    run_new_path: str,
    run_old_path: str,
    qrels_path: str,
    metrics: list[str] | None,
    ks: list[int] | None,
    n_resamples: int | None,
    save_path: str,
    seed: int = 0,
) -> MarkedResult:
    """Whether one ranking is better than another: means, and a paired permutation test for each metric.

    A query that only one of them ranked counts 0 for the other.
    """
    qrels = read_qrels(str(find_file(qrels_path)))
    new, old = (read_run(str(find_file(path))) for path in (run_new_path, run_old_path))
    after, before = (measured(qrels, run, metrics, ks) for run in (new, old))
    results = {
        name: tested(*by_query(before[name], after[name]), seed=seed, resamples=n_resamples or RESAMPLES)
        for name in after
    }
    said = said_of_rankings(qrels, {run_new_path: new, run_old_path: old})
    return MarkedResult(
        kept({**results, "resamples": n_resamples or RESAMPLES, "seed": seed}, save_path), warnings=said
    )


@app.tool(output="old_ids,new_ids,gold_ids,ir_metrics,ks,save_path,seed->eval_res", whole=("eval_res",))
def compare_searches(  # noqa: PLR0917 - what is compared, and how
    old_ids: list[list[str]],
    new_ids: list[list[str]],
    gold_ids: list[list[str]],
    metrics: list[str] | None,
    ks: list[int] | None,
    save_path: str,
    seed: int = 0,
) -> EvalRes:
    """Whether one search of a run finds gold passages better than another: items x ids, best first.

    For each metric the means of both, their 95 % intervals and that of the difference, and p of a paired permutation
    test.
    """
    check_lengths(old_ids=old_ids, new_ids=new_ids, gold_ids=gold_ids)
    qrels = {str(item): {str(gold): 1 for gold in golds} for item, golds in enumerate(gold_ids)}
    before, after = (measured(qrels, as_run(rankings), metrics, ks) for rankings in (old_ids, new_ids))
    results: dict[str, Any] = {}
    for name in after:
        old, new = by_query(before[name], after[name])
        spread = {
            "old": interval(old, seed=seed),
            "new": interval(new, seed=seed),
            "difference": interval([b - a for a, b in zip(old, new, strict=True)], seed=seed),
        }
        results[name] = {**tested(old, new, seed=seed, resamples=RESAMPLES), "intervals": spread}
    return kept({**results, "items": len(gold_ids), "resamples": RESAMPLES, "seed": seed}, save_path)


def as_run(rankings: Sequence[Sequence[str]]) -> Run:
    """Rankings by item as trec_eval has them: with scores, of which the best is the highest."""
    return {
        str(item): {str(name): float(-rank) for rank, name in reversed(list(enumerate(names)))}
        for item, names in enumerate(rankings)
    }


def by_query(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[list[float], list[float]]:
    """The scores of both for the same queries; one that only one of them ranked counts 0 for the other."""
    queries = sorted(after.keys() | before.keys())
    return [before.get(query, 0.0) for query in queries], [after.get(query, 0.0) for query in queries]


def tested(old: Sequence[float], new: Sequence[float], *, seed: int, resamples: int) -> dict[str, Any]:
    """The means of two systems, their difference, and whether it can be chance."""
    p = paired_test(old, new, seed=seed, resamples=resamples).p
    means = sum(old) / len(old), sum(new) / len(new)
    return {
        "old": means[0],
        "new": means[1],
        "difference": means[1] - means[0],
        "p": p,
        "is_significant": p < _SIGNIFICANT,
    }


def said_of_rankings(qrels: Mapping[str, Any], runs: Mapping[str, Run]) -> list[str]:
    """What one should know before believing the scores."""
    said = []
    for path, run in runs.items():
        missing, unjudged = len(qrels.keys() - run.keys()), len(run.keys() - qrels.keys())
        if missing or unjudged:
            said.append(f"{path}: {missing} judged queries were not ranked; {unjudged} have no judgements")
        tied = tied_at_the_top(run)
        if tied:
            said.append(
                f"{path}: {len(tied)} queries have equal scores at the top ({', '.join(tied[:5])}): "
                "trec_eval takes the later name first"
            )
    return said


def _by_query(scores: Scores) -> dict[str, Any]:
    averages = {f"avg_{name}": sum(values.values()) / len(values) for name, values in scores.items()}
    return {**scores, **averages}


# ---- what a model judges


@app.tool(output="q_ls,ans_ls,ret_psg,save_path->eval_res")
async def faithfulness(
    q_ls: list[str], ans_ls: list[str], ret_psg: list[Any], ctx: Context, save_path: str
) -> MarkedResult:
    """The share of each answer's statements that its passages bear out."""
    return await judged_all(
        "faithfulness", judged.faithfulness, ctx, save_path, q_ls=q_ls, ans_ls=ans_ls, ret_psg=passages_of(ret_psg)
    )


@app.tool(output="q_ls,ans_ls,save_path->eval_res")
async def answer_relevancy(q_ls: list[str], ans_ls: list[str], ctx: Context, save_path: str) -> MarkedResult:
    """How near each answer keeps to its question."""
    return await judged_all("answer_relevancy", judged.answer_relevancy, ctx, save_path, q_ls=q_ls, ans_ls=ans_ls)


@app.tool(output="q_ls,gt_ls,ret_psg,save_path->eval_res")
async def context_precision(
    q_ls: list[str], gt_ls: list[Any], ret_psg: list[Any], ctx: Context, save_path: str
) -> MarkedResult:
    """Whether the useful passages of each item stand first."""
    lists: dict[str, Sequence[Any]] = {"q_ls": q_ls, "gt_ls": golds_of(gt_ls), "ret_psg": passages_of(ret_psg)}
    return await judged_all("context_precision", judged.context_precision, ctx, save_path, **lists)


@app.tool(output="q_ls,gt_ls,ret_psg,save_path->eval_res")
async def context_recall(
    q_ls: list[str], gt_ls: list[Any], ret_psg: list[Any], ctx: Context, save_path: str
) -> MarkedResult:
    """The share of each gold answer's statements that the passages bear out."""
    lists: dict[str, Sequence[Any]] = {"q_ls": q_ls, "gt_ls": golds_of(gt_ls), "ret_psg": passages_of(ret_psg)}
    return await judged_all("context_recall", judged.context_recall, ctx, save_path, **lists)


@app.tool(output="q_ls,ans_ls,gt_ls,criteria,save_path->eval_res")
async def judge_pointwise(  # noqa: PLR0917 - its lists and what it judges by
    q_ls: list[str], ans_ls: list[str], gt_ls: list[Any], ctx: Context, criteria: str, save_path: str
) -> MarkedResult:
    """Each answer's grade, from 0 to 1, with the judge's reason."""
    lists: dict[str, Sequence[Any]] = {
        "q_ls": q_ls,
        "ans_ls": ans_ls,
        "gt_ls": golds_of(gt_ls),
        "criteria": [criteria] * len(q_ls),
    }
    return await judged_all("pointwise", judged.pointwise, ctx, save_path, **lists)


@app.tool(output="q_ls,first_ls,second_ls,criteria,save_path->eval_res")
async def judge_pairwise(  # noqa: PLR0917 - its lists and what it judges by
    q_ls: list[str], first_ls: list[str], second_ls: list[str], ctx: Context, criteria: str, save_path: str
) -> MarkedResult:
    """Which of two answers is better, asked in both orders; the average is the share of wins of the first.

    A tie counts half.
    """
    lists: dict[str, Sequence[Any]] = {
        "q_ls": q_ls,
        "first_ls": first_ls,
        "second_ls": second_ls,
        "criteria": [criteria] * len(q_ls),
    }
    worth = {"first": 1.0, "second": 0.0, "tie": 0.5}

    async def won(judge: Judge, *values: str) -> judged.Judged:
        winner, steps = await judged.pairwise(judge, *values)
        return worth[winner], {"winner": winner, **steps}

    return await judged_all("pairwise", won, ctx, save_path, **lists)


async def judged_all(
    name: str, judge_one: Callable[..., Awaitable[judged.Judged]], ctx: Context, save_path: str, **lists: Sequence[Any]
) -> MarkedResult:
    """The judged scores of all items, with the steps that led to each; what has no score counts in no average.

    Items whose judge was not understood are named in a warning.
    """
    count = len(next(iter(lists.values())))
    check_lengths(**lists)
    if not count:
        raise ToolError("nothing to evaluate: the lists are empty")
    judge, rows = Judge(ctx), list(zip(*lists.values(), strict=True))
    found = await each(count, lambda position: judge_one(judge, *rows[position]))
    unclear = {place: str(one) for place, one in enumerate(found) if isinstance(one, Unclear)}
    scores = [None if isinstance(one, Unclear) else one[0] for one in found]
    known = [score for score in scores if score is not None]
    if len(unclear) == count:
        raise ToolError(f"{name}: the judge could not be understood for any item: {unclear[0]}")
    results = {
        name: scores,
        f"avg_{name}": sum(known) / len(known) if known else None,
        "scored": len(known),
        "steps": [None if isinstance(one, Unclear) else one[1] for one in found],
        "intervals": {name: interval(known)} if known else {},
    }
    return MarkedResult(kept(results, save_path), warnings=_not_understood(unclear, item_numbers(count)))


def _not_understood(unclear: Mapping[int, str], items: Sequence[int]) -> list[str]:
    if not unclear:
        return []
    named = "; ".join(f"[{items[place]}] {reason}" for place, reason in [*unclear.items()][:NAMED])
    more = f"; and {len(unclear) - NAMED} more" if len(unclear) > NAMED else ""
    return [f"the judge can't be understood, and gives no score, for {named}{more}"]


def golds_of(gt_ls: Sequence[Any]) -> list[str]:
    """The first gold of each item, or an empty text."""
    return [next(iter(as_golds(gold)), "") for gold in gt_ls]


def passages_of(ret_psg: Sequence[Any]) -> list[list[str]]:
    return [as_texts(passages if isinstance(passages, list) else [passages]) for passages in ret_psg]


# ---- scores and their file


def kept(results: Mapping[str, Any], save_path: str) -> EvalRes:
    """Write the results to a new file. Raises ``ToolError`` where that can't be."""
    if Path(save_path).name in ("", ".."):
        raise ToolError(f"evaluation.save_path must name a file, e.g. output/scores.json; found {save_path!r}")
    try:
        path = stamped(Path(output_path(save_path)), datetime.now())
        path.write_text(json.dumps(results, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ToolError(f"evaluation.save_path {save_path!r} can't be written: {error}") from error
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
