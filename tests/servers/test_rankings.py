"""Rankings in the evaluation server: trec_eval's measures, ties, p-values, bad files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bootstrap
import evaluation
import pytest
from fastmcp.exceptions import ToolError

TREC = Path(__file__).parent / "trec"


def measured(run: Path, qrels: Path = TREC / "qrels.txt", **settings: Any) -> dict[str, Any]:
    options: dict[str, Any] = {"metrics": None, "ks": [1, 10], "save_path": "res.json", **settings}
    return results(evaluation.evaluate_trec(str(run), str(qrels), **options))


def results(marked: Any) -> dict[str, Any]:
    """What a tool of rankings found, and its warnings."""
    warnings = ((marked.meta or {}).get("ragwb") or {}).get("warnings", [])
    return {**marked.structured_content["eval_res"], "warnings": warnings}


@pytest.mark.parametrize(
    ("name", "expected"),
    [("run_ba.txt", {"map": 1, "mrr": 1, "ndcg@10": 1}), ("run_bc.txt", {"map": 0.5, "mrr": 0.5, "ndcg@10": 0.6309})],
)
def test_ties_are_broken_alike_for_every_metric(project: Path, name: str, expected: dict[str, float]) -> None:
    result = measured(TREC / name)
    assert {metric: round(result[metric]["q1"], 4) for metric in expected} == expected
    assert result["avg_map"] == result["map"]["q1"]
    assert "1 queries have equal scores at the top (q1)" in result["warnings"][0]


def write(folder: Path, rows: dict[str, str]) -> list[str]:
    for name, text in rows.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [str(folder / name) for name in rows]


def rankings(folder: Path) -> list[str]:
    """Twenty queries; the new run has every good document first, the old one second."""
    queries = [f"q{n:02}" for n in range(20)]
    ranked = {"new": ("good", "bad"), "old": ("bad", "good")}
    runs = {
        name: "".join(f"{q} Q0 {d} {n} {3 - n}.0 t\n" for q in queries for n, d in enumerate(order, 1))
        for name, order in ranked.items()
    }
    return write(folder, {**runs, "qrels": "".join(f"{q} 0 good 1\n" for q in queries)})


def test_a_p_value_is_never_0_and_the_same_again(project: Path) -> None:
    new, old, qrels = rankings(project)

    def test(*runs: str, **options: Any) -> dict[str, Any]:
        return results(evaluation.evaluate_trec_pvalue(*runs, qrels, ["mrr"], None, None, "p.json", **options))

    result = test(new, old)
    assert (result["mrr"]["old"], result["mrr"]["new"], result["mrr"]["difference"]) == (0.5, 1.0, 0.5)
    assert 0 < result["mrr"]["p"] <= 2 / 10001
    assert result["mrr"]["is_significant"]
    assert (result["seed"], result["resamples"]) == (0, 10000)
    assert test(new, old)["mrr"] == result["mrr"]
    assert test(new, new)["mrr"]["p"] == 1


def test_what_was_not_ranked_is_said(project: Path) -> None:
    run, qrels = write(project, {"run": "a Q0 x 1 1 t\nz Q0 x 1 1 t\n\n", "qrels": "a 0 x 1\nb 0 x 1\n"})
    result = measured(Path(run), Path(qrels))
    assert list(result["mrr"]) == ["a"]
    assert "1 judged queries were not ranked; 1 have no judgements" in result["warnings"][0]


@pytest.mark.parametrize(
    ("run", "settings", "said"),
    [
        ("a Q0 x 1 1.0\n", {}, r"run:1: 5 fields, and 6 are needed"),
        ("\na Q0 x 1 high t\n", {}, r"run:2: could not convert string to float: 'high'"),
        ("", {}, "nothing is in it"),
        ("b Q0 x 1 1 t\n", {}, "no query of the run is in the qrels"),
        ("a Q0 x 1 1 t\n", {"metrics": ["bleu"]}, "unknown metric 'bleu'; known are mrr"),
        ("a Q0 x 1 1 t\n", {"ks": [0]}, "ks are ranks from 1, not 0"),
    ],
)
def test_files_that_can_not_be_used(project: Path, run: str, settings: dict[str, Any], said: str) -> None:
    paths = write(project, {"run": run, "qrels": "a 0 x 1\n"})
    with pytest.raises(ToolError, match=said):
        measured(Path(paths[0]), Path(paths[1]), **settings)


def test_a_missing_file(project: Path) -> None:
    with pytest.raises(ToolError, match=r"nowhere.txt.*No such file"):
        measured(Path("nowhere.txt"))


def test_intervals_hold_the_mean_and_narrow_with_more_items() -> None:
    few, many = [0.0, 1.0] * 10, [0.0, 1.0] * 1000
    (low, high), (lower, higher) = bootstrap.interval(few), bootstrap.interval(many)
    assert low < 0.5 < high
    assert high - low > higher - lower > 0
    assert bootstrap.interval([0.25] * 5) == [0.25, 0.25]
    assert bootstrap.interval(few) == bootstrap.interval(few)
