"""A small run for tests: two searches' worth of steps, each item wrong in its own way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbench.cases.opening import open_runs
from workbench.cases.study import Study

GOLDS = [["Ada Fenwick"], ["Wend"], ["1342"], ["oat flour"], ["forty-five"], ["圆顶灯塔"]]
PASSAGES = [
    ["The keeper is Ada Fenwick.", "Another."],
    ["Nothing of use.", "Another."],
    ["It was founded in 1342.", "Another."],
    ["The mill makes oat flour.", "Another."],
    ["It takes forty-five minutes.", "Another."],
    ["圆顶灯塔在此。", "另一个"],
]
QUESTIONS = ["who keeps it?", "which river?", "which year?", "what flour?", "how long?", "哪座灯塔?"]
PROMPTS = ["\n".join([*passages, question]) for passages, question in zip(PASSAGES, QUESTIONS, strict=True)]
ANSWERS = [
    "\\boxed{Ada Fenwick}",
    "I can't tell",
    "\\boxed{1432}",
    "It is \\boxed{oat flour}",
    "\\boxed{45}",
    "圆顶灯塔。",
]
PREDICTIONS = ["Ada Fenwick", "I can't tell", "1432", "It is", "45", "圆顶灯塔。"]


def visits(**changed: Any) -> list[dict[str, Any]]:
    """The visits of a plain pipeline; a variable may be given other values."""
    values: dict[str, Any] = {
        "q_ls": QUESTIONS,
        "gt_ls": GOLDS,
        "ret_psg": PASSAGES,
        "prompt_ls": PROMPTS,
        "ans_ls": ANSWERS,
        "pred_ls": PREDICTIONS,
    } | changed
    steps = {
        "benchmark.get_data": ("q_ls", "gt_ls"),
        "retriever.retriever_init": (),
        "retriever.bm25_search": ("ret_psg",),
        "prompt.qa_rag_boxed": ("prompt_ls",),
        "generation.generate": ("ans_ls",),
        "custom.output_extract_from_boxed": ("pred_ls",),
    }
    return [
        {"step": step, "memory": {f"memory_{name}": values[name] for name in names}} for step, names in steps.items()
    ]


def write(folder: Path, content: Any, name: str = "memory_toy_p_20250101_120000.json") -> Path:
    file = folder / name
    file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return file


def study(folder: Path, **changed: Any) -> Study:
    return Study(open_runs(write(folder, visits(**changed)))[0])
