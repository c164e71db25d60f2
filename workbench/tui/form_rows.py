"""The fields of a form, one on each line: what it is called, what stands in it, and why that won't do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from workbench.mcp.forms import ChoiceField, ChoicesField, Field, Form, TextField, Typed
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import column, one_line

_LONGEST_NAME = 28


class FormRows(RowsView):
    """Choices are changed right here; what is typed is typed in the line below. ``mask`` masks secrets."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "turn(1)", show=False),
        Binding("left", "turn(-1)", show=False),
        Binding("down,tab", "screen.move(1)", show=False),
        Binding("up,shift+tab", "screen.move(-1)", show=False),
        Binding("enter", "screen.accept", show=False),
    ]

    def __init__(self, form: Form, mask: Callable[[Any], Any]) -> None:
        super().__init__()
        self._form = form
        self._mask = mask
        self._width = min(_LONGEST_NAME, max((len(one.title) for one in form.fields), default=0) + 2)
        self._touched: set[int] = set()

    @property
    def field(self) -> Field | None:
        """The one at the cursor."""
        return self._form.fields[self.cursor] if self._form.fields else None

    def touch(self) -> None:
        """The user has changed the field at the cursor: from now on it is said what is wrong with it."""
        self._touched.add(self.cursor)
        self.refresh_line(self.cursor)

    def touch_all(self) -> None:
        self._touched.update(range(len(self._form.fields)))
        self.refresh()

    def problem(self, index: int) -> str:
        return self._form.fields[index].problem() if index in self._touched else ""

    def action_turn(self, step: int) -> None:
        if isinstance(self.field, ChoiceField):
            self.field.move(step)
            self.touch()
            self.post_message(self.Highlighted(self, self.cursor))

    def row_count(self) -> int:
        return len(self._form.fields) or 1

    def row(self, index: int) -> Row:
        if not self._form.fields:
            return Row((Part("there is nothing to fill in: accept it, or decline", "dim"),))
        field = self._form.fields[index]
        name = column(self._mask(one_line(field.title[:200])), self._width - 2) + (" *" if field.is_required else "  ")
        left = (
            Part("> " if index == self.cursor else "  ", "present"),
            Part(name, "name"),
            Part("  "),
            self._shown(field),
        )
        problem = self.problem(index)
        return Row(left, (Part(f"{problem} ", "bad"),) if problem else ())

    def watch_cursor(self, before: int, now: int) -> None:
        super().watch_cursor(before, now)
        self.refresh_line(before)

    def _shown(self, field: Field) -> Part:
        if isinstance(field, Typed):
            text = "•" * len(field.text) if isinstance(field, TextField) and field.is_secret else field.text
        else:
            assert isinstance(field, ChoiceField | ChoicesField)
            text = field.label[:2_000]
        return Part(self._mask(text), "value") if text else Part("…" if field.is_required else "left out", "dim")
