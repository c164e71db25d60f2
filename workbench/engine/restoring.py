"""Puts a saved session back into a debugger: its timelines, and the place where it stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.engine.cursor import advance
from workbench.engine.inputs import BoundInputs, StepError
from workbench.engine.program import Program
from workbench.engine.timeline import Checkpoint, Moment, Timeline
from workbench.engine.visiting import bound_again
from workbench.pipeline.binding import Binding
from workbench.pipeline.model import ToolStep


class CannotRestore(Exception):
    """The pipeline is no longer the one that was run; ``str()`` says where they differ."""


def finish_timelines(
    program: Program, timelines: Mapping[int, Timeline], bindings: Mapping[str, Binding], begin: Checkpoint
) -> None:
    """Work out the inputs of each visit, and where each timeline stood at its end.

    Raises ``CannotRestore`` where steps are not what they were.
    """
    for timeline in timelines.values():
        for moment in timeline.moments:
            step = program.steps.get(moment.visit.step)
            if not isinstance(step, ToolStep) or step.name != moment.visit.name:
                now = f"is {step.name} now" if step is not None else "is there no more"
                raise CannotRestore(
                    f"step {moment.visit.step} was {moment.visit.name} when the session was kept and {now}"
                )
        timeline.moments[:] = [_with_inputs(moment, bindings.get(moment.visit.step)) for moment in timeline.moments]
        timeline.end = _end(program, timeline, begin)


def _with_inputs(moment: Moment, binding: Binding | None) -> Moment:
    if binding is None or moment.visit.bound is not None:
        return moment
    try:
        bound = bound_again(moment, binding)
    except StepError:
        return moment
    if not isinstance(bound, BoundInputs):
        return moment
    return replace(moment, visit=replace(moment.visit, bound=bound))


def _end(program: Program, timeline: Timeline, begin: Checkpoint) -> Checkpoint:
    if not timeline.moments:
        return begin
    last = timeline.moments[-1]
    cursor = last.before.cursor
    if program.is_router(program.steps[last.visit.step]):
        return Checkpoint(cursor, last.after, dict(last.visit.routes))
    return Checkpoint(advance(program, cursor).cursor, last.after)
