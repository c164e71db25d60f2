"""A text of any length, wrapped to the width of the pane."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from rich.cells import cell_len, chop_cells

from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import visible

_MAY_BE_WIDE = (
    "[\u1100-\u11ff\u231a-\U0010ffff]"  # compiled when it is first needed: so wide a class takes milliseconds
)
_MEASURED_LINE, _MEASURED_TEXT = 2_000, 200_000
"""Characters. What is longer is not wrapped at words, but after a number of them that fits in any case."""


class TextView(RowsView):
    """Shows one text. Only the lines in view are wrapped; where each begins is arithmetic."""

    def __init__(self, text: str = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._text = ""
        self._wrapped_for = -1
        self._lines: list[str] = []
        self._starts: list[int] = []
        self._rooms: list[int] = []
        self._count = 0
        self._needle = ""
        self.show(text)

    def show(self, text: str) -> None:
        if text == self._text and self._lines:
            return
        self._text = text
        self._lines = visible(text).expandtabs(4).split("\n")
        self._wrapped_for = -1
        if self.is_attached:
            self.rows_changed()

    def rows_changed(self) -> None:
        self._wrap(max(2, self.row_width))
        super().rows_changed()

    def row_count(self) -> int:
        return self._count

    def row(self, index: int) -> Row:
        return Row(tuple(self._marked(self.row_text(index).rstrip())))

    def row_text(self, index: int) -> str:
        line = bisect_right(self._starts, index) - 1
        return self._part(line, index - self._starts[line])

    def find(self, needle: str, step: int) -> bool:
        self._needle = visible(needle)
        self.refresh()
        return super().find(needle, step)

    def _marked(self, text: str) -> list[Part]:
        if not self._needle:
            return self._unsought(text)
        pieces = re.split(f"({re.escape(self._needle)})", text, flags=re.IGNORECASE)
        return [Part(piece, "found" if number % 2 else "") for number, piece in enumerate(pieces) if piece]

    def _unsought(self, text: str) -> list[Part]:
        """A row where nothing is sought."""
        return [Part(text)]

    # ---- wrapping

    def _wrap(self, width: int) -> None:
        if self._wrapped_for == width:
            return
        self._wrapped_for = width
        self._starts, self._rooms = [], []
        self._count = 0
        for line in self._lines:
            self._starts.append(self._count)
            self._rooms.append(width if _is_narrow(line) else width // 2)
            self._count += self._rows_of(line, self._rooms[-1])

    def _rows_of(self, line: str, room: int) -> int:
        if len(line) <= self._wrapped_for // 2:
            return 1
        if self._is_measured(line):
            return len(_wrapped(line, self._wrapped_for))
        return -(-len(line) // room) or 1

    def _part(self, index: int, number: int) -> str:
        line, room = self._lines[index], self._rooms[index]
        if self._is_measured(line):
            return _wrapped(line, self._wrapped_for)[number]
        return line[number * room : (number + 1) * room]

    def _is_measured(self, line: str) -> bool:
        return len(line) <= _MEASURED_LINE and len(self._text) <= _MEASURED_TEXT


@lru_cache(maxsize=1024)
def _wrapped(line: str, width: int) -> list[str]:
    """A line in rows of this width, broken after words where that is possible; joined they are the line."""
    rows, room = [""], width
    for word in re.findall(r"\S*\s*", line):
        cells = cell_len(word.rstrip())
        if cells > room and rows[-1]:
            rows, room = [*rows, ""], width
        if cells > width:
            rows[-1:] = chop_cells(word, width)
        else:
            rows[-1] += word
        room = width - cell_len(rows[-1])
    return rows


def _is_narrow(line: str) -> bool:
    """Whether each character takes one column at most."""
    return line.isascii() or re.search(_MAY_BE_WIDE, line) is None
