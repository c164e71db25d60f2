"""What a visit was given and gave, against an earlier one of its step; and what it changed in the variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from workbench.engine.looking import Change, Counterpart
from workbench.engine.pool import VariablePool
from workbench.engine.visit import Visit
from workbench.pipeline.model import FromParameter
from workbench.tui.diff_view import DiffLine, diff_lines, heading
from workbench.tui.differences import ABSENT, differences
from workbench.tui.lens import item_of_input, item_of_variable
from workbench.tui.rows import Part

Named = dict[str, tuple[str, Any]]
"""Key -> how it is shown, and its value."""


class VisitDiff(Struct, frozen=True):
    """All that is needed to make the lines, away from the screen's thread."""

    visit: Visit
    other: Counterpart | None
    changes: tuple[Change, ...]
    pool: VariablePool
    lens: int | None
    mask: Callable[[Any], Any]

    def note(self) -> str:
        """Which visits are compared."""
        if self.other is None:
            return f"visit {self.visit.number}: its step has not run before"
        which = f"visit {self.other.visit.number}"
        twin = (
            f", its twin in timeline {self.other.timeline}" if self.other.is_twin else ", the one before of this step"
        )
        return f"visit {self.visit.number} against {which}{twin}"

    def lines(self) -> list[DiffLine]:
        made: list[DiffLine] = []
        if self.other is not None:
            made += self._section("Inputs", self._inputs(self.other.visit), self._inputs(self.visit))
            made += self._section("Outputs", self._outputs(self.other.visit), self._outputs(self.visit))
        return [*made, *self._changed()]

    def _section(self, title: str, old: Named, new: Named) -> Iterator[DiffLine]:
        nothing = (ABSENT, ABSENT)
        found = [
            line
            for key in {**old, **new}
            for line in diff_lines(
                differences((new.get(key) or old[key])[0], old.get(key, nothing)[1], new.get(key, nothing)[1])
            )
        ]
        yield heading(title, "" if found else "the same")
        yield from found

    def _inputs(self, visit: Visit) -> Named:
        named: Named = {}
        for given in visit.bound.inputs if visit.bound is not None else ():
            assert visit.bound is not None
            value, is_item = item_of_input(given, visit.bound, self.lens)
            value = self.mask(value) if isinstance(given.source, FromParameter) else value
            named[given.argument] = (self._named(given.argument, is_item), value)
        return named

    def _outputs(self, visit: Visit) -> Named:
        named: Named = {}
        for name, variable in visit.saved.items():
            value, is_item = item_of_variable(self.pool, variable, self.lens)
            named[name] = (self._named(name, is_item), value)
        for name, value in {**visit.parameters, **visit.extra}.items():
            named[name] = (name, self.mask(value))
        return named

    def _named(self, name: str, is_item: bool) -> str:
        return f"{name}[{self.lens}]" if is_item else name

    def _changed(self) -> Iterator[DiffLine]:
        if not self.changes:
            yield heading("Changed by this visit", "nothing")
            return
        yield heading("Changed by this visit")
        for change in self.changes:
            name = f"{change.alias}.{change.name}" if change.alias else change.name
            before, after, is_item = self._of_lens(change)
            if change.is_new:
                yield DiffLine((Part(name, "present"), Part("  new: written for the first time", "dim")), 2)
                continue
            lines = diff_lines(differences(self._named(name, is_item), before, after))
            same = DiffLine((Part(name, "present"), Part("  written, with the value it had", "dim")), 2)
            yield from lines or [same]

    def _of_lens(self, change: Change) -> tuple[Any, Any, bool]:
        """Before and after; of an item list that of the pinned item alone."""
        mask = self.mask if change.alias is not None else lambda value: value
        lists = isinstance(change.before, list) and isinstance(change.after, list)
        count = self.pool.count
        is_item = self.lens is not None and change.alias is None and lists and len(change.after) == count
        if self.lens is None or not is_item or self.lens >= min(len(change.before), len(change.after)):
            return mask(change.before), mask(change.after), False
        return change.before[self.lens], change.after[self.lens], True
