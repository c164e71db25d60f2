"""What each visit wrote, as the memory file holds it."""

from __future__ import annotations

from typing import Any

from rich.cells import cell_len

from workbench.engine.visit import Visit
from workbench.tui.lens import item_of_variable
from workbench.tui.model import Model
from workbench.tui.previews import preview, short_shape
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import column

_NAME = 20
"""Cells that a name has at least."""


class Snapshots(RowsView):
    """The entries of the memory file: a line for each visit, and one for each value it wrote."""

    BORDER_TITLE = "Snapshots"

    def __init__(self, model: Model, *, id: str) -> None:
        super().__init__(id=id)
        self._model = model
        self._visits = 0
        self._rows: list[tuple[Visit, str | None]] = []
        self._names = 0
        """Cells that the longest name takes."""
        self._marked: tuple[Visit, str | None] | None = None

    @property
    def visit(self) -> Visit | None:
        return self._rows[self.cursor][0] if self._rows else None

    @property
    def value(self) -> tuple[str, Any] | None:
        """Name and value at the cursor; on a visit's own line all that it wrote."""
        if not self._rows:
            return None
        visit, name = self._rows[self.cursor]
        if name is None:
            return f"{visit.number} {visit.name}", {f"memory_{n}": v.value for n, v in visit.saved.items()}
        return f"memory_{name}", visit.saved[name].value

    # ---- two of them

    def mark(self) -> tuple[tuple[str, Any], tuple[str, Any]] | None:
        """Mark the line at the cursor; with one marked already, the two of them, the older first."""
        here = self._rows[self.cursor] if self._rows else None
        before, self._marked = self._marked, None
        self.refresh()
        if here is None or here == before:
            return None
        if before is None or before not in self._rows:
            self._marked = here
            return None
        older, newer = sorted((before, here), key=self._rows.index)
        return self._compared(*older), self._compared(*newer)

    def _compared(self, visit: Visit, name: str | None) -> tuple[str, Any]:
        """A snapshot by its name, with the lens on only the pinned item's part."""
        values = {known: self._of_lens(visit, known) for known in ([name] if name is not None else visit.saved)}
        if name is None:
            return f"visit {visit.number} {visit.name}", {f"memory_{known}": value for known, value in values.items()}
        return f"memory_{name} of visit {visit.number}", values[name]

    def _of_lens(self, visit: Visit, name: str) -> Any:
        return item_of_variable(self._model.debugger.state.pool, visit.saved[name], self._model.lens)[0]

    def select(self, visit: int) -> None:
        """Put the cursor on what a visit wrote."""
        found = next((n for n, row in enumerate(self._rows) if row[0].number == visit), None)
        if found is not None:
            self.move_cursor(found)

    def show(self) -> None:
        was_last = self.cursor >= len(self._rows) - 1
        visits = self._model.debugger.visits
        if not visits or (self._rows and self._rows[0][0] is not visits[0]):
            self._rows, self._visits = [], 0
        for visit in visits[self._visits :]:
            self._rows += [(visit, None), *((visit, name) for name in visit.saved)]
            self._visits += 1
        self._names = max((cell_len(f"memory_{name}") for _, name in self._rows if name is not None), default=0)
        self.rows_changed()
        if was_last:
            self.move_cursor(len(self._rows) - 1)

    def row_count(self) -> int:
        return len(self._rows) or 1

    def row(self, index: int) -> Row:
        if not self._rows:
            return Row((Part("nothing has been kept yet", "dim"),))
        visit, name = self._rows[index]
        if name is None:
            nothing = () if visit.saved else (Part("  wrote nothing", "dim"),)
            return Row((self._sign(index), Part(f"{visit.number:>3} ", "dim"), Part(visit.name, "name"), *nothing))
        lens = self._model.lens
        value, is_item = item_of_variable(self._model.debugger.state.pool, visit.saved[name], lens)
        item = f" [{lens}]" if is_item else ""
        width = max(_NAME, min(self._names + len(item), self.row_width // 2))
        left = (
            self._sign(index),
            Part(f"    {column(f'memory_{name}{item}', width)} "),
            Part(column(short_shape(value), 10) + " ", "dim"),
        )
        return Row((*left, Part(preview(value, self.row_width), "value")))

    def _sign(self, index: int) -> Part:
        return Part("◉", "mark") if self._rows[index] == self._marked else Part(" ")
