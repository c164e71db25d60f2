"""Puts a saved session back into a debugger: its timelines, as far as they fit the pipeline of today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from workbench.engine.cursor import Cursor, advance, enter, place_of, step_at
from workbench.engine.inputs import BoundInputs, StepError
from workbench.engine.pool import VariablePool
from workbench.engine.program import Program
from workbench.engine.timeline import Checkpoint, Moment, Timeline
from workbench.engine.visiting import bound_again
from workbench.pipeline.binding import Binding
from workbench.pipeline.model import ToolStep
from workbench.pipeline.outline import Matches, Outline, every_step, matched, outline_of


@dataclass
class Restored:
    """The timelines of a saved session, and the one that is gone on with.

    ``cut`` says of that one why its later visits do not fit the pipeline any more; None where all do.
    """

    timelines: dict[int, Timeline] = field(default_factory=dict)
    present: int = 1
    cut: str | None = None


def restored(
    program: Program,
    timelines: Mapping[int, Timeline],
    present: int,
    *,
    outlines: Mapping[int, Outline],
    bindings: Mapping[str, Binding],
    begin: VariablePool,
    until: int | None = None,
) -> Restored:
    """Fit saved timelines into a program; ``outlines`` are of the pipeline as each timeline was run.

    Where its steps are not what they were, the past is kept up to the first visit that does not fit, and at most
    ``until`` visits of the present timeline; what runs on from there is a new one.
    """
    now = outline_of(program.pipeline)
    result = Restored(present=present)
    branched: Timeline | None = None
    for number, timeline in timelines.items():
        moments, cut = timeline.moments, None
        if outlines.get(number, now) != now:
            moments, cut = _fitting(program, moments, _unchanged(outlines[number], now))
        shared = _shared_moments(moments, result.timelines.get(timeline.parent or 0))
        own = [_with_inputs(moment, bindings) for moment in moments[len(shared) :]]
        fitted = Timeline(number, timeline.parent, timeline.parent_visit, [*shared, *own])
        fitted.end = _end(program, fitted, begin)
        result.timelines[number] = fitted
        if number == present and outlines.get(number, now) != now and timeline.moments:
            position = len(moments) if until is None else min(until, len(moments))
            result.cut = cut if position == len(moments) else None
            branched = _branch_off(timeline, fitted, max(timelines) + 1, position)
            branched.end = _end(program, branched, begin)
    if branched is not None:
        result.timelines[branched.number] = branched
        result.present = branched.number
    return result


def _branch_off(whole: Timeline, fitted: Timeline, number: int, position: int) -> Timeline:
    """What runs on under another pipeline is a timeline of its own."""
    left_at = whole.moments[position].visit.number if position < len(whole.moments) else None
    return Timeline(number, whole.number, left_at, fitted.moments[:position])


def _shared_moments(moments: Sequence[Moment], parent: Timeline | None) -> Sequence[Moment]:
    """The moments that a fork has from its parent, as they are there: they must stay the same objects."""
    its = parent.moments if parent is not None else []
    both = takewhile(lambda pair: pair[0].visit.number == pair[1].visit.number, zip(moments, its, strict=False))
    return [shared for _, shared in both]


def _unchanged(old: Outline, new: Outline) -> Matches:
    """The tool steps that are there as they were, and what loops and branches became of which."""
    texts = {step.path: step.detail for step in every_step(new) if not step.blocks}
    olds = {step.path: step.detail for step in every_step(old) if not step.blocks}
    return {one: other for one, other in matched(old, new).items() if olds.get(one) == texts.get(other)}


def _fitting(program: Program, moments: Sequence[Moment], places: Matches) -> tuple[list[Moment], str | None]:
    """The visits that the program would make in the same order; and why the next one does not fit, if one doesn't."""
    known = set(places.values())
    cursor = Cursor()
    fitted: list[Moment] = []
    for moment in moments:
        visit = moment.visit
        place = places.get(visit.step)
        if place is None:
            return fitted, f"step {visit.step} {visit.name}, of visit {visit.number}, is not there as it was"
        at, stranger = _way_to(program, cursor, moment, place, known)
        if at is None:
            return fitted, f"{stranger} comes before visit {visit.number} {visit.name} now"
        fitted.append(replace(moment, before=replace(moment.before, cursor=at), visit=replace(visit, step=place)))
        cursor = advance(program, at, dict(visit.routes)).cursor
    return fitted, None


def _way_to(program: Program, cursor: Cursor, moment: Moment, place: str, known: set[str]) -> tuple[Cursor | None, str]:
    """The cursor at a step, past steps that were skipped then too; else None, and the step that is new on the way."""
    first = "the end"
    while (step := step_at(program, cursor)) is not None:
        if isinstance(step, ToolStep) and first == "the end":
            first = f"step {step.path} {step.name}"
        if not isinstance(step, ToolStep):
            cursor = enter(program, cursor).cursor
        elif step.path == place and _is_same_place(program, cursor, moment):
            return cursor, ""
        elif step.path in known:
            cursor = advance(program, cursor, {}).cursor
        else:
            return None, f"step {step.path} {step.name}"
    return None, first


def _is_same_place(program: Program, cursor: Cursor, moment: Moment) -> bool:
    here = place_of(program, cursor)
    then = moment.visit
    return (here.round, here.branch, cursor.items) == (then.round, then.branch, moment.before.cursor.items)


def _with_inputs(moment: Moment, bindings: Mapping[str, Binding]) -> Moment:
    binding = bindings.get(moment.visit.step)
    if binding is None or moment.visit.bound is not None:
        return moment
    try:
        bound = bound_again(moment, binding)
    except StepError:
        return moment
    if not isinstance(bound, BoundInputs):
        return moment
    return replace(moment, visit=replace(moment.visit, bound=bound))


def _end(program: Program, timeline: Timeline, begin: VariablePool) -> Checkpoint:
    if not timeline.moments:
        return Checkpoint(Cursor(), begin)
    last = timeline.moments[-1]
    cursor = last.before.cursor
    if program.is_router(program.steps[last.visit.step]):
        return Checkpoint(cursor, last.after, dict(last.visit.routes))
    return Checkpoint(advance(program, cursor).cursor, last.after)
