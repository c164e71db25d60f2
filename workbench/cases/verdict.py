"""A verdict on one item: the step at fault, how sure that is, and the two texts in which it can be checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from workbench.cases.saved_run import SavedVisit
from workbench.cases.tracing import Stage

Sure = Literal["certain", "likely", "possible"]


class Shown(Struct, frozen=True):
    """A text that a verdict rests on: what it is, the visit that gave it, and the text or its part that matters."""

    what: str
    text: str
    visit: int | None = None


class Verdict(Struct, frozen=True):
    """Why an item is wrong. ``reason`` is a fixed name for machines, ``sentence`` is for people.

    ``step`` is the step's path where the pipeline is known, ``name`` its tool. ``expected`` and ``found`` can be laid
    side by side.
    """

    item: int
    stage: Stage
    reason: str
    sentence: str
    sure: Sure
    expected: Shown
    found: Shown
    step: str | None = None
    name: str | None = None
    visit: int | None = None

    @property
    def at(self) -> str:
        """The step in words: ``5.3 retriever.bm25_search``."""
        return " ".join(part for part in (self.step, self.name) if part)


def step_of(visit: SavedVisit | None) -> tuple[str | None, str | None, int | None]:
    """A visit's step path, tool and number, as a verdict holds them."""
    if visit is None:
        return None, None, None
    paths = dict.fromkeys(place.step for place in visit.places)
    return " or ".join(paths) or None, visit.step, visit.number


def totals(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Stage -> wrong items, most first."""
    return dict(Counter(verdict.stage for verdict in verdicts).most_common())


def totals_text(verdicts: Iterable[Verdict]) -> str:
    """``18 wrong: 11 retrieval, 4 generation, 2 extraction, 1 control``."""
    counts = totals(verdicts)
    parts = ", ".join(f"{count} {stage}" for stage, count in counts.items())
    return f"{sum(counts.values())} wrong{f': {parts}' if parts else ''}"
