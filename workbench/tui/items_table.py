"""The table of a run's items: a line for each, drawn when it comes into view."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from workbench.cases.table import TableRow
from workbench.tui.bars import Bar
from workbench.tui.net import Guarded
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.studying import Studied
from workbench.tui.text import column

_NUMBER, _SCORE, _ROUNDS, _LEAST = 8, 8, 7, 12
_WIDE = 110
"""Columns of the screen from which on there is room for the branch path."""
_OF_VERDICT = ("stage", "reason", "step", "sure")
"""What can be sorted by, and stands in the column of the verdict."""


class ItemRows(RowsView):
    """The rows that the filter leaves, in the order that was chosen."""

    def __init__(self, studied: Studied) -> None:
        super().__init__(id="item-rows")
        self._studied = studied

    @property
    def table_row(self) -> TableRow | None:
        """The one at the cursor."""
        shown = self._studied.shown
        return shown[self.cursor] if self.cursor < len(shown) else None

    def follow(self, studied: Studied) -> None:
        self._studied = studied
        self.move_cursor(studied.place)
        self.rows_changed()

    def row_count(self) -> int:
        return len(self._studied.shown) or 1

    def row(self, index: int) -> Row:
        studied = self._studied
        if not studied.shown:
            return Row((Part(f" {_nothing(studied)}", "dim"),))
        row = studied.shown[index]
        item, verdict = row.row, row.verdict
        sign, look = {True: ("✓", "good"), False: ("✗", "bad"), None: ("·", "dim")}[item.is_right]
        parts = [
            Part("◉" if row.note.is_marked else " ", "mark"),
            Part("✎" if row.note.text else " ", "mark"),
            Part(f"{sign} ", look),
            Part(column(f"[{item.item}]", _NUMBER), "present"),
        ]
        for score in self._scores:
            known = item.scores.get(score)
            parts.append(Part(column("-" if known is None else f"{known:.2f}", _SCORE), "value"))
        if self._has_rounds:
            parts.append(Part(column("?" if item.path.rounds is None else str(item.path.rounds), _ROUNDS)))
        texts = (item.question, " | ".join(item.golds), item.prediction)
        for text, width, look in zip(texts, self._widths, ("", "good", "value"), strict=True):
            parts.append(Part(column(text, width - 1) + " ", look))
        if self._branch:
            parts.append(Part(column(str(item.path), self._branch - 1) + " ", "dim"))
        why = f"{verdict.stage}: {verdict.reason}" if verdict is not None else ""
        return Row((*parts, Part(why, "warning")))

    def row_text(self, index: int) -> str:
        shown = self._studied.shown
        if not shown:
            return ""
        item = shown[index].row
        return f"[{item.item}] {item.question} {' | '.join(item.golds)} {item.prediction} {shown[index].note.text}"

    # ---- columns

    @property
    def _scores(self) -> Sequence[str]:
        rows = self._studied.rows
        most = 4 if self.row_width >= _WIDE else 1
        names = list(rows[0].row.scores) if rows else []
        metric = self._studied.study.metric if self._studied.study is not None else ""
        return sorted(names, key=lambda name: name != metric)[:most]

    @property
    def _has_rounds(self) -> bool:
        rows = self._studied.rows
        return bool(rows) and bool(rows[0].row.path.rounds)

    @property
    def _branch(self) -> int:
        """Columns for the branch path, where there is one and room for it."""
        rows = self._studied.rows
        return self.row_width // 8 if self.row_width >= _WIDE and rows and rows[0].row.path.turns else 0

    @property
    def _widths(self) -> tuple[int, int, int]:
        """Columns for question, gold and prediction; what is left is for the verdict."""
        taken = 4 + _NUMBER + _SCORE * len(self._scores) + _ROUNDS * self._has_rounds + self._branch
        room = max(4 * _LEAST, self.row_width - taken)
        return (room * 34 // 100, room * 20 // 100, room * 24 // 100)

    def head(self) -> list[Part]:
        """The names of the columns, and the sign of the order."""
        names = ("question", "gold", "prediction")
        cells = [Part("    "), Part(self._named("item", _NUMBER), "name")]
        cells += [Part(self._named(score, _SCORE), "name") for score in self._scores]
        if self._has_rounds:
            cells.append(Part(self._named("rounds", _ROUNDS), "name"))
        cells += [Part(self._named(name, width), "name") for name, width in zip(names, self._widths, strict=True)]
        if self._branch:
            cells.append(Part(self._named("branch", self._branch), "name"))
        return [*cells, Part(self._named("why", 8), "name")]

    def _named(self, name: str, width: int) -> str:
        sort = self._studied.sort
        by = "why" if sort.removeprefix("-") in _OF_VERDICT else sort.removeprefix("-").replace("_", "-")
        sign = "" if by != name.replace("_", "-") else "▾" if sort.startswith("-") else "▴"
        return column(f"{name}{sign}", width - 1) + " "


def _nothing(studied: Studied) -> str:
    if studied.progress is not None:
        return "reading the items"
    if studied.rows:
        return "the filter leaves no item"
    return studied.trouble or "the file holds no item lists"


class ItemsPane(Guarded, Vertical):
    """The table with the names of its columns above it."""

    BORDER_TITLE = "Items"

    def __init__(self, studied: Studied, *, id: str) -> None:
        super().__init__(id=id)
        self.rows = ItemRows(studied)

    def compose(self) -> ComposeResult:
        yield Bar(id="items-head")
        yield self.rows

    def show(self) -> None:
        """Draw anew after there is more to see."""
        self.rows.rows_changed()
        self.query_one("#items-head", Bar).show(self.rows.head())

    def on_resize(self) -> None:
        self.show()
