"""What may answer a visit in place of its tool: its twin before a fork, or the recording of another run.

A run is rebuilt from such a recording up to where the user takes over.
"""

from __future__ import annotations

import contextlib

from msgspec.structs import replace

from workbench.engine.attending import Attending
from workbench.engine.edits import with_edit
from workbench.engine.inputs import Skip, StepError
from workbench.engine.ports import Edit
from workbench.engine.recording import Answers
from workbench.engine.state import StopReason
from workbench.engine.timeline import Timeline
from workbench.engine.visit import Visit
from workbench.pipeline.model import Step, ToolStep


class Rebuilding(Attending):
    """What ``Running`` asks of recordings."""

    def answers_of(self, step: str) -> Answers:
        """How a step (by its path) is answered where there is a recording of it."""
        return self.answers_by_step.get(step, self.answers)

    def _twin(self, visit: Visit) -> Visit | None:
        """The recorded visit that this one would be a repetition of, after a fork or where one begins."""
        if self.answers_of(visit.step) == "run":
            return None
        timeline: Timeline | None = self.timeline
        position = self.state.position
        while timeline is not None:
            found = timeline.matching(position, visit)
            if found is not None or timeline.parent is None:
                return found
            parent = self.timelines[timeline.parent]
            forked_at = parent.index_of(timeline.parent_visit) if timeline.parent_visit is not None else None
            timeline, position = parent, forked_at if forked_at is not None else len(parent.moments)
        return None

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
