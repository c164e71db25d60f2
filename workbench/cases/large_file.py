"""Memory files too large to be read whole: indexed once, front to back, and decoded where they are looked at.

Indexing keeps, for each value, where it begins and ends, and for each list where its entries begin: eight bytes an
entry. What has been indexed can be looked at while the rest is still to come.
"""

from __future__ import annotations

import mmap
import threading
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, overload

from workbench.cases.json_scan import CutShort, NotJson, Scanner
from workbench.cases.memory_json import WRAPPERS
from workbench.cases.saved_run import RunUnreadable, SavedRun, SavedVisit, counted

LARGE = 32_000_000
"""Bytes from which on a file is indexed instead of read whole."""
_LARGE_VALUE = 1_000_000
"""Bytes from which on a list is decoded entry by entry."""
_KEPT = 32
"""Smaller values that are kept decoded."""


class LazyList(Sequence[Any]):
    """A list in a large file. Entries are decoded when they are asked for, and not kept."""

    def __init__(self, scanner: Scanner, begins: Sequence[int], ends: Sequence[int]) -> None:
        self._scanner, self._begins, self._ends = scanner, begins, ends

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> LazyList: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return LazyList(self._scanner, self._begins[place], self._ends[place])
        return _decoded(self._scanner, self._begins[place], self._ends[place])

    def __len__(self) -> int:
        return len(self._begins)


class LazyMemory(Mapping[str, Any]):
    """What a visit of a large file wrote, by name without ``memory_``. Lists of 1 MB and more are ``LazyList``."""

    def __init__(self, scanner: Scanner, decoded: Callable[[int, int], Any]) -> None:
        self._scanner, self._decoded = scanner, decoded
        self._places: dict[str, tuple[int, int]] = {}
        self._entries: dict[str, tuple[array[int], array[int]]] = {}

    def __getitem__(self, name: str) -> Any:
        begin, end = self._places[name]
        if name in self._entries and end - begin >= _LARGE_VALUE:
            return LazyList(self._scanner, *self._entries[name])
        return self._decoded(begin, end)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def note(self, key: str, begin: int) -> int:
        """Remember where a value and the entries of a list are; gives its end."""
        name = key.removeprefix("memory_")
        if self._scanner.letter(begin) == b"[":
            begins, ends = array("Q"), array("Q")
            end = self._scanner.list_end(begin, partial(_note_entry, self._scanner, begins, ends))
            self._entries[name] = begins, ends
        else:
            end = self._scanner.value_end(begin)
        self._places[name] = begin, end
        return end


def _decoded(scanner: Scanner, begin: int, end: int) -> Any:
    """A value; where it is none, since indexing looks at brackets and quotes only, words that say so."""
    try:
        return scanner.decoded(begin, end)
    except NotJson as error:
        return f"<{error}>"


def _note_entry(scanner: Scanner, begins: array[int], ends: array[int], at: int) -> int:
    end = scanner.value_end(at)
    begins.append(at)
    ends.append(end)
    return end


class LargeFile:
    """A large memory file. ``start`` indexes it in the background; ``runs`` are there as far as it has come."""

    def __init__(self, file: Path) -> None:
        """Raises ``RunUnreadable``, where it can't be opened or is plainly no JSON."""
        self.file = file
        self.trouble: str | None = None
        """Why and where indexing ended before the end of the file."""
        try:
            with file.open("rb") as opened:
                self._bytes = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise RunUnreadable(f"{file}: can't be read: {error}") from None
        self.is_cut_short = False
        """Whether that was because the file ends too soon."""
        self.size = len(self._bytes)
        self.indexed = 0
        """How far it is indexed, in bytes."""
        self._scanner = Scanner(self._bytes, self._passed)
        self._decoded = lru_cache(maxsize=_KEPT)(partial(_decoded, self._scanner))
        self._visits: list[list[SavedVisit]] = []
        self._progress: Callable[[int, int], None] = lambda indexed, size: None
        self._released = 0
        self._begin = self._scanner.blank(3 if self._bytes[:3] == b"\xef\xbb\xbf" else 0)
        if self._scanner.letter(self._begin) not in (b"[", b"{"):
            raise RunUnreadable(f"{file}: no saved run: a memory file is a list of {{step, memory}}")

    @property
    def is_indexed(self) -> bool:
        return self.indexed == self.size

    @property
    def has_runs(self) -> bool:
        return bool(self._visits)

    def runs(self) -> list[SavedRun]:
        """The runs as far as they are indexed; a run that is still growing is given anew each time."""
        found = []
        for place, visits in enumerate(self._visits, 1):
            counted_by, count = counted(visits)
            run = SavedRun(self.file, tuple(visits), count, counted_by, trouble=self.trouble, place=place)
            found.append(run)
        return found

    def start(self, progress: Callable[[int, int], None] = lambda indexed, size: None) -> threading.Thread:
        """Index in a thread of its own. ``progress`` hears there of bytes indexed and bytes of the file."""
        thread = threading.Thread(target=self.index, args=(progress,), name=f"index {self.file.name}", daemon=True)
        thread.start()
        return thread

    def index(self, progress: Callable[[int, int], None] = lambda indexed, size: None) -> None:
        """Index to the end of the file, or to where it is cut short or no JSON: ``trouble`` says so then."""
        self._progress = progress
        at = self._begin
        try:
            while self._scanner.letter(at):
                at = self._scanner.blank(self._part(at, None))
        except CutShort:
            self.is_cut_short = True
            self.trouble = f"the file is cut short at byte {self.size:,}{self._after()}"
        except NotJson as error:
            self.trouble = f"{error}{self._after()}"
        self._passed(self.size)

    def _after(self) -> str:
        last = next((visits[-1] for visits in reversed(self._visits) if visits), None)
        if last is None:
            return ", before its first visit"
        return f", after visit {last.number} ({last.step}): what comes before it is shown"

    def _part(self, at: int, visits: list[SavedVisit] | None) -> int:
        """Index a list of visits, one visit of ``visits``, or what lists are wrapped in; gives its end."""
        match self._scanner.letter(at):
            case b"[":
                inner: list[SavedVisit] = []
                return self._scanner.list_end(at, lambda entry: self._part(entry, inner))
            case b"{":
                return self._map(at, visits)
            case _:
                return self._scanner.value_end(at)

    def _map(self, at: int, visits: list[SavedVisit] | None) -> int:
        step: list[str] = []
        memory = LazyMemory(self._scanner, self._decoded)

        def read(key: str, begin: int) -> int:
            if key == "step":
                end = self._scanner.value_end(begin)
                step.append(str(_decoded(self._scanner, begin, end)))
                return end
            if key == "memory" and self._scanner.letter(begin) == b"{":
                return self._scanner.map_end(begin, memory.note)
            if key in ("steps", "case", *WRAPPERS) and not step:
                return self._part(begin, None)
            return self._scanner.value_end(begin)

        end = self._scanner.map_end(at, read)
        if step and visits is not None:
            if not visits:
                self._visits.append(visits)
            visits.append(SavedVisit(len(visits) + 1, step[-1], memory))
        return end

    def _passed(self, at: int) -> None:
        """The pages that were indexed need not stay in memory; they are read again where they are looked at."""
        whole = at // mmap.PAGESIZE * mmap.PAGESIZE
        if hasattr(mmap, "MADV_DONTNEED") and whole > self._released:
            self._bytes.madvise(mmap.MADV_DONTNEED, self._released, whole - self._released)
            self._released = whole
        self.indexed = at
        self._progress(at, self.size)
