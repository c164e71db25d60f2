"""The pipeline's file, or the Python of a step's tool: with line numbers, and the present lines marked."""

from __future__ import annotations

import asyncio

from textual import work

from workbench.pipeline.model import Step
from workbench.tui.breakpoint_sign import breakpoint_sign
from workbench.tui.model import Model
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.server_code import Code, code_of


class SourceView(RowsView):
    """Shows the pipeline's file as it was read, with breakpoints in the margin; or the code of the step's tool."""

    def __init__(self, model: Model, *, id: str) -> None:
        super().__init__(id=id)
        self._model = model
        self._step: Step | None = None
        self._code: Code | None = None
        self.is_code = False
        """Whether the tool's code is asked for, and not the pipeline's file."""
        self._read()

    def _read(self) -> None:
        self._file_lines = self._model.debugger.prepared.pipeline.text.split("\n")

    def reload(self) -> None:
        """Show the files as they are now."""
        self._read()
        self._step = self._code = None

    def switch(self) -> None:
        """From the pipeline's file to the code of the tool, or back."""
        self.is_code = not self.is_code
        self._code = None
        if self.is_code:
            self._find_code()
        elif self._step is not None:
            self.move_cursor(self._step.position.line - 1)
        self.rows_changed()

    def show(self, step: Step | None) -> None:
        """Mark the lines of a step and bring them into view."""
        is_other = step is not self._step
        self._step = step
        if self.is_code and (is_other or self._code is None):
            self._find_code()
        elif is_other and step is not None:
            self.move_cursor(step.position.line - 1)
        self.rows_changed()

    @work(group="looking", exclusive=True, exit_on_error=False)
    async def _find_code(self) -> None:
        code = await asyncio.to_thread(code_of, self._step, self._model.debugger.prepared)
        self._code = code
        self.rows_changed()
        self.move_cursor(max(0, code.first - 1))
        self.post_message(self.Highlighted(self, self.cursor))

    # ---- what it tells

    @property
    def place(self) -> str:
        """File and line at the cursor."""
        if not self.is_code:
            return f"{self._model.debugger.prepared.pipeline.file.name}:{self.cursor + 1}"
        if self._code is None or not self._code.lines:
            return ""
        missing = "" if self._code.first else f"  no function {getattr(self._step, 'tool', '')} in it"
        return f"{self._code.name}:{self.cursor + 1}{missing}"

    @property
    def step_line(self) -> int | None:
        """The line of the pipeline's file at the cursor; None in a tool's code."""
        return None if self.is_code else self.cursor + 1

    # ---- rows

    @property
    def _lines(self) -> tuple[str, ...] | list[str]:
        if not self.is_code:
            return self._file_lines
        return self._code.lines if self._code is not None else ()

    def row_count(self) -> int:
        return len(self._lines) or 1

    def row(self, index: int) -> Row:
        lines = self._lines
        if not lines:
            return Row((Part(self._code.problem if self._code is not None else "reading the file", "dim"),))
        line = index + 1
        first, last = self._marked()
        is_marked = first <= line <= last
        return Row(
            (
                self._breakpoint_sign(line),
                Part(f"{line:>{len(str(len(lines)))}} ", "present" if is_marked else "dim"),
                Part("▌" if is_marked else " ", "present"),
                Part(lines[index].expandtabs(4), "present" if is_marked else "value"),
            )
        )

    def _marked(self) -> tuple[int, int]:
        if self.is_code:
            return (self._code.first, self._code.last) if self._code is not None else (0, 0)
        return (self._step.position.line, self._step.last_line) if self._step is not None else (0, 0)

    def _breakpoint_sign(self, line: int) -> Part:
        """That of a step which begins there, as in the tree."""
        steps = () if self.is_code else self._model.debugger.program.steps.values()
        shown_at = self._model.debugger.breakpoints.shown_at
        at = (shown_at(step.path, step.name) for step in steps if step.position.line == line)
        return breakpoint_sign(next((found for found in at if found is not None), None))
