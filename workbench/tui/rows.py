"""A list of any length, drawn line by line: only what is in view is ever looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, NamedTuple

from msgspec import Struct
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui.looks import looks_of
from workbench.tui.net import Guarded, tell_mistake
from workbench.tui.text import fit, one_line


class Part(NamedTuple):
    """A stretch of a row in one look: one of the names in ``looks``, or the widget's own."""

    text: str
    look: str = ""


class Row(Struct, frozen=True):
    """One line: what stands at its left is cut where it would meet what stands at its right."""

    left: tuple[Part, ...]
    right: tuple[Part, ...] = ()

    @property
    def text(self) -> str:
        return "".join(part.text for part in (*self.left, *self.right))


class RowsView(Guarded, ScrollView, can_focus=True):
    """The base of every pane with lines in it: a cursor, keys to move it, and one line drawn at a time.

    Subclasses say how many rows there are and give each row when it comes into view.
    """

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "move_page(-1)", show=False),
        Binding("pagedown", "move_page(1)", show=False),
        Binding("home,g", "move_to(0)", show=False),
        Binding("end,G", "move_to(-1)", show=False),
        Binding("enter", "choose", show=False),
    ]

    cursor: reactive[int] = reactive(0, repaint=False)

    class Highlighted(Message):
        """The cursor moved to a row, by the user's hand."""

        def __init__(self, rows: RowsView, index: int) -> None:
            super().__init__()
            self.rows = rows
            self.index = index

        @property
        def control(self) -> RowsView:
            return self.rows

    class Chosen(Highlighted):
        """The row at the cursor was chosen: Enter, or a second click."""

    # ---- what subclasses give

    def row_count(self) -> int:
        raise NotImplementedError

    def row(self, index: int) -> Row:
        raise NotImplementedError

    # ---- what they call

    @property
    def row_width(self) -> int:
        return self.scrollable_content_region.width

    def rows_changed(self) -> None:
        """Draw anew after the data changed. Nothing is laid out anew."""
        count = self.row_count()
        size = Size(self.row_width, count)
        if size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)  # the reactive itself would lay out the whole screen
            self._scroll_update(size)
        if self.cursor >= count:
            self.cursor = max(0, count - 1)
        self.refresh()

    def move_cursor(self, index: int) -> None:
        """Put the cursor on a row and bring it into view, without telling anyone."""
        self.cursor = max(0, min(index, self.row_count() - 1))
        self._show_cursor()

    def find(self, needle: str, step: int) -> bool:
        """Move to the next row (``step`` 1) or the one before (-1) that holds the text; False if there is none."""
        count = self.row_count()
        wanted = one_line(needle).casefold()
        for distance in range(1, count + 1):
            index = (self.cursor + step * distance) % count
            if wanted in one_line(self.row_text(index)).casefold():
                self._go(index)
                return True
        return False

    def row_text(self, index: int) -> str:
        """The text of a row that find looks at."""
        return self.row(index).text

    # ---- drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        self._base, self._looks = self.rich_style, looks_of(self.app)  # once for all lines: they cost more than a line
        self._blank = Strip.blank(self.row_width, self._base)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        try:
            return self._drawn(y)
        except Exception as error:  # else one value that can't be shown would end the session
            tell_mistake(self.app, error)
            return self._blank

    def _drawn(self, y: int) -> Strip:
        index = y + self.scroll_offset.y
        width, base, looks = self.row_width, self._base, self._looks
        if index >= self.row_count():
            return self._blank
        over = looks["cursor" if self.has_focus else "resting"] if index == self.cursor else Style()
        row = self.row(index)
        right = [Part(" "), *cut(row.right, width * 2 // 5, fills=False)] if row.right else []
        left = cut(row.left, width - sum(cell_len(part.text) for part in right))
        segments = [Segment(text, base + looks[look] + over) for text, look in (*left, *right)]
        return Strip(segments).adjust_cell_length(width, base + over)

    # ---- moving

    def watch_cursor(self, before: int, now: int) -> None:
        self.refresh_line(before)
        self.refresh_line(now)

    def action_move(self, step: int) -> None:
        self._go(self.cursor + step)

    def action_move_page(self, pages: int) -> None:
        self._go(self.cursor + pages * max(1, self.scrollable_content_region.height - 1))

    def action_move_to(self, index: int) -> None:
        self._go(index if index >= 0 else self.row_count() - 1)

    def action_choose(self) -> None:
        if self.row_count():
            self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        index = at.y + self.scroll_offset.y if at is not None else self.row_count()
        if index >= self.row_count():
            return
        if event.chain > 1:
            self.action_choose()
        else:
            self._go(index)

    def on_resize(self) -> None:
        self.rows_changed()
        self._show_cursor()

    def on_focus(self) -> None:
        self.refresh_line(self.cursor)

    def on_blur(self) -> None:
        self.refresh_line(self.cursor)

    def _go(self, index: int) -> None:
        before = self.cursor
        self.move_cursor(index)
        if self.cursor != before:
            self.post_message(self.Highlighted(self, self.cursor))

    def _show_cursor(self) -> None:
        self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, force=True)


def cut(parts: Iterable[Part], width: int, *, fills: bool = True) -> Iterator[Part]:
    """Parts cut to a width, and filled up to it."""
    left = width
    for part in parts:
        whole = one_line(part.text[: 4 * width])
        text = fit(whole, left)
        left -= cell_len(text)
        yield Part(text, part.look)
        if text != whole:
            break
    if fills and left > 0:
        yield Part(" " * left)
