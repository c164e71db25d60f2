"""Picking from a list of any length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from workbench.mcp.forms import ChoiceField, ChoicesField
from workbench.tui.dialogs import Dialog
from workbench.tui.inputs import Line
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import content, one_line

_LABEL_CHARACTERS = 500


class PickDialog(Dialog[None]):
    """The choices of a field; what is typed leaves those that hold it. What is picked counts at once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "pick", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("pagedown", "move_page(1)", show=False, priority=True),
        Binding("pageup", "move_page(-1)", show=False, priority=True),
        Binding("escape", "dismiss(None)", show=False, priority=True),
    ]

    def __init__(self, field: ChoiceField | ChoicesField, mask: Callable[[Any], Any]) -> None:
        super().__init__()
        self._field = field
        self._mask = mask
        self._rows = Picks(field, mask)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall") as dialog:
            dialog.border_title = content(self._mask(one_line(self._field.title, 100)))
            marks = "Enter marks" if isinstance(self._field, ChoicesField) else "Enter chooses"
            dialog.border_subtitle = f"{marks} · Esc back"
            yield Line(placeholder="type to find", compact=True)
            yield self._rows

    def on_mount(self) -> None:
        line = self.query_one(Line)
        line.cursor_blink = False
        self.set_focus(line)
        self.call_after_refresh(self._rows.go_to_picked)

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        self._rows.narrow(event.value)

    @on(RowsView.Chosen)
    def action_pick(self) -> None:
        number = self._rows.number
        if number is None:
            return
        if isinstance(self._field, ChoiceField):
            self._field.picked = number
            self.dismiss()
        else:
            self._field.picked ^= {number}
            self._rows.refresh_line(self._rows.cursor)

    def action_move(self, step: int) -> None:
        self._rows.action_move(step)

    def action_move_page(self, pages: int) -> None:
        self._rows.action_move_page(pages)


class Picks(RowsView):
    """Those of the choices that are sought."""

    def __init__(self, field: ChoiceField | ChoicesField, mask: Callable[[Any], Any]) -> None:
        super().__init__()
        self._field = field
        self._mask = mask
        self._labels = [one_line(choice.label[:_LABEL_CHARACTERS]) for choice in field.choices]
        self._numbers = list(range(len(self._labels)))

    @property
    def number(self) -> int | None:
        """Of the choice at the cursor."""
        return self._numbers[self.cursor] if self._numbers else None

    def go_to_picked(self) -> None:
        picked = self._field.picked
        self.move_cursor(min(picked, default=0) if isinstance(picked, set) else picked or 0)

    def narrow(self, needle: str) -> None:
        sought = needle.casefold()
        self._numbers = [number for number, label in enumerate(self._labels) if sought in label.casefold()]
        self.rows_changed()
        self.move_cursor(0)

    def row_count(self) -> int:
        return len(self._numbers) or 1

    def row(self, index: int) -> Row:
        if not self._numbers:
            return Row((Part("no match", "dim"),))
        number = self._numbers[index]
        picked = self._field.picked
        is_picked = number in picked if isinstance(picked, set) else number == picked
        return Row((Part("● " if is_picked else "  ", "good"), Part(self._mask(self._labels[number]))))
