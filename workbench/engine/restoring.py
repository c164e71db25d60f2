"""Fits timelines into a pipeline that was edited since they were run: those of a saved session, or of an open one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.engine.cursor import Cursor, advance, enter, place_of, step_at
from workbench.engine.edits import with_edit
from workbench.engine.inputs import BoundInputs, StepError
from workbench.engine.pool import VariablePool
from workbench.engine.ports import Edit
from workbench.engine.program import Program
from workbench.engine.timeline import AsRun, Checkpoint, Moment, Timeline
from workbench.engine.visiting import bound_again
from workbench.pipeline.binding import Binding
from workbench.pipeline.model import ToolStep
from workbench.pipeline.outline import Matches, Outline, every_step, matched, outline_of


class Restored(Struct):
    """Timelines as far as they fit, and of each why its later visits do not; None where all do."""

    timelines: dict[int, Timeline] = field(default_factory=dict)
    cuts: dict[int, str | None] = field(default_factory=dict)


def as_run(timelines: Mapping[int, Timeline], outline: Outline) -> dict[int, AsRun]:
    """Timelines as they were run; ``outline`` is that of the pipeline now, and so of those that are not closed."""
    return {number: timeline.as_run or AsRun(timeline, outline) for number, timeline in timelines.items()}


def restored(
    program: Program, timelines: Mapping[int, AsRun], *, bindings: Mapping[str, Binding], begin: VariablePool
) -> Restored:
    """Fit timelines into a program, from how they were run: so what did not fit another one in between comes back.

    Where its steps are not what they were, a timeline is kept up to the first visit that does not fit, and is closed.
    """
    now = outline_of(program.pipeline)
    result = Restored()
    left_at_end = {ran.timeline.parent for ran in timelines.values() if ran.timeline.parent_visit is None}
    for number, ran in sorted(timelines.items()):
        timeline = ran.timeline
        shared, cut = _shared_part(timeline, timelines, result)
        own = timeline.moments[len(shared) :] if cut is None else []
        is_other = bool(own) and ran.outline != now
        if is_other:
            own, cut = _fitting(program, shared, timeline, _unchanged(ran.outline, now))
        moments = [*shared, *(_with_inputs(moment, bindings) for moment in own)]
        fitted = Timeline(number, timeline.parent, timeline.parent_visit, moments)
        # Of a fork that left at the end it is not kept where that was: so nothing may come after it.
        if is_other or cut is not None or number in left_at_end:
            fitted.as_run = ran
        late = timeline.end.edits if timeline.end is not None and cut is None else ()
        fitted.end = _end(program, fitted, begin, late)
        result.timelines[number], result.cuts[number] = fitted, cut
    return result


def _shared_part(
    timeline: Timeline, timelines: Mapping[int, AsRun], result: Restored
) -> tuple[list[Moment], str | None]:
    """The moments that a fork has from its parent, as they are fitted there; and why that was cut before the fork."""
    parent = timelines.get(timeline.parent or 0)
    if parent is None:
        return [], None
    count = timeline.shared_with(parent.timeline)
    fitted = result.timelines[parent.timeline.number].moments
    return fitted[:count], result.cuts[parent.timeline.number] if len(fitted) < count else None


def _unchanged(old: Outline, new: Outline) -> Matches:
    """The tool steps that are there as they were, and what loops and branches became of which."""
    texts = {step.path: step.detail for step in every_step(new) if not step.blocks}
    olds = {step.path: step.detail for step in every_step(old) if not step.blocks}
    return {one: other for one, other in matched(old, new).items() if olds.get(one) == texts.get(other)}


def _fitting(
    program: Program, shared: Sequence[Moment], timeline: Timeline, places: Matches
) -> tuple[list[Moment], str | None]:
    """The visits after ``shared`` that the program would make in the same order; and why the next one does not fit."""
    cursor = (
        advance(program, shared[-1].before.cursor, timeline.decided(len(shared) - 1)).cursor if shared else Cursor()
    )
    fitted: list[Moment] = []
    for position in range(len(shared), len(timeline.moments)):
        moment = timeline.moments[position]
        visit = moment.visit
        place = places.get(visit.step)
        if place is None:
            return fitted, f"step {visit.step} {visit.name}, of visit {visit.number}, is not there as it was"
        skipped = [places[step] for step in moment.before.skipped if step in places]
        at, stranger = _way_to(program, cursor, moment, place, skipped)
        if at is None:
            return fitted, f"{stranger} comes before visit {visit.number} {visit.name} now"
        before = replace(moment.before, cursor=at, skipped=tuple(skipped))
        fitted.append(replace(moment, before=before, visit=replace(visit, step=place)))
        cursor = advance(program, at, timeline.decided(position)).cursor
    return fitted, None


def _way_to(
    program: Program, cursor: Cursor, moment: Moment, place: str, skipped: Sequence[str]
) -> tuple[Cursor | None, str]:
    """The cursor at a step, past those that were skipped then too; else None, and the step that comes before it."""
    left = list(skipped)
    while (step := step_at(program, cursor)) is not None:
        if not isinstance(step, ToolStep):
            cursor = enter(program, cursor).cursor
        elif left and step.path == left[0]:
            left.pop(0)
            cursor = advance(program, cursor, {}).cursor
        elif step.path == place and _is_same_place(program, cursor, moment):
            return cursor, ""
        else:
            return None, f"step {step.path} {step.name}"
    return None, "the end"


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


def _end(program: Program, timeline: Timeline, begin: VariablePool, edits: Sequence[Edit]) -> Checkpoint:
    """Where a timeline stands after its last visit, with what was edited since."""
    pool = timeline.moments[-1].after if timeline.moments else begin
    for edit in edits:
        pool = with_edit(pool, edit)
    if not timeline.moments:
        return Checkpoint(Cursor(), pool, edits=tuple(edits))
    last = timeline.moments[-1]
    cursor = last.before.cursor
    if program.is_router(program.steps[last.visit.step]):
        changed = {edit.item: edit.value for edit in edits if edit.what == "state" and edit.item is not None}
        return Checkpoint(cursor, pool, {**last.visit.routes, **changed}, tuple(edits))
    return Checkpoint(advance(program, cursor).cursor, pool, edits=tuple(edits))
