"""The net under the screen: a mistake of ours while showing something is logged, and the session goes on."""

from __future__ import annotations

from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from rich.text import Text
from textual.app import App
from textual.events import Event, Key
from textual.message import Message
from textual.message_pump import MessagePump
from textual.worker import WorkerFailed

from workbench.tui.problem_log import log_problem
from workbench.tui.text import one_line

_SHOWN_CHARACTERS = 300

T = TypeVar("T")


class SafeApp(App[T]):
    """Goes on after a mistake in a handler where it can; where it can't, it ends with one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._made: set[tuple[str, int]] = set()
        self._receivers: WeakKeyDictionary[Event, MessagePump] = WeakKeyDictionary()
        """Who was handed each key that is under way."""

    def mistake(self, error: BaseException) -> None:
        """Log a mistake and tell of it, once for each line of ours that makes it: painting repeats itself."""
        place = _place(error)
        if place not in self._made:
            self._made.add(place)
            self.notify(_in_one_line("ragwb made a mistake", error), severity="error", markup=False)

    async def on_event(self, event: Event) -> None:
        if isinstance(event, Key) and self._is_late(event):
            return
        await super().on_event(event)

    def _is_late(self, key: Key) -> bool:
        """Whether a key comes back after the focus has moved: it is then handed to what has it.

        A key first goes to what has the focus; what that has no use for comes back, and is a command then. Where
        keys were typed in one burst, the second has been handed out before the command of the first took effect,
        which may have opened a line to type in, or a dialog.
        """
        meant = self.focused or self.screen
        if self._receivers.setdefault(key, meant) is meant:
            return False
        again = key.copy()
        self._receivers[again] = meant
        meant._forward_event(again)
        return True

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            if not self._is_mounted:
                raise  # without its first screen there is nothing to go on with
            self.mistake(error)

    def _handle_exception(self, error: Exception) -> None:
        """Where Textual calls this, a widget has stopped listening or can't be painted. It would print a traceback."""
        if isinstance(error, WorkerFailed):
            self.mistake(error.error)
        elif self._exception is None:
            self._return_code = 1
            self._exception = error
            self.panic(Text(_in_one_line("ragwb made a mistake and can't go on", error)))
            self._exception_event.set()  # a pilot waits for it


class Guarded(MessagePump):
    """A mixin for screens and widgets of ours: they go on listening after a mistake in a handler."""

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            tell_mistake(self.app, error)


def tell_mistake(app: App[Any], error: Exception) -> None:
    if not isinstance(app, SafeApp):
        raise error
    app.mistake(error)


def _in_one_line(what: str, error: BaseException) -> str:
    file = log_problem(error)
    more = f" (more in {file})" if file is not None else ""
    return one_line(f"{what}: {type(error).__name__}: {error}", _SHOWN_CHARACTERS) + one_line(more)


def _place(error: BaseException) -> tuple[str, int]:
    """The line that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace is not None else (repr(error), 0)
