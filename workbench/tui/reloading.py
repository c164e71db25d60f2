"""Files that are saved in an editor while the screen is open: noticed, shown, and read anew when the user says so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from workbench.engine.debugger import Debugger
from workbench.pipeline.problems import PipelineError, Problem
from workbench.pipeline.project import ServerSource
from workbench.pipeline.watching import PipelineWatch, Saved
from workbench.tui.action_screen import ActionScreen
from workbench.tui.bridge import EngineThread
from workbench.tui.dialogs import Dialog
from workbench.tui.model import Model
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import content
from workbench.tui.text_view import TextView

LOOK_SECONDS = 1.0


class Reloading:
    """Looks after the files of the pipeline on screen. Disks may be slow: all of it is done on other threads."""

    def __init__(self, screen: ActionScreen[None], engine: EngineThread, model: Model) -> None:
        self._screen = screen
        self._engine = engine
        self._model = model
        self._watch: PipelineWatch | None = None
        self._is_looking = False

    async def look(self) -> None:
        """See whether something was saved; the status line then says so."""
        if self._is_looking:
            return
        self._is_looking = True
        try:
            if self._watch is None:
                self._watch = await asyncio.to_thread(PipelineWatch, self._engine.debugger.prepared)
            files = await asyncio.to_thread(self._watch.changed)
            self._model.saved_files = tuple(file.name for file in files)
        finally:
            self._is_looking = False

    async def ask(self) -> None:
        """Show what saving changed, and reload it if the user wants that."""
        if self._watch is None or not self._model.saved_files:
            self._screen.say("nothing was saved since the pipeline was read")
            return
        if self._engine.debugger.state.status == "running":
            self._screen.say("a step is running: what was saved can be reloaded when it has stopped")
            return
        try:
            saved = await asyncio.to_thread(self._watch.read)
        except PipelineError as error:
            mistakes = TextView("\n".join(_mistake(problem) for problem in error.problems))
            self._screen.app.push_screen(ReloadDialog("It can't be reloaded yet", mistakes, can_reload=False))
            return
        # Fitting thousands of visits takes its time: that is for the engine's thread.
        kept, cut = await self._engine.call(self._engine.debugger.reloading, saved.prepared)
        lines = Lines([*_lines(saved, self._engine.debugger), *_what_stays(kept, cut, self._engine.debugger)])
        question = ReloadDialog(f"Saved: {', '.join(self._model.saved_files)}", lines, can_reload=True)
        if await self._screen.app.push_screen_wait(question):
            await self._reload(saved)

    async def _reload(self, saved: Saved) -> None:
        try:
            await self._engine.call(self._engine.debugger.reload, saved.prepared, saved.servers)
        except Exception as error:
            self._screen.say(str(error))
            return
        if self._watch is not None:
            await asyncio.to_thread(self._watch.follow, saved.prepared)
        self._model.saved_files = ()


class ReloadDialog(Dialog[bool]):
    """What is different, or what is wrong."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "answer(True)", show=False),
        Binding("n,escape,q", "answer(False)", show=False),
    ]

    def __init__(self, title: str, lines: RowsView, *, can_reload: bool) -> None:
        super().__init__()
        self._title = title
        self._lines = lines
        self._can_reload = can_reload

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -list") as dialog:
            dialog.border_title = content(self._title)
            dialog.border_subtitle = "y reloads · n not now" if self._can_reload else "Esc back"
            yield self._lines

    def on_mount(self) -> None:
        self._lines.focus()

    def action_answer(self, is_wanted: bool) -> None:
        self.dismiss(is_wanted and self._can_reload)


class Lines(RowsView):
    """Lines to read."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "screen.answer(True)", show=False)]

    def __init__(self, lines: list[Row]) -> None:
        super().__init__()
        self._lines = lines

    def row_count(self) -> int:
        return len(self._lines)

    def row(self, index: int) -> Row:
        return self._lines[index]


def _mistake(problem: Problem) -> str:
    place = f":{problem.position.line}:{problem.position.column}" if problem.position is not None else ""
    return f"{problem.file.name}{place}: {problem.message}"


def _lines(saved: Saved, debugger: Debugger) -> Iterator[Row]:
    steps: list[tuple[str, Any, Any]] = [
        ("+", "good", saved.added),
        ("-", "bad", saved.removed),
        ("~", "mark", saved.changed),
    ]
    for sign, look, found in steps:
        for step in found:
            yield Row((Part(f" {sign} ", look), Part(f"{step.path} {step.name}"), Part(f"  {step.detail}", "dim")))
    yield from _listed("other values", saved.parameters)
    yield from _listed("begins anew", saved.servers)
    for alias, source in saved.prepared.used_sources().items():
        if debugger.prepared.sources.get(alias) != source:
            yield Row((Part("   starts  ", "warning"), Part(f"{alias}: {_command(source)}")))
    yield from _listed("read at its next use", tuple(str(file.name) for file in saved.templates))
    if not saved.is_more_than_text:
        yield Row((Part("   nothing that runs is different", "dim"),))
    yield Row(())


def _listed(what: str, names: tuple[str, ...]) -> Iterator[Row]:
    for name in names:
        yield Row((Part(f"   {what}  ", "dim"), Part(name)))


def _command(source: ServerSource) -> str:
    return " ".join(source.command) if source.script is None else str(source.script)


def _what_stays(kept: int, cut: str | None, debugger: Debugger) -> Iterator[Row]:
    """How much of the past is kept."""
    before = debugger.state.position
    if kept < before:
        yield Row((Part(f" {kept} of {before} visits are kept:", "warning"),))
        yield Row((Part(f" {cut}", "warning"),))
    else:
        yield Row((Part(" what has run is kept" if before else " nothing has run yet", "good"),))
