"""The pipeline as a tree: every step, loop, router and branch, with how far the run has come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from workbench.engine.program import branch_path, router_path
from workbench.engine.values import count_of
from workbench.pipeline.model import BranchStep, LoopStep, Pipeline, Step, ToolStep
from workbench.tui.bars import cells
from workbench.tui.breakpoint_sign import breakpoint_sign
from workbench.tui.item_way import branches_taken
from workbench.tui.model import Model
from workbench.tui.previews import duration
from workbench.tui.progress import StepProgress
from workbench.tui.rows import Part, Row, RowsView

_SIGNS = {
    "not reached": Part(" "),
    "running": Part("●", "present"),
    "done": Part("✓", "good"),
    "skipped": Part("-", "dim"),
    "failed": Part("✗", "bad"),
    "cancelled": Part("✗", "warning"),
}


class TreeRow(Struct, frozen=True):
    """A step, or the heading of one branch (``state`` is set) or of a router."""

    step: Step
    depth: int
    number: str
    """Its path, within the branch it stands in; what stands there for a step that the file does not have."""
    state: str | None = None
    is_router: bool = False

    @property
    def is_heading(self) -> bool:
        return self.state is not None or self.is_router


class PipelineTree(RowsView):
    """Shows a pipeline and, once there is one, the progress of its run."""

    BORDER_TITLE = "Pipeline"

    def __init__(self, pipeline: Pipeline, model: Model, *, id: str) -> None:
        super().__init__(id=id)
        self._rows = list(_rows(pipeline.steps, 0))
        self._model = model
        self._present: str | None = None
        self._taken: Mapping[str, str] = {}

    def reload(self, pipeline: Pipeline) -> None:
        """Show another version of the pipeline."""
        self._rows = list(_rows(pipeline.steps, 0))
        self._present = None
        self.move_cursor(min(self.cursor, max(0, len(self._rows) - 1)))

    @property
    def step(self) -> Step | None:
        """The step at the cursor; None on the heading of a branch."""
        row = self._rows[self.cursor] if self._rows else None
        return None if row is None or row.is_heading else row.step

    def show(self) -> None:
        """Draw anew; where the run has moved, the cursor goes with it."""
        debugger = self._model.debugger
        running = debugger.state.running
        present = running.step if running is not None else debugger.state.place.step
        if present != self._present:
            self._present = present
            last = debugger.visits[-1].step if debugger.visits else None
            self.select(present if present is not None else last)
        self._taken = branches_taken(self._model)
        self.rows_changed()

    def select(self, path: str | None) -> None:
        """Put the cursor on a step."""
        for index, row in enumerate(self._rows):
            if row.step.path == path and not row.is_heading:
                self.move_cursor(index)

    def row_count(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Row:
        row = self._rows[index]
        if row.is_heading:
            return self._heading(row)
        step, progress = row.step, self._progress(row.step)
        is_present = step.path == self._present
        left = (
            breakpoint_sign(self._model.debugger.breakpoints.shown_at(step.path, step.name)),
            Part(">", "present") if is_present else Part(" "),
            Part("  " * row.depth),
            _SIGNS[progress.status],
            Part(f" {row.number} ", "dim"),
            Part(step.name, "present" if is_present else "" if isinstance(step, ToolStep) else "name"),
        )
        right = self._right(step, progress)
        has_room = cells([*left, *right]) < self.row_width or isinstance(step, LoopStep)
        return Row(left, right if has_room else ())  # a name is worth more than a time

    def _heading(self, row: TreeRow) -> Row:
        assert isinstance(row.step, BranchStep)
        taken = self._progress(row.step).taken or {}
        name = "router" if row.is_router else str(row.state)
        count = taken.get(str(row.state)) if row.state is not None else None
        is_empty = row.state is not None and not row.step.branches[row.state]
        right = (Part(count_of(count, "item"), "value"),) if count is not None else ()
        note = Part("  (no steps)", "dim") if is_empty else Part("")
        is_way = row.state is not None and self._taken.get(row.step.path) == row.state
        way = Part(f"  ⇐ [{self._model.lens}]", "mark") if is_way else Part("")
        path = router_path(row.step) if row.is_router else branch_path(row.step, str(row.state))
        sign = breakpoint_sign(self._model.debugger.breakpoints.by_step.get(path))
        look = "dim" if row.is_router else "name"
        return Row((sign, Part(" " + "  " * row.depth + "  "), Part(name, look), way, note), right)

    def _progress(self, step: Step) -> StepProgress:
        """What is known of a step; one whose server is still starting is under way, though not called yet.

        A branch is under way until the run has left it: its router is only the first that is done.
        """
        known = self._model.shown_progress.of(step.path)
        if self._model.looked_at is not None:
            return known
        running, at = self._model.debugger.state.running, self._model.debugger.state.place.step
        if isinstance(step, BranchStep) and at is not None and at.startswith(f"{step.path}."):
            return replace(known, status="running")
        if running is not None and running.step == step.path:
            return StepProgress("running", max(0, self._model.clock() - running.started))
        return known

    def _right(self, step: Step, progress: StepProgress) -> tuple[Part, ...]:
        if isinstance(step, LoopStep):
            times = progress.times or step.times
            return (Part(f"{progress.round}/{times}" if progress.round else f"x {times}", "value"),)
        if progress.seconds is None:
            return (Part("skipped", "dim"),) if progress.status == "skipped" else ()
        return (Part(duration(progress.seconds), "dim"),)


def _rows(steps: tuple[Step, ...], depth: int, block: str = "") -> Iterator[TreeRow]:
    for step in steps:
        is_implied = isinstance(step, ToolStep) and step.is_implied
        yield TreeRow(step, depth, "after the run" if is_implied else step.path.removeprefix(block))
        if isinstance(step, LoopStep):
            yield from _rows(step.steps, depth + 1, block)
        elif isinstance(step, BranchStep):
            yield TreeRow(step, depth + 1, "", is_router=True)
            yield from _rows(step.router, depth + 2, f"{router_path(step)}.")
            for state, body in step.branches.items():
                yield TreeRow(step, depth + 1, "", state=state)
                yield from _rows(body, depth + 2, f"{branch_path(step, state)}.")
