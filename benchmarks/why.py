"""How long `ragwb why` takes for a large run: `uv run python benchmarks/why.py [items] [visits]`.

10,000 items, each seen by 20 visits, half of them wrong for one reason or another. Aim: 10 s.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from workbench.cases.opening import open_runs
from workbench.cases.study import Study
from workbench.cases.verdict import totals_text
from workbench.cases.why import verdicts


def main(items: int, visits: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "memory_big_run_20250101_120000.json"
        run = made(items, visits)
        file.write_text(json.dumps(run), encoding="utf-8")
        print(f"{items} items x {visits} visits, {file.stat().st_size / 1e6:.0f} MB")
        told("without its pipeline", file)
        steps = [entry["step"] for entry in run]
        servers = "".join(f"  {alias}: servers/{alias}\n" for alias in dict.fromkeys(s.split(".")[0] for s in steps))
        text = f"servers:\n{servers}pipeline:\n" + "".join(f"- {step}\n" for step in steps)
        (Path(name) / "run.yaml").write_text(text, encoding="utf-8")
        told("with its pipeline", file)


def told(how: str, file: Path) -> None:
    began = time.perf_counter()
    study = Study(open_runs(file)[0])
    opened = time.perf_counter() - began
    found = verdicts(study)
    print(f"{how}: opened {opened:.2f} s, all {time.perf_counter() - began:.2f} s: {totals_text(found)}")


def made(items: int, visits: int) -> list[dict[str, Any]]:
    """A run whose searches, prompts, model and extraction each fail for some items."""
    draw = random.Random(1)
    words = [
        "harbour",
        "keeper",
        "light",
        "mill",
        "town",
        "river",
        "ferry",
        "island",
        "market",
        "fair",
        "built",
        "year",
        "salt",
    ]

    def text(count: int) -> str:
        return " ".join(draw.choices(words, k=count))

    golds = [f"Name{n} Surname{n}" for n in range(items)]
    found = [[text(60) for _ in range(5)] for _ in golds]
    for item, gold in enumerate(golds):
        if draw.random() < 0.8:
            found[item][draw.randrange(5)] += f" {gold}"
    prompts = ["\n".join(found[n]) if draw.random() < 0.9 else text(50) for n in range(items)]
    answers = [f"It is \\boxed{{{gold}}}" if gold in prompts[n] and draw.random() < 0.8 else text(9)
               for n, gold in enumerate(golds)]  # fmt: skip
    taken = [gold if gold in answers[n] and draw.random() < 0.9 else text(2) for n, gold in enumerate(golds)]
    run: list[dict[str, Any]] = [step("benchmark.get_data", q_ls=[f"who is {n}?" for n in range(items)],
                                      gt_ls=[[gold] for gold in golds])]  # fmt: skip
    while len(run) < visits - 4:
        run.append(step("retriever.retriever_search", ret_psg=[[text(60) for _ in range(5)] for _ in golds]))
    run.append(step("retriever.retriever_search", ret_psg=found))
    run.append(step("prompt.qa_rag_boxed", prompt_ls=prompts))
    run.append(step("generation.generate", ans_ls=answers))
    run.append(step("custom.output_extract_from_boxed", pred_ls=taken))
    return run


def step(name: str, **wrote: Any) -> dict[str, Any]:
    return {"step": name, "memory": {f"memory_{key}": value for key, value in wrote.items()}}


if __name__ == "__main__":
    main(*(int(number) for number in (sys.argv[1:] or ("10000", "20"))))
