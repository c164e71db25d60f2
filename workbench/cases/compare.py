"""Two runs side by side: visits aligned by step and round, items by their questions, and where each item parts."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct

from workbench.cases.permutation import Tested, paired_test
from workbench.cases.saved_run import SavedVisit, is_unset
from workbench.cases.study import ItemRow, Study, text_of
from workbench.cases.word_diff import Piece, word_diff

Outcome = Literal["better", "worse", "changed", "same", "unknown"]


class Parting(Struct, frozen=True):
    """A variable in which an item differs: the visits that wrote it, and both texts.

    A visit is None where only the other run made it for the item.
    """

    first: SavedVisit | None
    second: SavedVisit | None
    name: str
    texts: tuple[str, str]

    @property
    def pieces(self) -> list[Piece]:
        return word_diff(*self.texts)


class ItemPair(Struct, frozen=True):
    """One question in both runs. ``outcome`` looks at the metric, then at f1, then at the prediction."""

    first: ItemRow
    second: ItemRow
    outcome: Outcome
    parting: Parting | None


class ScorePair(Struct, frozen=True):
    """The means of one metric over the items that both runs have, and whether they differ."""

    name: str
    first: float
    second: float
    tested: Tested


class Comparison:
    """Of two studies. ``lonely`` are the items of each run whose question the other does not have."""

    def __init__(self, first: Study, second: Study, seed: int = 0) -> None:
        self.first, self.second, self.seed = first, second, seed
        self.aligned = list(_aligned(first, second))
        self._pairs = _paired_items(first, second)
        ones, others = {one for one, _ in self._pairs}, {other for _, other in self._pairs}
        self.lonely = (
            [row.item for row in first.rows if row.item not in ones],
            [row.item for row in second.rows if row.item not in others],
        )

    @cached_property
    def items(self) -> list[ItemPair]:
        return [self._pair(self.first.rows[one], self.second.rows[other]) for one, other in self._pairs]

    @cached_property
    def scores(self) -> list[ScorePair]:
        """Every metric that both runs have for all paired items."""
        found = []
        names = self.first.rows[0].scores if self.first.rows else {}
        for name in names:
            pairs = [(p.first.scores.get(name), p.second.scores.get(name)) for p in self.items]
            ones = [one for one, other in pairs if one is not None and other is not None]
            others = [other for one, other in pairs if one is not None and other is not None]
            if ones:
                tested = paired_test(ones, others, self.seed)
                found.append(ScorePair(name, sum(ones) / len(ones), sum(others) / len(others), tested))
        return found

    @property
    def outcomes(self) -> dict[str, int]:
        counts = Counter(pair.outcome for pair in self.items)
        found = {outcome: counts[outcome] for outcome in ("better", "worse", "changed", "same")}
        return {**found, "unknown": counts["unknown"]} if counts["unknown"] else found

    @property
    def only_first(self) -> list[SavedVisit]:
        return [one for one, other in self.aligned if one is not None and other is None]

    @property
    def only_second(self) -> list[SavedVisit]:
        return [other for one, other in self.aligned if one is None and other is not None]

    def _pair(self, first: ItemRow, second: ItemRow) -> ItemPair:
        has_one, has_other = (study.roles.prediction is not None for study in (self.first, self.second))
        outcome: Outcome = "same" if first.prediction == second.prediction else "changed"
        if has_one != has_other:
            outcome = "unknown"  # one of the runs did not come to an answer
        for metric in (self.first.metric, "f1"):
            one, other = first.scores.get(metric), second.scores.get(metric)
            if one is not None and other is not None and one != other:
                outcome = "better" if other > one else "worse"
                break
        return ItemPair(first, second, outcome, next(self.partings(first.item, second.item), None))

    def partings(self, first: int, second: int) -> Iterator[Parting]:
        """Every variable, visit by visit, in which an item of the first run differs from one of the second."""
        for one, other in self.aligned:
            ones, others = entries_of(self.first, one, first), entries_of(self.second, other, second)
            for name in dict.fromkeys((*ones, *others)):
                texts = text_of(ones.get(name)), text_of(others.get(name))
                if texts[0] != texts[1]:
                    yield Parting(one if ones else None, other if others else None, name, texts)


def entries_of(study: Study, visit: SavedVisit | None, item: int) -> dict[str, Any]:
    """What a visit wrote for an item; nothing where it did not work on it. Scores are no part of an item's way."""
    if visit is None or study.flow.kind(visit) == "evaluation":
        return {}
    items = study.flow.items_of(visit)
    if items is not None and item not in items:
        return {}
    entries = {name: study.run.of_item(value, item, name) for name, value in visit.saved.items()}
    return {name: entry for name, entry in entries.items() if not is_unset(entry)}


def _paired_items(first: Study, second: Study) -> list[tuple[int, int]]:
    """Items by their questions, the same question asked twice in order; by number where there are no questions."""
    ones, others = [row.question for row in first.rows], [row.question for row in second.rows]
    if ones == others or not any(ones):
        return [(item, item) for item in range(min(len(ones), len(others)))]
    waiting: dict[str, list[int]] = {}
    for item, question in enumerate(others):
        waiting.setdefault(question, []).append(item)
    return [(item, waiting[question].pop(0)) for item, question in enumerate(ones) if waiting.get(question)]


def _aligned(first: Study, second: Study) -> Iterator[tuple[SavedVisit | None, SavedVisit | None]]:
    """Visits side by side: a longest common run of steps, rounds and branches; what one run lacks stands alone."""
    one, other = first.run.visits, second.run.visits
    has_places = all(visit.places for visit in (*one, *other) if visit.saved)
    matcher = difflib.SequenceMatcher(
        None, [_key(v, has_places) for v in one], [_key(v, has_places) for v in other], autojunk=False
    )
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            yield from zip(one[a:b], other[c:d], strict=True)
        else:
            yield from ((visit, None) for visit in one[a:b])
            yield from ((None, visit) for visit in other[c:d])


def _key(visit: SavedVisit, has_places: bool) -> tuple[object, ...]:
    """What two visits must share: not the step's path, which another step before it would change."""
    place = visit.place if has_places else None
    return (visit.step, place.round, place.branch) if place is not None else (visit.step,)
