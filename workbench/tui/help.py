"""The help screen: every key of the screen below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from workbench.tui.actions import Action, key_name
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import column

_IN_EVERY_PANE = (
    ("↑ ↓ PgUp PgDn Home End", "move; also j k g G"),
    ("Enter", "look at the whole value, the visit or the message"),
    ("→ ← Space", "open and close a value, entry by entry"),
)


class HelpScreen(ModalScreen[None]):
    """Lists actions by group."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark", "dismiss", show=False)]

    def __init__(self, actions: Sequence[Action]) -> None:
        super().__init__()
        self._actions = actions

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall") as dialog:
            dialog.border_title = "Keys"
            dialog.border_subtitle = "Esc back"
            yield HelpRows(self._actions)

    def on_mount(self) -> None:
        self.query_one(HelpRows).focus()


class HelpRows(RowsView):
    """One line for each action."""

    def __init__(self, actions: Sequence[Action]) -> None:
        super().__init__()
        self._lines = [Row((Part("In every pane", "name"),)), *(_line(keys, text) for keys, text in _IN_EVERY_PANE)]
        for group in dict.fromkeys(action.group for action in actions):
            self._lines += [Row(()), Row((Part(group, "name"),))]
            members = (action for action in actions if action.group == group)
            self._lines += [_line("  ".join(map(key_name, action.keys)), action.help) for action in members]

    def row_count(self) -> int:
        return len(self._lines)

    def row(self, index: int) -> Row:
        return self._lines[index]


def _line(keys: str, text: str) -> Row:
    return Row((Part(f"  {column(keys, 24)} ", "present"), Part(text)))
