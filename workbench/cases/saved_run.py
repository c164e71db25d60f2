"""A saved run: its visits, what each wrote, and what is known of where in the pipeline it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from workbench.record.memory_file import UNSET_TEXT


class RunUnreadable(Exception):
    """The file is no saved run; ``str()`` says what and where."""


class StepPlace(Struct, frozen=True):
    """A place in the pipeline: step path, rounds and branch states, outermost first."""

    step: str
    round: tuple[int, ...] = ()
    branch: tuple[str, ...] = ()

    def __str__(self) -> str:
        rounds = f" round {'.'.join(map(str, self.round))}" if self.round else ""
        return f"{self.step}{rounds}{''.join(f' branch {state}' for state in self.branch)}"


class Recorded(Struct, frozen=True):
    """What only a session file holds of a visit. Times are Unix seconds and seconds; ``routes`` item -> state."""

    number: int
    """The visit's number in the session, which counts the visits of all timelines."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    items: tuple[int, ...] | None = None
    routes: Mapping[int, str] = field(default_factory=dict)
    started: float = 0
    seconds: float = 0
    warnings: tuple[str, ...] = ()
    provenance: str = "ran"


class SavedVisit(Struct, frozen=True):
    """One entry of a saved run: the step, and the variables it wrote (without ``memory_``). Numbered from 1.

    ``places`` are where in the pipeline it may have been: none where no pipeline is known, several where the file does
    not tell which. ``recorded`` is there in runs of a session file only.
    """

    number: int
    step: str
    saved: Mapping[str, Any]
    places: tuple[StepPlace, ...] = ()
    recorded: Recorded | None = None

    @property
    def place(self) -> StepPlace | None:
        """Its place, where there is but one; else the first of those that may be."""
        return self.places[0] if self.places else None

    @property
    def place_text(self) -> str:
        """``5.3 round 2``, ``5.3 round 2 or 6``; empty where nothing is known."""
        return " or ".join(map(str, self.places))


class SavedVariable(Struct, frozen=True):
    """A variable at one moment of a saved run, and the visit that wrote it."""

    name: str
    value: Any
    visit: int


class SavedRun(Struct, frozen=True):
    """A saved run. ``count`` is the number of items, 0 where the file has no list that could tell.

    ``not_held`` says in words what the file does not hold; ``trouble`` what of it can't be read, as where it is cut
    short; ``failed`` the step that ended the run, and its error.
    """

    file: Path
    visits: Sequence[SavedVisit]
    count: int
    counted_by: str | None
    not_held: str = "inputs, times, rounds, branches and messages"
    trouble: str | None = None
    failed: str | None = None
    whole: frozenset[str] = frozenset()
    """Variables that are no item lists, whatever their length: the pipeline, or what wrote them first, says so."""
    timeline: int | None = None
    """Of a session: which of its timelines it is."""

    def variables_after(self, number: int) -> dict[str, SavedVariable]:
        """The variables as they stood after visit ``number``; 0 is before the first."""
        writers = {name: visit for visit in self.visits[:number] for name in visit.saved}
        return {name: SavedVariable(name, visit.saved[name], visit.number) for name, visit in writers.items()}

    def is_item_list(self, value: Any, name: str = "") -> bool:
        return self.count > 0 and is_list(value) and len(value) == self.count and name not in self.whole

    def of_item(self, value: Any, item: int, name: str = "") -> Any:
        """One item's part of a value; a value that is no item list is everybody's."""
        return value[item] if self.is_item_list(value, name) else value


def is_list(value: Any) -> bool:
    """Whether a value is a list, in memory or in a large file."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def whole(value: Any) -> Any:
    """A value that is all in memory: a list in a large file is read."""
    return list(value) if is_list(value) else value


def is_unset(value: Any) -> bool:
    """Whether an entry is one that no step gave."""
    return isinstance(value, str) and value == UNSET_TEXT


def counted(visits: Sequence[SavedVisit], named: str | None = None) -> tuple[str | None, int]:
    """The list that sets the number of items, and the number, as a run takes it.

    That is the one that the pipeline names, else ``q_ls``, else the first list that was written.
    """
    first: tuple[str, int] | None = None
    for visit in visits:
        for name, value in visit.saved.items():
            if name == (named or "q_ls") and is_list(value):
                return name, len(value)
            if first is None and is_list(value):
                first = (name, len(value))
    return first or (None, 0)
