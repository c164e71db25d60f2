"""What a timeline tells afterwards: what a visit changed, who wrote a variable and who read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from workbench.engine.pool import Variable, VariablePool
from workbench.engine.timeline import Moment, Timeline
from workbench.engine.visit import Visit
from workbench.pipeline.model import FromMemory, FromVariable


class Change(Struct, frozen=True):
    """A variable, or with ``alias`` a parameter of that server, that a visit changed; ``is_new`` if it was not there.

    ``items`` are the entries of an item list that were written; None where it is no item list, or all were.
    """

    name: str
    before: Any
    after: Any
    is_new: bool
    items: tuple[int, ...] | None = None
    alias: str | None = None


class Version(Struct, frozen=True):
    """One version of a variable: the visit that wrote it, or an edit of what that visit wrote; and who read it.

    ``readers`` are the visits that were given it, as a value or in the memory list.
    """

    variable: Variable
    visit: Visit | None
    readers: tuple[Visit, ...]

    @property
    def is_edited(self) -> bool:
        return self.variable.is_edited


class Counterpart(Struct, frozen=True):
    """The visit that another is compared with: the one before of its step, or its twin in the timeline a fork left."""

    visit: Visit
    timeline: int
    is_twin: bool


def counterpart_of(timelines: Mapping[int, Timeline], timeline: Timeline, visit: Visit) -> Counterpart | None:
    """What to compare a visit with; None where its step has not run before."""
    place = timeline.index_of(visit.number)
    parent = timelines.get(timeline.parent) if timeline.parent is not None else None
    if parent is not None and (place is None or place >= timeline.shared_with(parent)):
        twin = parent.matching(timeline.shared_with(parent), visit)
        if twin is not None:
            return Counterpart(twin, parent.number, is_twin=True)
    earlier = timeline.moments[:place] if place is not None else timeline.moments
    before = next((m.visit for m in reversed(earlier) if m.visit.step == visit.step), None)
    return Counterpart(before, timeline.number, is_twin=False) if before is not None else None


def changes_of(moment: Moment) -> tuple[Change, ...]:
    """What a visit changed in the pool, variables first, in the order in which it wrote them."""
    visit, before = moment.visit, moment.before.pool
    changed = [_written(before.get(name), variable) for name, variable in visit.saved.items()]
    section = before.parameters.get(visit.alias, {})
    for name, value in visit.parameters.items():
        old = section.get(name)
        changed.append(Change(name, old.value if old else None, value, old is None, alias=visit.alias))
    return tuple(changed)


def _written(before: Variable | None, after: Variable) -> Change:
    old = before.value if before is not None else None
    return Change(after.name, old, after.value, before is None, after.written)


def history_of(moments: Sequence[Moment], pool: VariablePool, name: str) -> tuple[Version, ...]:
    """The versions of a variable over these visits, oldest first; ``pool`` is the one after the last of them."""
    versions: list[tuple[Variable, Visit | None]] = []
    readers: dict[int, list[Visit]] = {}

    def seen(variable: Variable | None, visit: Visit | None) -> None:
        if variable is not None and (not versions or versions[-1][0] is not variable):
            versions.append((variable, visit))

    writers: dict[int, Visit] = {}
    for moment in moments:
        current = moment.before.pool.get(name)
        seen(current, writers.get(current.visit or 0) if current is not None else None)
        if current is not None and _reads(moment.visit, name):
            readers.setdefault(id(current), []).append(moment.visit)
        if name in moment.visit.saved:
            writers[moment.visit.number] = moment.visit
            seen(moment.visit.saved[name], moment.visit)
    last = pool.get(name)
    seen(last, writers.get(last.visit or 0) if last is not None else None)
    return tuple(Version(variable, visit, tuple(readers.get(id(variable), ()))) for variable, visit in versions)


def _reads(visit: Visit, name: str) -> bool:
    sources = [bound.source for bound in visit.bound.inputs] if visit.bound is not None else []
    return any(
        (isinstance(source, FromVariable) and source.name == name)
        or (isinstance(source, FromMemory) and source.variable == name)
        for source in sources
    )
