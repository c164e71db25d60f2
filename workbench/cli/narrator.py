"""Tells on stderr how a run goes: a line for each visit, and on a terminal what is running right now."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from workbench.cli.report import say
from workbench.engine.events import (
    BranchRouted,
    Event,
    LogPrinted,
    LoopFinished,
    RecordFailed,
    RunFinished,
    ServerAnswered,
    ServerAsked,
    ServerOutput,
    ServerReady,
    ServerStarting,
    StepSkipped,
    VisitFinished,
    VisitProgress,
    VisitStarted,
)
from workbench.engine.values import count_of, numbered
from workbench.engine.visible import one_line, visible
from workbench.pipeline.model import Pipeline

if TYPE_CHECKING:
    from rich.status import Status

LINE_CHARACTERS = 200
"""How much of a server's line is told."""


def seconds(value: float) -> str:
    """A duration as people say it: ``12 ms``, ``1.3 s``, ``2 min 5 s``."""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.1f} s" if value < 60 else f"{value // 60:.0f} min {value % 60:.0f} s"


class Narrator:
    """Plain lines, for logs and pipes. ``tell`` takes every event; what nobody needs to hear is passed over."""

    def __init__(self, pipeline: Pipeline, quiet: bool = False) -> None:
        self.is_record_whole = True
        """False once a memory file could not be written."""
        self._quiet = quiet
        self._waiting = set(pipeline.used_aliases())
        self._last_words: dict[str, str] = {}
        steps = list(pipeline.tool_steps())
        self._path_width = max((len(step.path) for step in steps), default=0)
        self._name_width = max((len(step.name) for step in steps), default=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def warn(self, message: str) -> None:
        """A message that is told in any case."""
        self._line(message)

    def tell(self, event: Event) -> None:
        if isinstance(event, RecordFailed):
            self.is_record_whole = False
            self.warn(event.message)
        if isinstance(event, LogPrinted):
            self.warn(f"     {event.step}: {event.text}")
        if not self._quiet:
            self._tell_of_servers(event)
            self._tell_of_the_run(event)

    def _tell_of_servers(self, event: Event) -> None:
        match event:
            case ServerReady():
                self._waiting.discard(event.server)
                self.now(self._starting())
            case ServerStarting():
                self.now(self._starting())
            case ServerOutput(stream="stderr") if event.server in self._waiting:
                self._last_words[event.server] = event.text
            case ServerAsked():
                self._line(f"server {event.server} asks: {one_line(event.message, LINE_CHARACTERS)}")
            case ServerAnswered():
                reason = f": {one_line(event.reason, LINE_CHARACTERS)}" if event.reason else ""
                self._line(f"server {event.server} was answered: {event.action}{reason}")
            case ServerOutput(stream="stdout"):
                self._line(
                    f"server {event.server} wrote to stdout, which belongs to the protocol (print to stderr): "
                    + one_line(event.text, LINE_CHARACTERS)
                )
            case _:
                pass

    def _tell_of_the_run(self, event: Event) -> None:
        match event:
            case VisitStarted():
                self.now(f"{event.step}  {event.name}")
            case VisitProgress():
                self.now(f"{event.step}  {event.name}  {_progress(event)}")
            case VisitFinished():
                self._finished(event)
            case StepSkipped():
                self._line(f"     {self._columns(event)}  skipped: {event.reason}")
            case LoopFinished():
                self._line(f"     loop {event.step}: {event.rounds} of {event.times} rounds, {event.reason}")
            case BranchRouted():
                ways = ", ".join(f"{state} {numbered(items)}" for state, items in event.states.items())
                self._line(f"     branch {event.step}: {ways or 'no items'}")
            case RunFinished():
                self._line(f"{event.outcome}: {count_of(event.visits, 'visit')} in {seconds(event.seconds)}")
            case _:
                pass

    def remind(self, elapsed: float) -> None:
        """Tell which servers are still starting after so many seconds, and what each said last."""
        for alias in sorted(self._waiting):
            words = self._last_words.get(alias)
            self._line(
                f"{alias}: starting, {seconds(elapsed)}" + (f": {one_line(words, LINE_CHARACTERS)}" if words else "")
            )

    def now(self, text: str) -> None:
        """What is running right now; plain lines have no place for it."""

    def _finished(self, event: VisitFinished) -> None:
        self._line(f"{event.visit:>4} {self._columns(event)}  {seconds(event.seconds):>8}{_round(event)}")
        for warning in event.warnings:
            self._line(f"     warning: {warning}")

    def _columns(self, event: VisitFinished | StepSkipped) -> str:
        return f"{event.step:<{self._path_width}}  {event.name:<{self._name_width}}"

    def _starting(self) -> str:
        return f"starting {', '.join(sorted(self._waiting))}" if self._waiting else ""

    def _line(self, text: str) -> None:
        say(text)


class LiveNarrator(Narrator):
    """The same lines on a terminal, above a line that shows the running step with its clock."""

    def __init__(self, pipeline: Pipeline) -> None:
        from rich.console import Console

        super().__init__(pipeline)
        self._console = Console(stderr=True, highlight=False)
        self._status: Status | None = None

    def __enter__(self) -> Self:
        self._status = self._console.status("")
        self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def now(self, text: str) -> None:
        from rich.text import Text

        if self._status is not None:
            shown = Text(one_line(text, max(20, self._console.width - 6)), no_wrap=True, overflow="ellipsis")
            self._status.update(shown)

    def _line(self, text: str) -> None:
        from rich.text import Text

        self._console.print(Text(visible(text)), soft_wrap=True)


def narrator_for(pipeline: Pipeline, *, quiet: bool) -> Narrator:
    """The live one on a terminal, else plain lines."""
    has_terminal = sys.stderr is not None and sys.stderr.isatty()
    return LiveNarrator(pipeline) if has_terminal and not quiet else Narrator(pipeline, quiet)


def _round(event: VisitFinished) -> str:
    return f"   round {'.'.join(map(str, event.round))}" if event.round else ""


def _progress(event: VisitProgress) -> str:
    done = f"{event.progress:g}/{event.total:g}" if event.total else f"{event.progress:g}"
    return f"{done} {event.message or ''}"
