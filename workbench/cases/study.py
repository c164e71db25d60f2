"""One run, ready to be studied: its flow, roles and scores, and a table of its items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from workbench.cases.answer_scores import as_golds, as_texts, em, f1
from workbench.cases.flow import Flow
from workbench.cases.opening import OpenedRun
from workbench.cases.paths import ItemPath, item_paths
from workbench.cases.roles import Roles, evaluated, find_roles
from workbench.cases.saved_run import is_unset
from workbench.engine.values import is_list


class ItemRow(Struct, frozen=True):
    """One item of a run. ``scores`` are all that are known: what the run evaluated, and em and f1 where it did not.

    ``is_right`` is None where there is no gold or no prediction to compare. ``path.rounds`` is None where the file
    does not tell.
    """

    item: int
    question: str
    golds: tuple[str, ...]
    prediction: str
    scores: Mapping[str, float]
    is_right: bool | None
    path: ItemPath = field(default_factory=ItemPath)


class Study:
    """A run with what is known of its items. ``metric`` decides which are right: those that score 1."""

    def __init__(self, opened: OpenedRun, named: Mapping[str, str] | None = None, metric: str | None = None) -> None:
        """Raises ``RoleError`` where a variable that is named for a role is none of the run."""
        self.opened = opened
        self.run = opened.run
        self.flow = Flow(opened.run, opened.pipeline)
        self.roles: Roles = find_roles(self.flow, named or {})
        self.evaluated = evaluated(self.run)
        self.metric = metric or ("em" if "em" in self.evaluated or not self.evaluated else next(iter(self.evaluated)))
        self._texts: dict[tuple[str, int], str] = {}
        self.misfits = {
            role: note for role in ("question", "gold", "prediction") if (note := self._misfit(role)) is not None
        }
        """Roles whose list has not one entry per item, with what is to be said of that: nobody's entry is known."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be known of the run: what its file does not hold, and lists that are nobody's."""
        return (*self.opened.notes, *self.misfits.values())

    def _misfit(self, role: str) -> str | None:
        name = getattr(self.roles, role)
        if name is None or name in self.run.whole or self.run.count < 2:
            return None
        value = self.flow.writers[name][-1].saved[name]
        if not is_list(value) or len(value) == self.run.count:
            return None
        return f"{name} is a list of {len(value)} for {self.run.count} items: whose {role} is whose is not known"

    @property
    def end(self) -> int:
        """One more than the last visit's number: what stood at the end stood before it."""
        return len(self.run.visits) + 1

    @cached_property
    def rows(self) -> tuple[ItemRow, ...]:
        return self.work_out(lambda done, total: None)

    def work_out(self, tell: Callable[[int, int], None]) -> tuple[ItemRow, ...]:
        """``rows``, for those who show how far they have come: ``tell`` hears of items done, and of all."""
        if "rows" not in self.__dict__:
            paths, rows = item_paths(self.flow), []
            for item in range(self.run.count):
                rows.append(self._row(item, paths[item]))
                tell(item + 1, self.run.count)
            self.__dict__["rows"] = tuple(rows)
        return self.rows

    @cached_property
    def kinder_metric(self) -> str | None:
        """Where not one item is right, a score of the run by which some are: predictions may say more than asked."""
        if any(row.is_right for row in self.rows):
            return None
        return next((name for name in self.evaluated if any(row.scores.get(name, 0) >= 1 for row in self.rows)), None)

    def golds(self, item: int) -> tuple[str, ...]:
        name = self.roles.gold if "gold" not in self.misfits else None
        value = self.flow.entry(name, self.end, item) if name else None
        return () if value is None else tuple(gold for gold in as_golds(value) if gold.strip())

    def question(self, item: int) -> str:
        """The question as it was first given: steps may write the variable anew."""
        name = self.roles.question
        if name is None or "question" in self.misfits:
            return ""
        first = self.flow.writers[name][0].saved[name]
        return text_of(self.run.of_item(first, item, name))

    def prediction(self, item: int) -> str:
        name = self.roles.prediction if "prediction" not in self.misfits else None
        return text_of(self.flow.entry(name, self.roles.evaluated_by or self.end, item)) if name else ""

    def _row(self, item: int, path: ItemPath) -> ItemRow:
        golds, prediction = self.golds(item), self.prediction(item)
        scores = {name: float(values[item]) for name, values in self.evaluated.items()}
        if golds and self.roles.prediction is not None and "prediction" not in self.misfits:
            scores.setdefault("em", em(prediction, golds))
            scores.setdefault("f1", f1(prediction, golds))
        is_right = scores[self.metric] >= 1 if self.metric in scores else None
        return ItemRow(item, self.question(item), golds, prediction, scores, is_right, path)


def text_of(value: Any) -> str:
    """What a value says: a list of passages line by line, a passage that is a map by its ``contents``."""
    if value is None or is_unset(value):
        return ""
    if isinstance(value, Mapping):
        return str(next((value[key] for key in ("contents", "content", "text") if key in value), value))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "\n".join(map(text_of, value))
    return as_texts([value])[0]


def wrong(rows: Iterable[ItemRow]) -> list[ItemRow]:
    return [row for row in rows if row.is_right is False]
