"""A pipeline with mistakes: the list of them beside the source, until it is mended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType

from workbench.pipeline.prepare import Prepared
from workbench.pipeline.problems import PipelineError, Problem
from workbench.tui.actions import MENDING
from workbench.tui.bars import Bar
from workbench.tui.file_view import FileView, text_of
from workbench.tui.outside import NoProgram, open_in_editor
from workbench.tui.pane_screen import PaneScreen
from workbench.tui.panes import PaneArea
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import one_line
from workbench.tui.text_view import TextView

LOOK_SECONDS = 1.0
ALL_AT_ANY_WIDTH = [(0, "-wide")]
"""A mistake is seen beside its source, on a narrow screen as well."""
Prepare = Callable[[], Prepared]


class Mistakes(RowsView):
    """One line for each mistake."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.problems: Sequence[Problem] = ()

    def show(self, problems: Sequence[Problem]) -> None:
        self.problems = problems
        count = sum(not problem.is_warning for problem in problems)
        self.border_title = f"Mistakes: {count}"
        self.rows_changed()

    @property
    def problem(self) -> Problem | None:
        return self.problems[self.cursor] if self.problems else None

    def row_count(self) -> int:
        return len(self.problems)

    def row(self, index: int) -> Row:
        problem = self.problems[index]
        place = f":{problem.position.line}:{problem.position.column}" if problem.position is not None else ""
        sign = Part("  ", "warning") if problem.is_warning else Part("✗ ", "bad")
        kind = "warning: " if problem.is_warning else ""
        return Row((sign, Part(f"{problem.file.name}{place}  ", "name"), Part(one_line(kind + problem.message))))


class MendingScreen(PaneScreen):
    """Reads the pipeline anew every second. The app ends with it as soon as nothing is wrong any more."""

    ACTIONS = MENDING
    HORIZONTAL_BREAKPOINTS = ALL_AT_ANY_WIDTH
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "restore", show=False)]

    def __init__(self, name: str, prepare: Prepare, error: PipelineError) -> None:
        self._mistakes = Mistakes(id="mistakes")
        self._source = FileView(id="file")
        self._message = TextView(id="message")
        super().__init__(PaneArea([self._mistakes, self._source], [self._message]))
        self._pipeline = name
        self._prepare = prepare
        self._error = error

    def on_mount(self) -> None:
        self._message.border_title = "What is wrong"
        self.query_one("#place", Bar).show(
            [Part(" ragwb  ", "key"), Part(f"{self._pipeline}  ", "name"), Part("can't be run yet", "bad")]
        )
        hint = "Mend it in your editor and save: this goes on by itself."
        self.query_one("#reason", Bar).show([Part(f" {hint}", "dim")])
        self._mistakes.focus()
        self._show_problems(self._error)
        self.set_interval(LOOK_SECONDS, partial(self.call_later, self._look))

    @work(group="look", exit_on_error=False)
    async def _look(self) -> None:
        try:
            prepared = await asyncio.to_thread(self._prepare)
        except PipelineError as error:
            if [str(one) for one in error.problems] != [str(one) for one in self._mistakes.problems]:
                self._show_problems(error)
            else:
                self._show_problem()
        else:
            self.app.exit(prepared)

    def _show_problems(self, error: PipelineError) -> None:
        self._mistakes.show(sorted(error.problems, key=lambda problem: problem.is_warning))
        self._show_problem()

    @on(RowsView.Highlighted, "#mistakes")
    def _selected(self) -> None:
        self._show_problem()

    @work(group="file", exclusive=True, exit_on_error=False)
    async def _show_problem(self) -> None:
        problem = self._mistakes.problem
        if problem is None:
            return
        self._message.show(problem.message)
        text = await asyncio.to_thread(text_of, problem.file)
        self._source.show(problem.file, text, problem.position)

    @on(RowsView.Chosen)
    def action_edit_file(self) -> None:
        problem = self._mistakes.problem
        if problem is not None:
            try:
                open_in_editor(self.app, problem.file, problem.position.line if problem.position is not None else 1)
            except NoProgram as error:
                self.say(str(error), is_error=True)

    def value_at_cursor(self) -> tuple[str, Any] | None:
        problem = self._mistakes.problem
        return ("mistake", str(problem)) if problem is not None else None

    # ---- there are no items

    @property
    def lens(self) -> int | None:
        return None

    def item_count(self) -> int:
        return 0

    def pin(self, item: int | None) -> None:
        """There is none to pin."""
