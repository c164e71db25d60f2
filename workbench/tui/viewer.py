"""One value over the whole screen, however large."""

from __future__ import annotations

from typing import Any

from textual import on
from textual.app import ComposeResult

from workbench.engine.values import Message, shape
from workbench.tui.action_screen import ActionScreen
from workbench.tui.actions import VIEWER
from workbench.tui.bars import Bar
from workbench.tui.json_view import JsonView
from workbench.tui.message_text import JsonText
from workbench.tui.rows import Part, RowsView
from workbench.tui.text_view import TextView
from workbench.tui.values_view import Root, ValuesView, is_open_able


class ValueViewer(ActionScreen[None]):
    """A text is wrapped line by line; of a list or map each entry can be opened, and looked at in its turn."""

    ACTIONS = VIEWER

    def __init__(self, name: str, value: Any) -> None:
        super().__init__()
        self._value_name = name
        self._value = value
        self._rows: RowsView = _view_of(name, value)

    def compose(self) -> ComposeResult:
        yield Bar(id="viewer-title")
        yield self._rows
        yield from self.compose_foot()

    def on_mount(self) -> None:
        size = f"{len(_text(self._value)):,} characters" if not is_open_able(self._value) else shape(self._value)
        self.query_one("#viewer-title", Bar).show([Part(f" {self._value_name}  ", "name"), Part(size, "dim")])
        if isinstance(self._rows, ValuesView):
            self._rows.open_all()
        self.set_focus(self._rows)

    def rows_in_front(self) -> RowsView:
        return self._rows

    def value_at_cursor(self) -> tuple[str, Any]:
        found = self._rows.named_value if isinstance(self._rows, ValuesView) else None
        return found or (self._value_name, self._value)

    @on(RowsView.Chosen)
    def _look_closer(self, event: RowsView.Chosen) -> None:
        event.stop()
        if isinstance(self._rows, ValuesView) and self._rows.node is not None and self._rows.node.path:
            self.app.push_screen(ValueViewer(*self.value_at_cursor()))

    def action_leave(self) -> None:
        self.app.pop_screen()


def _view_of(name: str, value: Any) -> RowsView:
    if isinstance(value, JsonText):
        return JsonView(value)
    if not is_open_able(value):
        return TextView(_text(value))
    view = ValuesView()
    view.show([Root(name, value)])
    return view


def _text(value: Any) -> str:
    if isinstance(value, Message):
        return value.text
    return value if isinstance(value, str) else str(value)
