"""The difference between two values over the whole screen."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType

from workbench.tui.action_screen import ActionScreen
from workbench.tui.actions import VIEWER, bindings
from workbench.tui.bars import Bar
from workbench.tui.diff_view import DiffLine, DiffView, diff_lines, heading
from workbench.tui.differences import differences
from workbench.tui.rows import Part


class DiffViewer(ActionScreen[None]):
    """Compares away from the screen's thread. ``old`` and ``new`` are how the values are called."""

    ACTIONS = VIEWER
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(VIEWER)]

    def __init__(self, old: tuple[str, Any], new: tuple[str, Any]) -> None:
        super().__init__()
        self._old = old
        self._new = new
        self._rows = DiffView()

    def compose(self) -> ComposeResult:
        yield Bar(id="viewer-title")
        yield self._rows
        yield from self.compose_foot()

    def on_mount(self) -> None:
        names = [Part(f" {self._old[0]}", "bad"), Part("  against  ", "dim"), Part(self._new[0], "good")]
        self.query_one("#viewer-title", Bar).show(names, [Part("[-went-] {+came+} ", "dim")])
        self.set_focus(self._rows)
        self._compare()

    @work(group="looking", exclusive=True, exit_on_error=False)
    async def _compare(self) -> None:
        self._rows.show(await asyncio.to_thread(self._lines))

    def _lines(self) -> list[DiffLine]:
        found = diff_lines(differences("value", self._old[1], self._new[1]))
        return found or [heading("", "they are the same")]

    def rows_in_front(self) -> DiffView:
        return self._rows

    def value_at_cursor(self) -> tuple[str, Any]:
        text = "\n".join(self._rows.row_text(number).rstrip() for number in range(self._rows.row_count()))
        return f"{self._old[0]} against {self._new[0]}", text

    def action_leave(self) -> None:
        self.app.pop_screen()
