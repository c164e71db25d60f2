"""The help screen: every key of the screen below it, and what its signs mean."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from workbench.tui.actions import Action, key_name
from workbench.tui.dialogs import Dialog
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import column

Lines = Sequence[tuple[str, str]]
"""What stands in the first column, and what it means."""

OPEN_SIGN = ("▸ ▾", "a value that can be opened, and one that is open")
WORKBENCH_SIGNS = (
    ("● ◆ ○", "at the left edge: a breakpoint; one with a condition; one that is switched off"),
    (">", "the step that runs next, or is running"),
    ("● ✓ ✗ -", "at a step: it is running; done; failed or cancelled; passed over"),
    ("*", "written since the run last went on"),
    ("◀", "in the timeline: the past visit that every pane shows"),
    ("⇐ ⇒", "the branch that the pinned item was sent to"),
    ("◉", "a snapshot that is marked, to be compared with another"),
    OPEN_SIGN,
)
_IN_EVERY_PANE = (
    ("↑ ↓ PgUp PgDn Home End", "move; also j k g G"),
    ("Enter", "look at the whole value, the visit or the message"),
    ("→ ← Space", "open and close a value, entry by entry"),
)
_FIRST_COLUMN = 24


class HelpScreen(Dialog[None]):
    """Lists actions by group, then signs."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark", "dismiss", show=False)]

    def __init__(self, actions: Sequence[Action], signs: Lines) -> None:
        super().__init__()
        self._sections: dict[str, Lines] = {"In every pane": _IN_EVERY_PANE}
        for group in dict.fromkeys(action.group for action in actions):
            members = [action for action in actions if action.group == group]
            self._sections[group] = [("  ".join(map(key_name, one.keys)) or "no key", one.help) for one in members]
        if signs:
            self._sections["Signs"] = signs

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Keys and signs"
            dialog.border_subtitle = "Esc back"
            yield HelpRows(self._sections)

    def on_mount(self) -> None:
        self.set_focus(self.query_one(HelpRows))


class HelpRows(RowsView):
    """A heading for each section, and its lines; what does not fit on one goes on below."""

    def __init__(self, sections: dict[str, Lines]) -> None:
        super().__init__()
        self._sections = sections
        self._rows: list[Row] = []

    def rows_changed(self) -> None:
        self._rows = []
        for title, lines in self._sections.items():
            self._rows += [Row((Part(title, "name"),)), *(row for line in lines for row in self._line(*line)), Row(())]
        super().rows_changed()

    def row_count(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Row:
        return self._rows[index]

    def _line(self, first: str, text: str) -> Iterator[Row]:
        for piece in textwrap.wrap(text, max(20, self.row_width - _FIRST_COLUMN - 3)):
            yield Row((Part(f"  {column(first, _FIRST_COLUMN)} ", "present"), Part(piece)))
            first = ""
