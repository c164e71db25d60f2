"""The engine on a thread of its own: commands go in, and what happened comes out in batches."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from msgspec import Struct

from workbench.engine.debugger import Debugger
from workbench.engine.events import Emit, Event, RunFinished, ServerFailed, Stopped
from workbench.engine.inputs import StepError
from workbench.engine.ports import Answering, ToolsError
from workbench.engine.state import CommandRefused
from workbench.pipeline.problems import PipelineError
from workbench.tui.user import User

FLUSH_SECONDS = 0.1
_FOR_THE_USER = (CommandRefused, ToolsError, StepError, PipelineError, OSError)


class CommandFailed(Struct, frozen=True):
    """A command came to nothing. ``bug`` is set where it was no fault of the user's, of a pipeline or a server."""

    message: str
    bug: BaseException | None = None


class CommandDone(Struct, frozen=True):
    """A command came to its end; what it changed may be seen now."""


class QuestionsChanged(Struct, frozen=True):
    """A server asks the user something, or does not wait for the answer any more."""


Told = Event | CommandDone | CommandFailed | QuestionsChanged
MakeDebugger = Callable[[Emit, Answering], Debugger]
_URGENT = (Stopped, RunFinished, ServerFailed, CommandDone, CommandFailed, QuestionsChanged)


class EngineThread:
    """Runs a debugger's commands on a second thread with an event loop of its own.

    ``notify`` is called on that thread when there is something to ``drain``, once until it is drained, ten times
    a second at most, and at once when the run stops.
    """

    def __init__(self, make_debugger: MakeDebugger, notify: Callable[[], None]) -> None:
        self._notify = notify
        self._told: deque[Told] = deque()
        self._flush: asyncio.TimerHandle | None = None
        self._is_notified = False
        self._is_closing = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="engine", daemon=True)
        self.user = User(lambda: self._tell(QuestionsChanged()))
        self.debugger = make_debugger(self._emit, self.user)

    def start(self, *, starts_servers: bool = True) -> None:
        """Start the thread and open the session; the servers come up while the screen is already there."""
        self._thread.start()
        self.submit(self.debugger.open, wait_for_servers=False, start_servers=starts_servers)

    def submit(self, command: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Run a command on the engine's thread; what it raises is told like an event."""
        if not self._is_closing:
            self._on_loop(self._guarded(command, args, kwargs))

    async def call(self, command: Callable[..., Any], *args: Any) -> Any:
        """Run a command on the engine's thread and wait for what it returns or raises."""
        if self._is_closing:
            raise CommandRefused("the session is being closed")
        result = await asyncio.wrap_future(self._on_loop(_run(command, args, {})))
        self._tell(CommandDone())
        return result

    async def look(self, command: Callable[..., Any], *args: Any) -> Any:
        """Run what changes nothing on the engine's thread, and wait for what it returns or raises."""
        if self._is_closing:
            raise CommandRefused("the session is being closed")
        return await asyncio.wrap_future(self._on_loop(_run(command, args, {})))

    def drain(self) -> list[Told]:
        """What was told since the last call."""
        self._is_notified = False
        told: list[Told] = []
        with contextlib.suppress(IndexError):
            while True:
                told.append(self._told.popleft())
        return told

    async def close(self, seconds: float) -> bool:
        """End the session and the thread; False if that took longer than this, and the thread was left behind."""
        if self._thread.ident is None:
            self._loop.close()
        elif self._thread.is_alive() and not self._is_closing:
            ending = self._on_loop(self._guarded(self.debugger.close, (), {}))
            self._is_closing = True
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.wrap_future(ending), seconds)
            self._loop.call_soon_threadsafe(self._loop.stop)
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join, seconds)
        return not self._thread.is_alive()

    # ---- on the engine's thread

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            if left:
                self._loop.run_until_complete(asyncio.wait(left, timeout=1))
        finally:
            self._loop.close()

    async def _guarded(self, command: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        try:
            await _run(command, args, kwargs)
            self._tell(CommandDone())
        except _FOR_THE_USER as error:
            self._tell(CommandFailed(str(error)))
        except Exception as error:
            self._tell(CommandFailed(f"ragwb made a mistake: {type(error).__name__}: {error}", bug=error))

    def _emit(self, event: Event) -> None:
        self._tell(event)

    def _tell(self, told: Told) -> None:
        self._told.append(told)
        self._loop.call_soon_threadsafe(self._schedule, isinstance(told, _URGENT))

    def _schedule(self, is_urgent: bool) -> None:
        if is_urgent:
            if self._flush is not None:
                self._flush.cancel()
            self._notify_once()
        elif self._flush is None and not self._is_notified:
            self._flush = self._loop.call_later(FLUSH_SECONDS, self._notify_once)

    def _notify_once(self) -> None:
        self._flush = None
        if not self._is_notified:
            self._is_notified = True
            self._notify()

    def _on_loop(self, work: Any) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)


async def _run(command: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    result = command(*args, **kwargs)
    return await result if inspect.isawaitable(result) else result
