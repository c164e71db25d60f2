"""Timelines: the visits in order, each with the checkpoint before it, and the forks that began at one of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from workbench.engine.cursor import Cursor
from workbench.engine.pool import VariablePool
from workbench.engine.ports import Edit
from workbench.engine.visit import Visit
from workbench.pipeline.outline import Outline


class Checkpoint(Struct, frozen=True):
    """All that is needed to go on: cursor, variables, parameters, memory lists, number of items.

    ``routes`` are what the router at the cursor decided (item -> state), where its branches have not begun.
    ``edits`` were made since the last visit, and are in the pool; ``skipped`` are the steps passed over since then.
    It holds references only, so keeping one costs nothing.
    """

    cursor: Cursor
    pool: VariablePool
    routes: Mapping[int, str] | None = None
    edits: tuple[Edit, ...] = ()
    skipped: tuple[str, ...] = ()


class Moment(Struct, frozen=True):
    """A visit, the checkpoint from which it was run, and the pool with what it wrote."""

    before: Checkpoint
    visit: Visit
    after: VariablePool


class AsRun(Struct, frozen=True):
    """A timeline as it was run, with the outline of the pipeline of then."""

    timeline: Timeline
    outline: Outline


class Timeline(Struct):
    """One course of the run. A fork shares the moments before ``parent_visit`` with the timeline it left there."""

    number: int = 1
    parent: int | None = None
    parent_visit: int | None = None
    moments: list[Moment] = field(default_factory=list)
    end: Checkpoint | None = None
    """Where it stood after its last visit."""
    as_run: AsRun | None = None
    """Set for one that is closed: ``moments`` are those that fit the pipeline of today, what runs on is a fork."""
    _stateful: dict[str, list[int]] = field(default_factory=dict)
    """Server -> positions of the visits that changed its state, of the first ``_indexed`` that ran."""
    _indexed: int = 0

    @property
    def is_closed(self) -> bool:
        """Whether nothing may be added to it: what follows its last moment was run under another pipeline."""
        return self.as_run is not None

    @property
    def is_cut(self) -> bool:
        """Whether visits of it do not fit the pipeline of today."""
        return len(self.ran) > len(self.moments)

    @property
    def ran(self) -> list[Moment]:
        """All its moments as they were run, also those that do not fit the pipeline of today."""
        return self.as_run.timeline.moments if self.as_run is not None else self.moments

    @property
    def visits(self) -> Sequence[Visit]:
        return [moment.visit for moment in self.moments]

    def index_of(self, visit: int) -> int | None:
        """The place of a visit in it; None where it is not part of it."""
        # A visit that comes later in a timeline has a higher number.
        place = bisect_left(self.moments, visit, key=lambda moment: moment.visit.number)
        is_here = place < len(self.moments) and self.moments[place].visit.number == visit
        return place if is_here else None

    def checkpoint(self, position: int) -> Checkpoint | None:
        """The checkpoint after ``position`` visits."""
        return self.moments[position].before if position < len(self.moments) else self.end

    def shared_with(self, other: Timeline) -> int:
        """How many visits two timelines have in common, from the beginning."""
        if other is self:
            return len(self.moments)
        count = min(len(self.moments), len(other.moments))
        places = range(count)
        # A visit keeps its number, also where its moment was fitted into another pipeline.
        return bisect_left(places, True, key=lambda n: self.moments[n].visit.number != other.moments[n].visit.number)

    def stateful_between(self, begin: int, end: int) -> tuple[str, ...]:
        """The servers whose state the visits from ``begin`` to before ``end`` changed, in order of their names."""
        ran = self.ran
        for place in range(self._indexed, len(ran)):
            visit = ran[place].visit
            if visit.is_stateful:
                self._stateful.setdefault(visit.alias, []).append(place)
        self._indexed = len(ran)
        return tuple(
            alias
            for alias, places in sorted(self._stateful.items())
            if bisect_left(places, begin) < bisect_left(places, end)
        )

    def round_begins(self, position: int) -> int:
        """The position at which the innermost round around ``position`` begins; that of the one before, at a begin."""
        if not position:
            return 0
        current = _rounds(self.moments[position - 1])
        start = position
        while start and current and _rounds(self.moments[start - 1])[: len(current)] == current:
            start -= 1
        return start if start < position else position - 1

    def decided(self, position: int) -> dict[int, str]:
        """What the router of the visit at ``position`` decided (item -> state), with what was changed by hand."""
        following = self.checkpoint(position + 1)
        edits = following.edits if following is not None else ()
        changed = {edit.item: edit.value for edit in edits if edit.what == "state" and edit.item is not None}
        return {**self.moments[position].visit.routes, **changed}

    def fork(self, number: int, position: int) -> Timeline:
        """A new timeline that has this one's first ``position`` visits. Nothing of this one changes."""
        left_at = self.ran[position].visit.number if position < len(self.ran) else None
        return Timeline(number, self.number, left_at, self.moments[:position])

    def matching(self, position: int, visit: Visit) -> Visit | None:
        """The visit of the same step in the same round and branch, from ``position`` on: its twin."""
        key = (visit.step, visit.round, visit.branch)
        for moment in self.moments[position:]:
            twin = moment.visit
            if (twin.step, twin.round, twin.branch) == key:
                return twin
        return None


def _rounds(moment: Moment) -> tuple[tuple[str, int], ...]:
    """The loops around a visit, outermost first, each with its round."""
    return tuple((frame.block, frame.round) for frame in moment.before.cursor.frames if frame.round)
