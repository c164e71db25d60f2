"""The visits in order, with what happened between them."""

from __future__ import annotations

from workbench.engine.events import (
    Edited,
    Forked,
    LogPrinted,
    RunFinished,
    ServerAnswered,
    StepSkipped,
    VisitFailed,
    VisitFinished,
)
from workbench.tui.model import Entry, Model
from workbench.tui.previews import duration
from workbench.tui.rows import Part, Row, RowsView


class Timeline(RowsView):
    """One line for each visit, skipped step and edit. The latest stays in view while the cursor is on it."""

    BORDER_TITLE = "Timeline"

    def __init__(self, model: Model, *, id: str) -> None:
        super().__init__(id=id)
        self._model = model
        self._shown = 0
        self._later: frozenset[int] = frozenset()

    @property
    def entry(self) -> Entry | None:
        entries = self._model.timeline
        return entries[self.cursor] if self.cursor < len(entries) else None

    def show(self) -> None:
        was_last = self.cursor >= self._shown - 1
        self._shown = len(self._model.timeline)
        self._later = self._model.later_visits
        self.rows_changed()
        if was_last:
            self.move_cursor(self._shown - 1)

    def row_count(self) -> int:
        return len(self._model.timeline) or 1

    def row(self, index: int) -> Row:
        if not self._model.timeline:
            return Row((Part("no step has run yet", "dim"),))
        event = self._model.timeline[index].event
        match event:
            case VisitFinished():
                sign, note = Part("✓ ", "good"), "; ".join(event.warnings)
            case VisitFailed():
                sign, note = Part("✗ ", "bad"), event.error.split("\n")[0]
            case StepSkipped():
                left = (Part("  - ", "dim"), Part(event.name, "dim"), Part(f"  {event.reason}", "dim"))
                return Row(left, (Part("skipped", "dim"),))
            case Edited():
                item = f" [{event.item}]" if event.item is not None else ""
                return Row((Part("    "), Part(f"{event.what} {event.name}{item} edited", "mark")))
            case LogPrinted():
                return Row((Part("  ◇ ", "mark"), Part(event.text), Part(f"  {event.step}", "dim")))
            case ServerAnswered():
                what = "a model's answer" if event.kind == "sampling" else "a form"
                said = Part(f"{event.server} asked for {what}: {event.action}", "mark")
                return Row((Part("    "), said, Part(f"  {event.reason}", "dim")))
            case Forked():
                return Row((Part("    "), Part(f"fork {event.number} of {event.parent}", "mark")))
            case RunFinished():
                return Row((Part("    "), Part(f"run {event.outcome}", "name")))
            case _:
                return Row(())
        is_later = event.visit in self._later
        attempt = (Part(f" attempt {event.attempt}", "mark"),) if event.attempt > 1 else ()
        place = " ".join([*(f"round {n}" for n in event.round[-1:]), *event.branch[-1:]])
        left = (
            Part(f"{event.visit:>3} ", "dim"),
            Part(sign.text, "dim") if is_later else sign,
            Part(event.name, "dim" if is_later else ""),
            *attempt,
            *(Part(f"  {mark}", "mark") for mark in _marks(event)),
            Part(f"  {place}", "value"),
            Part(f"  {note}", "warning"),
        )
        return Row(left, (Part(duration(event.seconds), "dim"),))


def _marks(event: VisitFinished | VisitFailed) -> list[str]:
    """Where its result came from, if it is not simply what the step gave."""
    if isinstance(event, VisitFailed):
        return []
    recorded = ["recorded"] if event.provenance == "recorded" else []
    return [*recorded, *(["edited"] if event.follows_edit else [])]
