"""Rebuilds a run from a recording of another: what is answered by it, and where the user takes over."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from workbench.engine.edits import with_edit
from workbench.engine.inputs import Skip, StepError
from workbench.engine.ports import Edit
from workbench.engine.recording import Answers
from workbench.engine.session import Session
from workbench.engine.state import StopReason
from workbench.pipeline.model import Step, ToolStep


class Rebuilding(Session):
    """What ``Running`` asks of the recording."""

    def answers_of(self, step: str) -> Answers:
        """How a step (by its path) is answered where there is a recording of it."""
        return self.answers_by_step.get(step, self.answers)

    @property
    def is_rebuilding(self) -> bool:
        return self.recording is not None and self.recording.is_rebuilding

    def _why_live(self, step: Step) -> tuple[StopReason, str] | None:
        """Why a run that is being rebuilt should stop before a step."""
        if self.recording is None or not isinstance(step, ToolStep):
            return None
        binding = self.bindings.known.get(step.path)
        with contextlib.suppress(StepError):
            if binding is not None and isinstance(self._bind(binding), Skip):
                return None
        found = self.recording.why_live(step.path, self.state.place, binding)
        if found is None:
            return None
        why, is_there = found
        return ("entry" if is_there else "breakpoint"), why

    def _repeat_edits(self, edits: tuple[Edit, ...]) -> None:
        """Change again what was changed by hand in the run that this one is rebuilt from."""
        last = self.timeline.moments[-1].visit.number if self.timeline.moments else None
        for edit in edits:
            self.state = replace(self.state, pool=with_edit(self.state.pool, edit))
            self._pending.append(replace(edit, after_visit=last))
            self._recorder.edited(self._pending[-1], self.timeline)
