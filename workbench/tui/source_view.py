"""The pipeline's file with line numbers, breakpoints in the margin, and the present step marked."""

from __future__ import annotations

from workbench.pipeline.model import Step
from workbench.tui.model import Model
from workbench.tui.rows import Part, Row, RowsView


class SourceView(RowsView):
    """Shows the file as it was read."""

    def __init__(self, model: Model, *, id: str) -> None:
        super().__init__(id=id)
        self._model = model
        self._lines = model.debugger.prepared.pipeline.text.split("\n")
        self._step: Step | None = None

    def reload(self) -> None:
        """Show the file as it was read last."""
        self._lines = self._model.debugger.prepared.pipeline.text.split("\n")
        self._step = None

    def show(self, step: Step | None) -> None:
        """Mark the lines of a step and bring them into view."""
        if step is not self._step and step is not None:
            self.move_cursor(step.position.line - 1)
        self._step = step
        self.rows_changed()

    def row_count(self) -> int:
        return len(self._lines)

    def row(self, index: int) -> Row:
        line = index + 1
        step = self._step
        is_marked = step is not None and step.position.line <= line <= step.last_line
        number = f"{line:>{len(str(len(self._lines)))}}"
        text = self._lines[index].expandtabs(4)
        return Row(
            (
                Part("●" if self._breaks_at(line) else " ", "bad"),
                Part(f"{number} ", "present" if is_marked else "dim"),
                Part("▌" if is_marked else " ", "present"),
                Part(text, "present" if is_marked else "value"),
            )
        )

    def _breaks_at(self, line: int) -> bool:
        steps = self._model.debugger.program.steps.values()
        breakpoints = self._model.debugger.breakpoints
        return any(step.position.line == line and breakpoints.shown_at(step.path, step.name) for step in steps)
