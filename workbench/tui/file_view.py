"""A file of the user's beside the list of its mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.pipeline.problems import Position
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import content, visible

_LARGEST = 2_000_000


class FileView(RowsView):
    """Lines with their numbers; the place that was asked for is marked."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._lines: Sequence[str] = ()
        self._position: Position | None = None

    def show(self, file: Path, text: str, position: Position | None) -> None:
        self.border_title = content(file.name)
        self._lines = text.expandtabs(4).split("\n")
        self._position = position
        self.rows_changed()
        self.move_cursor(position.line - 1 if position is not None else 0)

    def row_count(self) -> int:
        return len(self._lines)

    def row(self, index: int) -> Row:
        line, number = self._lines[index], Part(f"{index + 1:>5}  ", "dim")
        if self._position is None or self._position.line != index + 1:
            return Row((Part("  "), number, Part(line)))
        column = self._position.column - 1
        return Row((Part("> ", "bad"), number, Part(line[:column]), Part(line[column:] or " ", "bad")))


def text_of(file: Path) -> str:
    """A file's text, harmless; what can't be shown says why."""
    try:
        if file.stat().st_size > _LARGEST:
            return "(too large to be shown)"
        return visible(file.read_text(encoding="utf-8-sig", errors="replace"))
    except OSError as error:
        return f"({error.strerror})"
