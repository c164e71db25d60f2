"""Changing where a router sent its items."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from workbench.tui.dialogs import Dialog
from workbench.tui.previews import preview
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import column, content


class RouterDialog(Dialog[None]):
    """Lists the router's decisions; Enter gives the next branch to an item.

    ``apply`` takes what was changed, or raises with the reason that it can't be.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "apply", show=False),
        Binding("escape", "dismiss", show=False),
    ]

    def __init__(
        self,
        title: str,
        routes: Mapping[int, str],
        branches: Sequence[str],
        values: Mapping[int, Any],
        apply: Callable[[Mapping[int, str]], Awaitable[None]],
    ) -> None:
        super().__init__()
        self._title = title
        self._routes = routes
        self._apply = apply
        self._decisions = Decisions(routes, branches, values)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall") as dialog:
            dialog.border_title = content(self._title)
            dialog.border_subtitle = "Enter next branch · ^S keeps it · Esc back"
            yield self._decisions
            yield Static(classes="error")

    def on_mount(self) -> None:
        self.set_focus(self._decisions)

    @on(RowsView.Chosen)
    def _decide(self) -> None:
        self._decisions.give_next_branch()

    @work(exclusive=True)
    async def action_apply(self) -> None:
        changed = {item: state for item, state in self._decisions.routes.items() if self._routes[item] != state}
        try:
            await self._apply(changed)
        except Exception as error:
            self.query_one(".error", Static).update(content(str(error)))
        else:
            self.dismiss()


class Decisions(RowsView):
    """One line for each item: its state, and the value it was decided for."""

    def __init__(self, routes: Mapping[int, str], branches: Sequence[str], values: Mapping[int, Any]) -> None:
        super().__init__()
        self.routes = dict(routes)
        self._branches = branches
        self._values = values
        self._items = list(routes)

    def give_next_branch(self) -> None:
        item = self._items[self.cursor]
        now = self.routes[item]
        index = self._branches.index(now) + 1 if now in self._branches else 0
        self.routes[item] = self._branches[index % len(self._branches)]
        self.refresh_line(self.cursor)

    def row_count(self) -> int:
        return len(self._items)

    def row(self, index: int) -> Row:
        item = self._items[index]
        state = self.routes[item]
        look = "good" if state in self._branches else "bad"
        shown = preview(self._values[item], self.row_width) if item in self._values else ""
        return Row((Part(f" [{item}] ", "dim"), Part(column(state, 16) + " ", look), Part(shown, "value")))
