"""What all dialogs for the questions of servers share: who asks, what, and the keys to answer with."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar

from msgspec import Struct
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from workbench.engine.ports import Reply
from workbench.tui.dialogs import Dialog
from workbench.tui.rows import RowsView
from workbench.tui.text import content
from workbench.tui.text_view import TextView
from workbench.tui.user import OpenQuestion

HASTE_SECONDS = 0.4
"""A key pressed so soon after a question came up was meant for what was there before."""


class Asking(Struct, frozen=True):
    """A question on its way to the user. ``who`` says which server asks, and when; ``mask`` masks secrets in texts.

    ``settle`` takes the answer, or None where the user wants to look around first.
    """

    question: OpenQuestion
    who: str
    mask: Callable[[Any], Any]
    settle: Callable[[OpenQuestion, Reply | None], None]


class QuestionDialog(Dialog[None]):
    """Subclasses show the question, and give the answer in ``action_accept``."""

    BINDINGS: ClassVar[list[BindingType]] = [  # a text box would take some of these for itself
        Binding("ctrl+s", "accept", show=False, priority=True),
        Binding("ctrl+r", "decline", show=False, priority=True),
        Binding("ctrl+l", "later", show=False, priority=True),
        Binding("escape", "cancel", show=False, priority=True),
        Binding("ctrl+up", "scroll_question(-1)", show=False, priority=True),
        Binding("ctrl+down", "scroll_question(1)", show=False, priority=True),
    ]
    QUESTION_PART: ClassVar[int] = 4
    """The question takes this part of the screen at most."""

    def __init__(self, asking: Asking) -> None:
        super().__init__()
        self.question = asking.question
        self._asking = asking
        self._asked = asking.question.asked
        self._mask = asking.mask
        self._since = time.monotonic()

    @property
    def is_busy(self) -> bool:
        """Whether it waits for something else itself, so that other questions may come before it."""
        return False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -asked") as dialog:
            dialog.border_title = content(self._mask(self._asking.who))
            dialog.border_subtitle = self.keys()
            yield QuestionText(self._mask(self.question_text()), self.QUESTION_PART)
            yield from self.compose_answer()
            yield Static(classes="error")

    def keys(self) -> str:
        return "^S accepts · ^R declines · ^L later · Esc cancels"

    def question_text(self) -> str:
        return self._asked.message

    def compose_answer(self) -> ComposeResult:
        raise NotImplementedError

    def on_mount(self) -> None:
        self._since = time.monotonic()

    def on_resize(self) -> None:
        self.call_after_refresh(self._tell_how_to_scroll)

    def _tell_how_to_scroll(self) -> None:
        scrolls = " · ^↑ ^↓ scroll the question" if self.query_one(QuestionText).is_cut else ""
        self.query_one(".dialog").border_title = content(self._mask(self._asking.who) + scrolls)

    def on_screen_resume(self) -> None:
        self.close_if_over()

    def close_if_over(self) -> None:
        """Go away where nobody waits for an answer any more; covered by another dialog, as soon as that is gone."""
        if self.question.is_over:
            self.dismiss()

    def complain(self, text: str) -> None:
        self.query_one(".error", Static).update(content(self._mask(text)))

    def settle(self, reply: Reply | None) -> None:
        if self.is_active and not self.is_in_haste:
            self._asking.settle(self.question, reply)
            self.dismiss()

    @property
    def is_in_haste(self) -> bool:
        return time.monotonic() - self._since < HASTE_SECONDS

    # ---- keys

    def action_accept(self) -> object:
        raise NotImplementedError

    def action_decline(self) -> None:
        self.settle(Reply("decline", reason="the user declined"))

    def action_cancel(self) -> None:
        self.settle(Reply("cancel", reason="the user cancelled"))

    def action_later(self) -> None:
        self.settle(None)

    def action_scroll_question(self, step: int) -> None:
        text = self.query_one(QuestionText)
        text.scroll_relative(y=step * max(1, text.size.height - 1), animate=False)


class QuestionText(TextView, can_focus=False):
    """What is asked: as many lines as it has, up to a part of the screen; the rest is scrolled to."""

    def __init__(self, text: str, part: int) -> None:
        super().__init__(text)
        self._screen_part = part
        self.set_reactive(RowsView.cursor, -1)  # it is read, not moved in

    def rows_changed(self) -> None:
        super().rows_changed()
        self.styles.height = max(1, min(self.row_count(), self.screen.size.height // self._screen_part))

    @property
    def is_cut(self) -> bool:
        """Whether there is more of it than is seen."""
        return self.row_count() > self.size.height

    def move_cursor(self, index: int) -> None:
        pass
