"""Shows what differs between values: places, and under each what went and what came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from msgspec import Struct

from workbench.tui.differences import Difference, text_of, text_pieces
from workbench.tui.flow import flowed
from workbench.tui.previews import NoValue, preview
from workbench.tui.rows import Part, Row, RowsView

SHOWN = 200
"""Differences of one value. Who looks for one item pins it."""
_PREVIEW = 400
_WRITTEN = {"=": ("{}", ""), "-": ("[-{}-]", "bad"), "+": ("{{+{}+}}", "good"), "…": ("{}", "dim")}
"""How each stretch of a text is written, and its look: signs, so that no colour is needed to read it."""


class DiffLine(Struct, frozen=True):
    """A line before it is wrapped."""

    parts: tuple[Part, ...]
    indent: int = 0


def heading(text: str, note: str = "") -> DiffLine:
    return DiffLine((Part(text, "name"), Part(f"  {note}" if note else "", "dim")))


def diff_lines(found: Iterable[Difference]) -> list[DiffLine]:
    """The differences, as many as are shown; after them that there are more."""
    known = list(islice(found, SHOWN + 1))
    lines = [line for difference in known[:SHOWN] for line in _lines(difference)]
    if len(known) > SHOWN:
        lines.append(DiffLine((Part(f"more than {SHOWN} differences: pin an item (i) to see its own", "warning"),), 2))
    return lines


def _lines(difference: Difference) -> list[DiffLine]:
    old, new = text_of(difference.old), text_of(difference.new)
    place = DiffLine((Part(difference.place, "present"),), 2)
    if old is not None and new is not None:
        return [place, DiffLine(tuple(_written(sign, text) for sign, text in text_pieces(old, new)), 4)]
    went = () if isinstance(difference.old, NoValue) else (_value("- ", difference.old, "bad"),)
    came = () if isinstance(difference.new, NoValue) else (_value("+ ", difference.new, "good"),)
    return [place, *went, *came]


def _written(sign: str, text: str) -> Part:
    form, look = _WRITTEN[sign]
    return Part(form.format(text), look)


def _value(sign: str, value: object, look: str) -> DiffLine:
    return DiffLine((Part(sign, look), Part(preview(value, _PREVIEW), look)), 4)


class DiffView(RowsView):
    """Lines of differences, wrapped to the width of the pane."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[DiffLine] = ()
        self._rows: list[Row] = []
        self._wrapped_for = -1

    def show(self, lines: Sequence[DiffLine]) -> None:
        if lines != self._lines:
            self._lines, self._wrapped_for = lines, -1
            self.rows_changed()

    def rows_changed(self) -> None:
        if self._wrapped_for != self.row_width:
            self._wrapped_for = self.row_width
            self._rows = [row for line in self._lines for row in self._wrapped(line)]
        super().rows_changed()

    def _wrapped(self, line: DiffLine) -> list[Row]:
        indent = Part(" " * line.indent)
        return [Row((indent, *row)) for row in flowed(line.parts, max(8, self.row_width - line.indent))]

    def row_count(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Row:
        return self._rows[index]
