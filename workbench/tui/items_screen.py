"""The items of a saved run: a table to sort, filter, mark and note, and below it why one is wrong."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType

from workbench.cases.notes import NotesUnreadable
from workbench.cases.table import TableError
from workbench.cases.verdict import totals_text
from workbench.engine.values import count_of
from workbench.tui.actions import ITEMS, Action
from workbench.tui.bars import Bar
from workbench.tui.desk import Desk, run_name
from workbench.tui.dialogs import Choose, LineDialog
from workbench.tui.items_table import ItemRows, ItemsPane
from workbench.tui.keymap import keymap_of
from workbench.tui.panes import PaneArea
from workbench.tui.rows import Part, RowsView
from workbench.tui.study_screen import ScreenOverWalk
from workbench.tui.studying import arranged
from workbench.tui.viewer import ValueViewer
from workbench.tui.why_pane import Evidence, WhyPane


class ItemsScreen(ScreenOverWalk):
    """Enter on an item goes to the screen below, which walks through the run with that item pinned."""

    ACTIONS = ITEMS
    SIGNS = (("✓ ✗ ·", "right, wrong, not scored"), ("◉", "marked"), ("✎", "has a note"), ("▴ ▾", "sorted by it"))
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "restore", show=False)]

    def __init__(self, desk: Desk) -> None:
        self._items = ItemsPane(desk.studied, id="items")
        self._why = WhyPane(id="why")
        self._evidence = Evidence(id="evidence")
        super().__init__(desk, PaneArea([self._items], [self._why, self._evidence]))

    def on_mount(self) -> None:
        self._items.rows.focus()
        self.show_run()

    def on_unmount(self) -> None:
        self.studied.listen = lambda: None

    def actions(self) -> tuple[Action, ...]:
        return tuple(a for a in super().actions() if len(self._desk.studies) > 1 or a.name != "next_run")

    def show_run(self) -> None:
        studied = self.studied
        studied.listen = self._show_more
        if studied.study is None and studied.progress is None:
            studied.begin(self.app)
        self._items.rows.follow(studied)
        self._show_more()

    def _show_more(self) -> None:
        if self.is_attached:
            self._items.show()
            self._show_item()
            self._show_status()

    def _show_item(self) -> None:
        row = self._items.rows.table_row
        self._why.show(row, is_judged=self.studied.is_whole)
        self._evidence.show(row)

    def _show_status(self) -> None:
        studied, run = self.studied, self.studied.run
        count = len(self._desk.studies)
        which = f"run {self._desk.number + 1} of {count}  " if count > 1 else ""
        place = [Part(" ragwb items  ", "key"), Part(f"{run_name(run)}  ", "name"), Part(which)]
        shown = f"{len(studied.shown):,} of {count_of(run.count, 'item')} " if studied.where else ""
        self.query_one("#place", Bar).show(place, [Part(shown or f"{run.count:,} items ", "front" if shown else "")])
        self.query_one("#reason", Bar).show(self._reason())

    def _reason(self) -> list[Part]:
        studied = self.studied
        if studied.trouble is not None:
            return [Part(f" {studied.trouble}", "bad")]
        parts = [Part(" ")]
        if studied.progress is not None:
            what, done, total = studied.progress
            parts.append(Part(f"{what}: {done:,} of {total:,}  ", "present"))
        elif studied.study is not None:
            known = [row.row.is_right for row in studied.rows]
            found = [row.verdict for row in studied.rows if row.verdict is not None]
            parts.append(Part(f"{known.count(True):,} right by {studied.study.metric}, {totals_text(found)}  "))
            kinder = studied.study.kinder_metric
            if kinder is not None:
                key = keymap_of(self.app).shown(self.ACTIONS)["roles"]
                parts += [Part(key, "key"), Part(f" judges by {kinder}, by which some are right  ", "mark")]
            parts += [Part(f"{note}  ", "warning") for note in studied.study.misfits.values()]
        if studied.sort:
            order = "largest first" if studied.sort.startswith("-") else "smallest first"
            parts.append(Part(f"by {studied.sort.removeprefix('-')}, {order}  ", "dim"))
        if studied.where:
            parts.append(Part(f"filter: {studied.where}  ", "warning"))
        return parts

    @on(RowsView.Highlighted, "#item-rows")
    def _moved(self) -> None:
        self.studied.place = self._items.rows.cursor
        self._show_item()

    @on(RowsView.Chosen, "#item-rows")
    def _chosen(self) -> None:
        self.action_walk()

    @on(RowsView.Chosen, "#expected, #found")
    def _look_closer(self) -> None:
        self.app.push_screen(ValueViewer(*self.value_at_cursor()))

    def rows_in_front(self) -> RowsView:
        pane = self._panes.panes[self._panes.front]
        if isinstance(pane, ItemsPane):
            return pane.rows
        return pane.front if isinstance(pane, Evidence) else self._why

    def value_at_cursor(self) -> tuple[str, Any]:
        row = self._items.rows.table_row
        rows = self.rows_in_front()
        if row is None:
            return "item", None
        if isinstance(rows, ItemRows):
            return f"item {row.row.item}", row.columns()
        text = "\n".join(rows.row_text(number).rstrip() for number in range(rows.row_count()))
        return f"item {row.row.item} {rows.id}", text

    # ---- the lens is on the item at the cursor

    @property
    def lens(self) -> int | None:
        row = self._items.rows.table_row
        return row.row.item if row is not None else None

    def pin(self, item: int | None) -> None:
        """Of an item of the table: go to it."""
        place = next((n for n, row in enumerate(self.studied.shown) if row.row.item == item), None)
        if place is not None:
            self._items.rows.move_cursor(place)
            self._show_item()

    # ---- commands

    def action_walk(self) -> None:
        self._go_to(None)

    def action_go_to_fault(self) -> None:
        row = self._items.rows.table_row
        visit = row.verdict.visit if row is not None and row.verdict is not None else None
        if visit is None:
            self.say("no visit is at fault for this item")
        else:
            self._go_to(visit)

    def action_go_live(self) -> None:
        row = self._items.rows.table_row
        visit = row.verdict.visit if row is not None and row.verdict is not None else None
        if visit is None:
            self.say("no visit is at fault for this item: walk to the one from which to run on")
        else:
            self.go_live(visit)

    def _go_to(self, visit: int | None) -> None:
        if self.lens is not None:
            self.app.pop_screen()
            self._desk.walk(self.lens, visit)

    @work
    async def action_sort(self) -> None:
        if not self.studied.rows:
            self.say("there are no items")
            return
        names = list(self.studied.rows[0].columns())
        name = await self.app.push_screen_wait(Choose("Sort by (the same again turns the order round)", names))
        if name is not None:
            now = self.studied.sort
            await self._arrange(self.studied.where, f"-{name}" if now == name else name)

    @work
    async def action_filter_items(self) -> None:
        studied = self.studied

        async def apply(text: str) -> None:
            try:
                await self._arrange(text, studied.sort)
            except TableError as error:
                raise ValueError(str(error)) from None

        names = ", ".join(studied.rows[0].columns()) if studied.rows else "there are no items"
        dialog = LineDialog(
            "Show which items?", studied.where, apply, example="f1 < 0.5 and rounds > 1", hint=f"{names}; empty: all"
        )
        await self.app.push_screen_wait(dialog)

    async def _arrange(self, where: str, sort: str) -> None:
        at = self.lens
        rows = await asyncio.to_thread(arranged, self.studied.rows, where, sort)
        self.studied.show(rows, where, sort)
        self._items.rows.move_cursor(next((n for n, row in enumerate(rows) if row.row.item == at), 0))
        self._show_more()

    def action_mark_item(self) -> None:
        item = self.lens
        if item is not None:
            self._keep(item, is_marked=not self.studied.note_of(item).is_marked)
            self._items.rows.action_move(1)

    @work
    async def action_note(self) -> None:
        item = self.lens
        if item is None:
            return

        async def apply(text: str) -> None:
            try:
                self.studied.keep_note(item, text=text)
            except (OSError, NotesUnreadable) as error:
                raise ValueError(str(error)) from None

        hint = f"kept in {self.studied.notes.file.name}, beside the file" if self.studied.notes is not None else ""
        now = self.studied.note_of(item).text
        await self.app.push_screen_wait(LineDialog(f"Note at item [{item}]", now, apply, example="", hint=hint))
        self._show_more()

    def _keep(self, item: int, *, is_marked: bool) -> None:
        try:
            self.studied.keep_note(item, is_marked=is_marked)
        except (OSError, NotesUnreadable) as error:
            self.say(str(error), is_error=True)
        self._show_more()
