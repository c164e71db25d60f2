"""How long scores take: `python benchmarks/metrics.py [ITEMS]`; beside rouge-score where that is installed.

Each item has a prediction of about ten words and two golds, as answers have them.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "servers/evaluation/src"))
ITEMS = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
TEXT = "the harbour light of Gullstead was built in 1874 by Ada Fenwick and her brothers; it burns salt-oil"


def timed(name: str, score: Callable[[], object]) -> None:
    begun = time.perf_counter()
    score()
    seconds = time.perf_counter() - begun
    print(f"{name:<24} {seconds:6.2f} s  {seconds / ITEMS * 1e6:6.1f} µs an item")


def main() -> None:
    from scores import METRICS

    draw, words = random.Random(1), TEXT.split()
    predictions = [" ".join(draw.choices(words, k=10)) for _ in range(ITEMS)]
    golds = [[" ".join(draw.choices(words, k=4)) for _ in range(2)] for _ in range(ITEMS)]
    for name, metric in METRICS.items():
        timed(name, lambda metric=metric: list(map(metric, predictions, golds)))
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        print("rouge-score is not installed: pip install rouge-score")
        return
    for ours, theirs in (("rouge-1", "rouge1"), ("rouge-2", "rouge2"), ("rouge-l", "rougeL")):
        scorer = RougeScorer([theirs], use_stemmer=True)
        timed(
            f"{ours} by rouge-score",
            lambda scorer=scorer: [scorer.score_multi(gold, p) for gold, p in zip(golds, predictions, strict=True)],
        )


if __name__ == "__main__":
    main()
