"""How far a mean may be off: percentile bootstrap intervals (Efron 1979)."""

from __future__ import annotations

from collections.abc import Sequence

RESAMPLES, CONFIDENCE, SEED = 1000, 0.95, 0
_BLOCK = 4_000_000
"""Items drawn at once."""


def interval(scores: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED) -> list[float]:
    """The two ends between which 95 % of the means of resampled items lie; one score per item."""
    import numpy as np

    values = np.asarray(scores, dtype=float)
    random, means = np.random.default_rng(seed), np.empty(resamples)
    rows = max(1, _BLOCK // len(values))
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        means[start : start + count] = values[random.integers(0, len(values), (count, len(values)))].mean(axis=1)
    tail = (1 - CONFIDENCE) / 2
    return [float(end) for end in np.quantile(means, [tail, 1 - tail])]
