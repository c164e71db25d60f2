"""Whether two systems really differ: a paired permutation test (Fisher 1935) on the mean difference of their scores."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

RESAMPLES = 10_000
_BLOCK = 2_000_000
"""Signs drawn at once."""


class Tested(Struct, frozen=True):
    """``p`` is two-sided and never 0: the observed signs count as one of the resamples."""

    p: float
    resamples: int
    seed: int


def paired_test(first: Sequence[float], second: Sequence[float], seed: int = 0, resamples: int = RESAMPLES) -> Tested:
    """Signs of the differences are flipped at random; p is the share of flips with as large a mean difference.

    Lists of equal length, one score per item each. Equal scores give 1.
    """
    import numpy as np

    differences = np.asarray(second, dtype=float) - np.asarray(first, dtype=float)
    differences = differences[differences != 0]
    if not len(differences):
        return Tested(1.0, resamples, seed)
    observed = abs(differences.sum()) - 1e-12
    random = np.random.default_rng(seed)
    as_large = done = 0
    while done < resamples:
        count = min(resamples - done, max(1, _BLOCK // len(differences)))
        signs = random.integers(0, 2, size=(count, len(differences)), dtype=np.int8) * 2 - 1
        as_large += int((abs(signs @ differences) >= observed).sum())
        done += count
    return Tested((as_large + 1) / (resamples + 1), resamples, seed)
