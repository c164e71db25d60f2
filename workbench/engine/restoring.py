"""Puts a saved session back into a debugger: its timelines, and the place where it stopped."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.engine.cursor import advance
from workbench.engine.program import Program
from workbench.engine.timeline import Checkpoint, Timeline
from workbench.pipeline.model import ToolStep


class CannotRestore(Exception):
    """The pipeline is no longer the one that was run; ``str()`` says where they differ."""


def finish_timelines(program: Program, timelines: Mapping[int, Timeline], begin: Checkpoint) -> None:
    """Work out where each timeline stood at its end. Raises ``CannotRestore`` where steps are not what they were."""
    for timeline in timelines.values():
        for moment in timeline.moments:
            step = program.steps.get(moment.visit.step)
            if not isinstance(step, ToolStep) or step.name != moment.visit.name:
                now = f"is {step.name} now" if step is not None else "is there no more"
                raise CannotRestore(
                    f"step {moment.visit.step} was {moment.visit.name} when the session was kept and {now}"
                )
        timeline.end = _end(program, timeline, begin)


def _end(program: Program, timeline: Timeline, begin: Checkpoint) -> Checkpoint:
    if not timeline.moments:
        return begin
    last = timeline.moments[-1]
    cursor = last.before.cursor
    if program.is_router(program.steps[last.visit.step]):
        return Checkpoint(cursor, last.after, dict(last.visit.routes))
    return Checkpoint(advance(program, cursor).cursor, last.after)
