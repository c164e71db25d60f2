"""The way of one item: which branches it was sent to, and which visits passed it by."""

from __future__ import annotations

from workbench.engine.events import VisitFailed, VisitFinished
from workbench.tui.model import Model
from workbench.tui.rows import Part


def branches_taken(model: Model) -> dict[str, str]:
    """Branch step -> the branch that the pinned item was sent to last, up to the checkpoint that is shown."""
    debugger, lens = model.debugger, model.lens
    taken: dict[str, str] = {}
    if lens is None:
        return taken
    timeline, end = debugger.timeline, debugger.state.position
    place = timeline.index_of(model.looked_at) if model.looked_at is not None else None
    for number in reversed(range(place + 1 if place is not None else end)):
        visit = timeline.moments[number].visit
        block = visit.step.rpartition(".")[0]
        if visit.routes and block in debugger.program.blocks:
            branch = debugger.program.blocks[block].owner
            state = timeline.decided(number).get(lens) if branch is not None else None
            if branch is not None and state is not None:
                taken.setdefault(branch.path, state)
    return taken


def item_note(model: Model, event: VisitFinished | VisitFailed) -> tuple[Part, ...]:
    """What a visit has to do with the pinned item, where that is not simply that it worked on it."""
    lens = model.lens
    if lens is None or event.visit is None:
        return ()
    if event.items is not None and lens not in event.items:
        return (Part(f"  without [{lens}]", "dim"),)
    place = model.debugger.timeline.index_of(event.visit)
    if place is None or not model.debugger.timeline.moments[place].visit.routes:
        return ()
    state = model.debugger.timeline.decided(place).get(lens)
    return (Part(f"  [{lens}] ⇒ {state}", "mark"),) if state is not None else ()
