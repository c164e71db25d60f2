"""Why an item is wrong: the step at fault and how sure that is, and the two texts that show it, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal

from workbench.cases.table import TableRow
from workbench.cases.verdict import Shown, Verdict
from workbench.tui.flow import flowed
from workbench.tui.net import Guarded
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import content
from workbench.tui.text_view import TextView

_SURE = {"certain": "good", "likely": "warning", "possible": "dim"}
_INDENT = 11


class WhyPane(RowsView):
    """All that is known of one item, a fact a line."""

    BORDER_TITLE = "Why"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._facts: Sequence[tuple[str, tuple[Part, ...]]] = ()
        self._rows: list[Row] = []

    def show(self, row: TableRow | None, *, is_judged: bool) -> None:
        self._facts = list(_facts(row, is_judged=is_judged)) if row is not None else []
        self.rows_changed()

    def rows_changed(self) -> None:
        self._rows = []
        for name, parts in self._facts:
            for number, line in enumerate(flowed(parts, max(8, self.row_width - _INDENT))):
                label = name if not number else ""
                self._rows.append(Row((Part(f"{label:<{_INDENT}}", "dim"), *line)))
        super().rows_changed()

    def row_count(self) -> int:
        return len(self._rows) or 1

    def row(self, index: int) -> Row:
        return self._rows[index] if self._rows else Row((Part(" no item", "dim"),))


def _facts(table_row: TableRow, *, is_judged: bool) -> list[tuple[str, tuple[Part, ...]]]:
    row, verdict = table_row.row, table_row.verdict
    state = {True: Part("right", "good"), False: Part("wrong", "bad"), None: Part("not scored", "dim")}[row.is_right]
    scores = "  ".join(f"{name} {score:.3f}" for name, score in row.scores.items())
    head = (Part(f"[{row.item}] ", "present"), state, Part(f"  {scores}", "value"))
    facts: list[tuple[str, tuple[Part, ...]]] = [("item", head)]
    if verdict is not None:
        facts += _of_verdict(verdict)
    elif row.is_right is False and not is_judged:
        facts.append(("why", (Part("being worked out", "dim"),)))
    if table_row.note:
        mark = Part("marked  ", "mark") if table_row.note.is_marked else Part("")
        facts.append(("note", (mark, Part(table_row.note.text))))
    facts.append(("question", (Part(row.question),)))
    facts.append(("gold", (Part(" | ".join(row.golds) or "none", "good"),)))
    facts.append(("prediction", (Part(row.prediction or "empty", "value"),)))
    if str(row.path):
        facts.append(("branch", (Part(str(row.path)),)))
    if row.path.rounds:
        facts.append(("rounds", (Part(str(row.path.rounds)),)))
    return facts


def _of_verdict(verdict: Verdict) -> list[tuple[str, tuple[Part, ...]]]:
    visit = f", visit {verdict.visit}" if verdict.visit is not None else ""
    at = f"{verdict.at or 'a step that is not known'}{visit}"
    head = (Part(f"{verdict.stage}: {verdict.reason}", "warning"), Part(f"  {verdict.sure}", _SURE[verdict.sure]))
    return [("why", head), ("", (Part(verdict.sentence),)), ("at", (Part(at, "name"),))]


class Evidence(Guarded, Horizontal):
    """The two texts that a verdict rests on."""

    BORDER_TITLE = "Evidence"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.sides = (TextView(id="expected"), TextView(id="found"))

    def compose(self) -> ComposeResult:
        yield from self.sides

    @property
    def front(self) -> TextView:
        """The side that keys go to."""
        return self.sides[1] if self.sides[1].has_focus else self.sides[0]

    def show(self, row: TableRow | None) -> None:
        shown = _texts(row) if row is not None else (Shown("gold", ""), Shown("prediction", ""))
        for side, text in zip(self.sides, shown, strict=True):
            visit = f", visit {text.visit}" if text.visit is not None else ""
            side.border_title = content(f"{text.what}{visit}")
            side.show(text.text)
            side.move_cursor(0)


def _texts(row: TableRow) -> tuple[Shown, Shown]:
    if row.verdict is not None:
        return row.verdict.expected, row.verdict.found
    return Shown("gold", "\n".join(row.row.golds)), Shown("prediction", row.row.prediction)
