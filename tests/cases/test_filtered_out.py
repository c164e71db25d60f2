"""A passage that a filter kept from being found: no old index, and not ranked too low."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.cli.main import main

PIPELINE = Path(__file__).parents[2] / "pipelines" / "self_query.yaml"
QUESTION, GOLD = "Which town was founded before 1130?", "Harrowmouth"
WRONG = "Saltmere is a town on the river Brine. It was founded in 1342."


def entry(step: str, **values: Any) -> dict[str, Any]:
    return {"step": step, "memory": {f"memory_{name}": value for name, value in values.items()}}


@pytest.mark.parametrize(
    ("where", "reason"),
    [({"kind": "town", "year": {"gt": 1130}}, "filtered out"), ({}, "not in the index")],
)
def test_the_filter_of_an_item_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], where: dict[str, Any], reason: str
) -> None:
    prompt = f"{WRONG}\n\nQuestion: {QUESTION}\nAnswer:"
    run = [
        entry("benchmark.get_data", q_ls=[QUESTION], gt_ls=[[GOLD]]),
        entry("retriever.retriever_init"),
        entry("generation.generation_init"),
        entry("prompt.render", filter_prompt_ls=[QUESTION]),
        entry("generation.generate", condition_ls=[json.dumps(where)]),
        entry("custom.read_filters", filter_ls=[where]),
        entry("retriever.hybrid_search", ret_psg=[[WRONG, WRONG + " ", WRONG + "  "]]),
        entry("prompt.qa_rag_boxed", prompt_ls=[prompt]),
        entry("generation.generate", ans_ls=["Saltmere"]),
        entry("custom.output_extract_from_boxed", pred_ls=["Saltmere"]),
        entry("evaluation.evaluate", eval_res={"em": [0.0], "avg_em": 0.0}),
    ]
    file = tmp_path / "memory_harbour_self_query_20261130_120000.json"
    file.write_text(json.dumps(run), encoding="utf-8")
    assert main(["why", str(file), "--pipeline", str(PIPELINE), "--item", "0"]) == 0
    said = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("why"))
    assert f"retrieval, {reason}" in said
    assert (json.dumps(where) in said) == bool(where)
