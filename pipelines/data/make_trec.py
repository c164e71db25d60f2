"""Make the files of trec/: the gold passages of the manual's questions, and two rankings of them.

``bm25.run`` is by words, ``hybrid.run`` by words and embeddings.

Run it from anywhere: ``python pipelines/data/make_trec.py``.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

import workbench

HERE = Path(__file__).parent
PIPELINES = HERE.parent
BEST = 10


async def ranking(pipeline: str, tag: str, questions: list[str]) -> str:
    """Lines ``query Q0 passage rank score tag`` of a search pipeline that is run on the same questions."""
    sets = {"retriever.top_k": BEST, "retriever.search_outputs": ["ret_psg", "ret_ids", "ret_scores"]}
    with tempfile.TemporaryDirectory() as folder:
        async with workbench.open(PIPELINES / f"{pipeline}.yaml", sets=sets, folder=folder) as debugger:
            await debugger.run("continue")
            ids, scores = debugger.evaluate("ret_ids"), debugger.evaluate("ret_scores")
    lines = []
    for question, found, its in zip(questions, ids, scores, strict=True):
        for rank, (passage, score) in enumerate(zip(found, its, strict=True), 1):
            lines.append(f"{question} Q0 {passage} {rank} {score} {tag}\n")
    return "".join(lines)


async def main() -> None:
    """Write the three files."""
    rows = [json.loads(line) for line in (HERE / "manual_questions.jsonl").read_text(encoding="utf-8").splitlines()]
    golds = "".join(f"{row['id']} 0 {gold} 1\n" for row in rows for gold in row["gold_ids"])
    folder = HERE / "trec"
    folder.mkdir(exist_ok=True)
    (folder / "manual.qrels").write_text(golds, encoding="utf-8")
    for pipeline, tag in (("bm25_search", "bm25"), ("hybrid_search", "hybrid")):
        text = await ranking(pipeline, tag, [row["id"] for row in rows])
        (folder / f"{tag}.run").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
