"""What saving did to an open pipeline, told before it is read anew; first of all, whose programs would be started."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from workbench.engine.values import count_of
from workbench.pipeline.outline import OutlineStep
from workbench.pipeline.problems import Problem
from workbench.pipeline.watching import Saved
from workbench.tui import question_dialog
from workbench.tui.dialogs import Dialog
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import content, one_line
from workbench.tui.text_view import TextView

Answer = Literal["yes", "always"]


class Strangers(Protocol):
    """Programs that a pipeline starts and that nobody has allowed yet."""

    @property
    def question(self) -> str:
        """Who they are, and what may be answered: y, a or n."""

    def allow(self, *, always: bool) -> None:
        """Remember that they may start. Raises ``OSError``."""


class ReloadDialog(Dialog[Answer | None]):
    """What is different. Enter allows no program, nor does anything before all that are asked about were in view."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('yes')", show=False),
        Binding("a", "answer('always')", show=False),
        Binding("enter", "enter", show=False),
        Binding("n,escape,q", "dismiss(None)", show=False),
    ]

    def __init__(self, title: str, rows: Sequence[Row], strangers: Strangers | None = None) -> None:
        super().__init__()
        self._title = title
        asked = list(_asked(strangers)) if strangers is not None else []
        self._lines = Lines([*asked, *rows])
        self._last_asked = len(asked) - 1
        self._since = time.monotonic()

    @property
    def _asks(self) -> bool:
        return self._last_asked >= 0

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall" if self._asks else "dialog -list") as dialog:
            dialog.border_title = content(self._title)
            yield self._lines

    def on_mount(self) -> None:
        self._lines.focus()
        self._since = time.monotonic()
        self._show_keys()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_keys)

    @on(RowsView.Highlighted)
    def _show_keys(self) -> None:
        keys = "y reloads · n not now"
        if self._asks:
            keys = "y allows them and reloads · a always · n not now"
        if not self._lines.shows(self._last_asked):
            keys = "there is more below: y reads on · n not now"
        self.query_one(".dialog").border_subtitle = keys

    def action_answer(self, answer: Answer) -> None:
        if not self._asks:
            if answer == "yes":
                self.dismiss(answer)
        elif not self._lines.shows(self._last_asked):
            self._lines.read_on()
            self.call_after_refresh(self._show_keys)
        elif time.monotonic() - self._since >= question_dialog.HASTE_SECONDS:
            self.dismiss(answer)

    def action_enter(self) -> None:
        self.dismiss(None if self._asks else "yes")


class MistakesDialog(Dialog[None]):
    """Why files that were saved can't be read anew yet."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("y,n,enter,escape,q", "dismiss(None)", show=False)]

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__()
        self._text = TextView("\n".join(map(_mistake, problems)))

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -list") as dialog:
            dialog.border_title = "It can't be reloaded yet"
            dialog.border_subtitle = "Esc back"
            yield self._text

    def on_mount(self) -> None:
        self._text.focus()


class Lines(TextView):
    """Lines to read, wrapped: nothing of a long command is cut off."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "screen.enter", show=False)]

    def __init__(self, rows: Sequence[Row]) -> None:
        self._parts = [[Part(one_line(part.text), part.look) for part in row.left] for row in rows]
        super().__init__("\n".join("".join(part.text for part in parts) for parts in self._parts))

    def row(self, index: int) -> Row:
        line = bisect_right(self._starts, index) - 1
        begin = sum(len(self._part(line, number)) for number in range(index - self._starts[line]))
        return Row(tuple(_between(self._parts[line], begin, begin + len(self.row_text(index).rstrip()))))

    def shows(self, line: int) -> bool:
        """Whether a line, and with it all before it, has come into view."""
        end = self._starts[line + 1] if line + 1 < len(self._starts) else self._count
        return end <= self.scroll_offset.y + self.scrollable_content_region.height

    def read_on(self) -> None:
        self.move_cursor(self.scroll_offset.y + 2 * self.scrollable_content_region.height - 1)


def _between(parts: Sequence[Part], begin: int, end: int) -> Iterator[Part]:
    """What lies between two characters of parts that are one line."""
    at = 0
    for part in parts:
        yield Part(part.text[max(0, begin - at) : max(0, end - at)], part.look)
        at += len(part.text)


def _asked(strangers: Strangers) -> Iterator[Row]:
    first, *others = strangers.question.split("\n")
    yield Row((Part(f" {first}", "warning"),))
    yield from (Row((Part(f" {line}"),)) for line in others)
    yield Row(())


def _mistake(problem: Problem) -> str:
    place = f":{problem.position.line}:{problem.position.column}" if problem.position is not None else ""
    return f"{problem.file.name}{place}: {problem.message}"


# ---- what is different


def rows_of(saved: Saved) -> Iterator[Row]:
    """What saving did, line by line."""
    steps: list[tuple[str, str, tuple[OutlineStep, ...]]] = [
        ("+", "good", saved.added),
        ("-", "bad", saved.removed),
        ("~", "mark", saved.changed),
    ]
    for sign, look, found in steps:
        for step in found:
            yield Row((Part(f" {sign} ", look), Part(f"{step.path} {step.name}"), Part(f"  {step.detail}", "dim")))
    yield from _listed("other values", saved.parameters)
    yield from _listed("begins anew", saved.servers)
    for alias, way in saved.otherwise.items():
        yield Row((Part("   begins anew  ", "warning"), Part(alias), Part(f"  {way}", "dim")))
    yield from _listed("read at its next use", tuple(str(file.name) for file in saved.templates))
    if not saved.is_more_than_text:
        yield Row((Part("   nothing that runs is different", "dim"),))
    yield Row(())


def what_stays(kept: int, cut: str | None, before: int) -> Iterator[Row]:
    """How much of the past is kept of ``before`` visits."""
    if kept < before:
        yield Row((Part(f" {kept} of {before} visits are kept:", "warning"),))
        yield Row((Part(f" {cut}", "warning"),))
    elif kept > before:
        yield Row(
            (Part(f" what has run is kept; of what did not fit, {count_of(kept - before, 'visit')} do now", "good"),)
        )
    else:
        yield Row((Part(" what has run is kept" if before else " nothing has run yet", "good"),))


def _listed(what: str, names: tuple[str, ...]) -> Iterator[Row]:
    for name in names:
        yield Row((Part(f"   {what}  ", "dim"), Part(name)))
