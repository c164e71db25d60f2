"""A line at the foot for expressions and commands: with a history, completion, and the last result above it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input

from workbench.tui.bars import Bar
from workbench.tui.inputs import Line
from workbench.tui.net import Guarded
from workbench.tui.rows import Part


class Console(Guarded, Vertical):
    """Hidden until it is asked for. ``candidates`` gives where a line's last word begins, and what may stand there."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "end", show=False),
        Binding("up", "recall(-1)", show=False),
        Binding("down", "recall(1)", show=False),
    ]

    class Entered(Message):
        """A line was entered; an empty one asks for the last result as a whole."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Ended(Message):
        """The user is done with it."""

    def __init__(self, history: Sequence[str], candidates: Callable[[str], tuple[int, list[str]]]) -> None:
        super().__init__()
        self.history = list(history)
        self._candidates = candidates
        self._at = len(self.history)

    def compose(self) -> ComposeResult:
        yield Bar(id="console-result")
        yield Line(placeholder="an expression, or a command: run over · break 4.2 · goto 5 · set …", compact=True)

    @property
    def _line(self) -> Line:
        return self.query_one(Line)

    def open(self) -> None:
        self.add_class("-shown")
        self._line.cursor_blink = False
        self.screen.set_focus(self._line)  # at once: what is typed right after the key belongs here

    def show_result(self, parts: Sequence[Part], right: Sequence[Part] = ()) -> None:
        self.query_one("#console-result", Bar).show(parts, right)

    def action_end(self) -> None:
        self.remove_class("-shown")
        self.post_message(self.Ended())

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip()
        self._line.value = ""
        if text and (not self.history or self.history[-1] != text):
            self.history.append(text)
        self._at = len(self.history)
        self.post_message(self.Entered(text))

    def action_recall(self, step: int) -> None:
        self._at = max(0, min(self._at + step, len(self.history)))
        self._line.value = self.history[self._at] if self._at < len(self.history) else ""
        self._line.action_end()

    def complete(self) -> None:
        """Complete the last word, when all that was typed before has arrived in the line."""
        self._line.call_later(self._complete)

    def _complete(self) -> None:
        """Write on as far as there is one way to; where there are several, they are shown."""
        text = self._line.value
        begin, found = self._candidates(text)
        if not found:
            self.show_result([Part(" nothing begins like that", "dim")])
            return
        common = _common_beginning(found)
        self._line.value = text[:begin] + (f"{common} " if len(found) == 1 else common)
        self._line.action_end()
        if len(found) > 1:
            self.show_result([Part(" " + "  ".join(found[:100]), "dim")])


def _common_beginning(words: Sequence[str]) -> str:
    first, last = min(words), max(words)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))
    return first[:shared]
