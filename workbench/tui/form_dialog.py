"""A server asks the user to fill in a form."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from workbench.engine.ports import Reply
from workbench.mcp.forms import ChoiceField, ChoicesField, Field, Form, TextField, Typed
from workbench.mcp.patterns import fits
from workbench.tui.form_rows import FormRows
from workbench.tui.inputs import FieldLine
from workbench.tui.pick_dialog import PickDialog
from workbench.tui.question_dialog import Asking, QuestionDialog
from workbench.tui.rows import RowsView
from workbench.tui.text import content, one_line, visible

_FEW_CHOICES = 3
_OTHER_LINES = 17
"""Lines of the screen that are not the form's own, at most."""


class FormDialog(QuestionDialog):
    """Fields in rows, and a line to type in for the one at the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "pick", show=False),
    ]

    def __init__(self, asking: Asking, form: Form) -> None:
        super().__init__(asking)
        self._form = form
        self._rows = FormRows(form, self._mask)
        self._line = FieldLine(
            {
                "enter": self.action_accept,
                **dict.fromkeys(("down", "tab"), partial(self.action_move, 1)),
                **dict.fromkeys(("up", "shift+tab"), partial(self.action_move, -1)),
                "pagedown": partial(self.action_move_page, 1),
                "pageup": partial(self.action_move_page, -1),
            }
        )

    def keys(self) -> str:
        return "Enter accepts · ^R declines · ^L later · Esc cancels"

    def compose_answer(self) -> ComposeResult:
        yield self._rows
        yield Static(classes="hint")
        yield self._line

    def on_mount(self) -> None:
        self._show_field()

    def on_resize(self) -> None:
        self._rows.styles.height = max(1, min(self._rows.row_count(), self.size.height - _OTHER_LINES))

    # ---- the field at the cursor

    def _show_field(self) -> None:
        field = self._rows.field
        is_typed = isinstance(field, Typed)
        self._line.visible = is_typed
        if isinstance(field, Typed):
            self._line.password = isinstance(field, TextField) and field.is_secret
            with self.prevent(Input.Changed):
                self._line.value = self._mask(field.text)
            self._line.cursor_position = len(self._line.value)
        self.set_focus(self._line if is_typed else self._rows)
        self._tell_of(field)

    def _tell_of(self, field: Field | None) -> None:
        if field is None:
            return
        words = [self._mask(field.limits), *_keys(field)]
        about = f"{field.description}\n" if field.description else ""
        hint = f"{self._mask(visible(about[:500]))}{one_line(' · '.join(words), 200)}"
        self.query_one(".hint", Static).update(content(hint))
        self.complain(self._rows.problem(self._rows.cursor))

    @on(RowsView.Highlighted)
    def _moved(self) -> None:
        self._show_field()

    @on(Input.Changed)
    def _take_line(self) -> None:
        """What stands in the line now: the message may tell of what stood there for another field."""
        field = self._rows.field
        if isinstance(field, Typed) and self._line.value != self._mask(field.text):
            field.text = self._line.value
            self._rows.touch()
            self._tell_of(field)

    @on(RowsView.Chosen)
    def action_pick(self) -> None:
        field = self._rows.field
        if isinstance(field, ChoiceField) and len(field.choices) <= _FEW_CHOICES:
            self._rows.action_turn(1)
        elif isinstance(field, ChoiceField | ChoicesField):
            self.app.push_screen(PickDialog(field, self._mask), self._picked)

    def _picked(self, _: None) -> None:
        self._rows.touch()
        self._show_field()

    def action_move(self, step: int) -> None:
        self._take_line()
        self._rows.move_cursor((self._rows.cursor + step) % self._rows.row_count())
        self._show_field()

    def action_move_page(self, pages: int) -> None:
        self._take_line()
        self._rows.action_move_page(pages)
        self._show_field()

    # ---- the answer

    @work(exclusive=True)
    async def action_accept(self) -> None:
        if self.is_in_haste:
            return
        self._take_line()
        for field in self._form.fields:
            if isinstance(field, TextField) and field.pattern is not None and field.text and not field.problem():
                text = field.value()
                field.mismatch = None if await fits(field.pattern, text) else text
        wrong = self._form.first_wrong()
        if wrong is None:
            self.settle(Reply("accept", self._form.content()))
            return
        self._rows.touch_all()
        self._rows.move_cursor(wrong)
        self._show_field()


def _keys(field: Field) -> list[str]:
    if isinstance(field, ChoicesField):
        return ["Space lists them"]
    if isinstance(field, ChoiceField):
        return ["← → change it", *(["Space lists them"] if len(field.choices) > _FEW_CHOICES else [])]
    return []
