"""The visits in order, with what happened between them."""

from __future__ import annotations

from workbench.engine.events import Edited, RunFinished, StepSkipped, VisitFailed, VisitFinished
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

    @property
    def entry(self) -> Entry | None:
        entries = self._model.timeline
        return entries[self.cursor] if self.cursor < len(entries) else None

    def show(self) -> None:
        was_last = self.cursor >= self._shown - 1
        self._shown = len(self._model.timeline)
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
            case RunFinished():
                return Row((Part("    "), Part(f"run {event.outcome}", "name")))
            case _:
                return Row(())
        attempt = (Part(f" attempt {event.attempt}", "mark"),) if event.attempt > 1 else ()
        place = " ".join([*(f"round {n}" for n in event.round[-1:]), *event.branch[-1:]])
        left = (
            Part(f"{event.visit:>3} ", "dim"),
            sign,
            Part(event.name),
            *attempt,
            Part(f"  {place}", "value"),
            Part(f"  {note}", "warning"),
        )
        return Row(left, (Part(duration(event.seconds), "dim"),))
