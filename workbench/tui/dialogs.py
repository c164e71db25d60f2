"""Small questions over the screen: confirm, choose, a condition."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar, TypeVar

from textual import on, work
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from workbench.tui.inputs import Line
from workbench.tui.net import Guarded
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import content, visible

T = TypeVar("T")


class Dialog(Guarded, ModalScreen[T]):
    """A screen over the screen, closed once: a second key that was pressed in haste must not close the one below."""

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        return super().dismiss(result) if self.is_active else AwaitComplete.nothing()  # type: ignore[no-untyped-call]


class Confirm(Dialog[bool]):
    """A question to be answered with y or n."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "dismiss(True)", show=False),
        Binding("n,escape,q", "dismiss(False)", show=False),
        Binding("ctrl+c", "app.help_quit", show=False),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_subtitle = "y yes · n no"
            yield Static(content(self._question))


class Choose(Dialog[str | None]):
    """One of several names; the result is the name, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", show=False)]

    def __init__(self, title: str, names: Sequence[str]) -> None:
        super().__init__()
        self._title = title
        self._names = names

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -list") as dialog:
            dialog.border_title = content(self._title)
            dialog.border_subtitle = "Enter chooses · Esc back"
            yield Names(self._names)

    def on_mount(self) -> None:
        self.set_focus(self.query_one(Names))

    @on(RowsView.Chosen)
    def _chosen(self, event: RowsView.Chosen) -> None:
        self.dismiss(self._names[event.index])


class Names(RowsView):
    """A list of names."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self._names = names

    def row_count(self) -> int:
        return len(self._names)

    def row(self, index: int) -> Row:
        return Row((Part(f" {self._names[index]}"),))


class LineDialog(Dialog[None]):
    """One line of text. ``apply`` takes it, or raises with what is wrong with it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", show=False)]

    def __init__(
        self, title: str, text: str, apply: Callable[[str], Awaitable[None]], *, example: str, hint: str
    ) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._apply = apply
        self._example = example
        self._hint = hint

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(self._title)
            dialog.border_subtitle = "Enter sets it · Esc back"
            example = visible(self._example)
            yield Line(visible(self._text), placeholder=example, compact=True, select_on_focus=False)
            yield Static(content(self._hint), classes="hint")
            yield Static(classes="error")

    @work(exclusive=True)
    @on(Input.Submitted)
    async def _submitted(self, event: Input.Submitted) -> None:
        try:
            await self._apply(event.value.strip())
        except Exception as error:
            self.query_one(".error", Static).update(content(str(error)))
        else:
            self.dismiss()
