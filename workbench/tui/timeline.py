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
from workbench.engine.visit import Visit
from workbench.tui.item_way import item_note
from workbench.tui.model import Entry, Model
from workbench.tui.previews import duration
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import content


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
        if was_last and self._model.looked_at is None:
            self.move_cursor(self._shown - 1)
        self._show_timing()

    def go_to_present(self) -> None:
        """Put the cursor on the last visit before the run's cursor, or what came after it."""
        later = next((n for n, entry in enumerate(self._model.timeline) if entry.visit in self._later), None)
        self.move_cursor((later if later is not None else len(self._model.timeline)) - 1)

    def watch_cursor(self, before: int, now: int) -> None:
        super().watch_cursor(before, now)
        self._show_timing()

    def _show_timing(self) -> None:
        """At the lower edge: where the time of the visit at the cursor went, and whether it ran."""
        entry = self.entry
        visit = self._model.visit(entry.visit) if entry is not None and entry.visit is not None else None
        words = timing_words(visit) if visit is not None else ""
        self.border_subtitle = content(words)

    def _left_by(self, event: Forked) -> str:
        """The visits of the other timeline that a fork does not have."""
        timelines = self._model.debugger.timelines
        parent, fork = timelines.get(event.parent), timelines.get(event.number)
        if parent is None:
            return ""
        shared = fork.shared_with(parent) if fork is not None else 0
        left = [m.visit.number for m in parent.moments[shared:]] if fork is not None else []
        if not left and parent.is_cut:
            return "begun where the pipeline as it is now parts from it"
        if not left:
            return "begun at its end" if fork is not None else ""
        visits = f"visit {left[0]}" if len(left) == 1 else f"{len(left)} visits, {left[0]} to {left[-1]}"
        return f"left {visits}; T goes there"

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
                left_behind = Part(f"  {self._left_by(event)}", "dim")
                return Row((Part("    "), Part(f"fork {event.number} of {event.parent}", "mark"), left_behind))
            case RunFinished():
                return Row((Part("    "), Part(f"run {event.outcome}", "name")))
            case _:
                return Row(())
        is_later = event.visit in self._later
        is_shown = event.visit == self._model.looked_at
        attempt = (Part(f" attempt {event.attempt}", "mark"),) if event.attempt > 1 else ()
        place = " ".join([*(f"round {n}" for n in event.round[-1:]), *event.branch[-1:]])
        left = (
            Part(f"{event.visit:>3}", "present" if is_shown else "dim"),
            Part("◀" if is_shown else " ", "present"),
            Part(sign.text, "dim") if is_later else sign,
            Part(event.name, "dim" if is_later else ""),
            *attempt,
            *(Part(f"  {mark}", "mark") for mark in _marks(event)),
            *item_note(self._model, event),
            Part(f"  {place}", "value"),
            Part(f"  {note}", "warning"),
        )
        return Row(left, (Part(duration(event.seconds), "dim"),))


def timing_words(visit: Visit) -> str:
    """How a visit came to its result, and where its time went."""
    timing = visit.timing
    if timing is None:
        return visit.provenance
    waited = f"waited {duration(timing.waiting)} · " if timing.waiting >= 0.001 else ""
    return f"{visit.provenance}: {waited}server {duration(timing.server)} · transport {duration(timing.transport)}"


def _marks(event: VisitFinished | VisitFailed) -> list[str]:
    """Where its result came from, if it is not simply what the step gave."""
    if isinstance(event, VisitFailed):
        return []
    recorded = ["recorded"] if event.provenance == "recorded" else []
    return [*recorded, *(["edited"] if event.follows_edit else [])]
