"""Pinning an item that is found by its text."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from workbench.engine.pool import VariablePool
from workbench.tui.dialogs import Dialog
from workbench.tui.inputs import Line
from workbench.tui.item_search import FoundItem, ItemSearch
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import column, content


class ItemDialog(Dialog[int | None]):
    """The items that hold what is typed; the result is the number of the one that was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "pick", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("pagedown", "move_page(1)", show=False, priority=True),
        Binding("pageup", "move_page(-1)", show=False, priority=True),
        Binding("escape", "dismiss(None)", show=False, priority=True),
    ]

    def __init__(self, pool: VariablePool) -> None:
        super().__init__()
        self._pool = pool
        self._count = pool.count or 0
        self._search: ItemSearch | None = None
        self._rows = FoundItems()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall") as dialog:
            dialog.border_title = "Pin which item?"
            yield Line(placeholder="a text in any of its lists, or its number", compact=True)
            yield self._rows

    def on_mount(self) -> None:
        line = self.query_one(Line)
        line.cursor_blink = False
        self.set_focus(line)
        self._look("")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._look(event.value)

    @work(group="looking", exclusive=True, exit_on_error=False)
    async def _look(self, needle: str) -> None:
        """Another letter makes the search for the ones before void."""
        if self._search is None:
            self._search = await asyncio.to_thread(ItemSearch, self._pool)
        found = await asyncio.to_thread(self._search.find, needle)
        self._rows.show(found)
        dialog = self.query_one(".dialog")
        dialog.border_subtitle = content(f"{len(found):,} of {self._count:,} · Enter pins · Esc back")

    @on(RowsView.Chosen)
    def action_pick(self) -> None:
        if self._rows.item is not None:
            self.dismiss(self._rows.item)

    def action_move(self, step: int) -> None:
        self._rows.action_move(step)

    def action_move_page(self, pages: int) -> None:
        self._rows.action_move_page(pages)


class FoundItems(RowsView):
    """A line for each item that was found."""

    def __init__(self) -> None:
        super().__init__()
        self._found: Sequence[FoundItem] | None = None

    @property
    def item(self) -> int | None:
        """The one at the cursor."""
        return self._found[self.cursor].item if self._found else None

    def show(self, found: Sequence[FoundItem]) -> None:
        self._found = found
        self.rows_changed()
        self.move_cursor(0)

    def row_count(self) -> int:
        return len(self._found or ()) or 1

    def row(self, index: int) -> Row:
        if not self._found:
            return Row((Part(" no item holds that" if self._found is not None else " reading the items", "dim"),))
        one = self._found[index]
        number = Part(f" {f'[{one.item}]':<8}", "present")
        return Row((number, Part(column(one.variable, 16) + " ", "dim"), Part(one.excerpt, "value")))
