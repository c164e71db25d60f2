"""The variable pool: every named value at one moment. Nothing in it is ever changed in place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.engine.entries import Entries, kept_form
from workbench.engine.values import UNSET
from workbench.pipeline.parameters import ParameterValue


class Variable(Struct, frozen=True, eq=False, weakref=True):
    """One version of a variable.

    ``kept`` is its value, a long list in pieces that it shares with the version before. ``value`` of an item list has
    one entry per item, ``UNSET`` where no step gave one. ``written`` are the items that this save wrote (None: all, or
    a value that is not per item). ``earlier`` is the save before this one.
    """

    name: str
    kept: Any
    visit: int | None
    written: tuple[int, ...] | None = None
    is_whole: bool = False
    computed_for: int | None = None
    """Set on a list of wrong length: the number of items that it was computed for. It is no item list."""
    is_edited: bool = False
    follows_edit: bool = False
    """Whether its step read something that was edited by hand, or that came of an edit."""
    earlier: Variable | None = None
    unset: frozenset[int] = frozenset()

    @property
    def value(self) -> Any:
        """The value; a long list is put together anew each time."""
        return self.kept.to_list() if isinstance(self.kept, Entries) else self.kept

    @property
    def length(self) -> int | None:
        """The number of entries of a list; None for any other value."""
        return len(self.kept) if isinstance(self.kept, list | Entries) else None

    @property
    def is_wrong_length(self) -> bool:
        return self.computed_for is not None

    def saves(self) -> list[Variable]:
        """All saves of this variable, oldest first: its memory list."""
        chain: list[Variable] = []
        version: Variable | None = self
        while version is not None:
            chain.append(version)
            version = version.earlier
        return chain[::-1]


@lru_cache(maxsize=16)
def all_items(count: int) -> tuple[int, ...]:
    """The numbers of all items; the same tuple each time, since every visit holds one."""
    return tuple(range(count))


def unset_entries(value: list[Any] | Entries) -> frozenset[int]:
    return frozenset(n for n, entry in enumerate(value) if entry is UNSET)


class VariablePool(Struct, frozen=True):
    """All variables and parameters. ``count`` is the number of items, once the list that sets it was given."""

    variables: Mapping[str, Variable] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, ParameterValue]] = field(default_factory=dict)
    count: int | None = None
    counted_by: str | None = None
    failed: frozenset[int] = frozenset()
    """The items that failed in some step: they take no further part in the run."""

    def get(self, name: str) -> Variable | None:
        return self.variables.get(name)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.variables.values())

    def is_item_list(self, variable: Variable) -> bool:
        """Whether a variable has one entry per item, by its length and by what is known of it."""
        return (
            self.count is not None
            and variable.length == self.count
            and not variable.is_whole
            and not variable.is_wrong_length
        )

    def set_items(self, variable: Variable) -> tuple[int, ...]:
        """The items for which an item list is set."""
        numbers = all_items(variable.length or 0)
        return tuple(n for n in numbers if n not in variable.unset) if variable.unset else numbers

    def with_saved(self, *saved: Variable) -> VariablePool:
        """The pool after a step saved these; each becomes an entry of its memory list."""
        variables = dict(self.variables)
        for variable in saved:
            variables[variable.name] = _after(variables.get(variable.name), variable)
        return replace(self, variables=variables)

    def alive(self, items: tuple[int, ...]) -> tuple[int, ...]:
        """Those of these items that did not fail."""
        return tuple(item for item in items if item not in self.failed) if self.failed else items

    def with_edited(self, variable: Variable) -> VariablePool:
        """The pool after an edit by hand: it takes the place of the last save, also in the memory list.

        An item that failed takes part again when it is given a value.
        """
        before = self.variables.get(variable.name)
        kept = kept_form(variable.kept, before.kept if before else None)
        edited = replace(variable, kept=kept, is_edited=True, earlier=before.earlier if before else None)
        revived = (before.unset if before else frozenset()) - edited.unset
        return replace(self, variables={**self.variables, variable.name: edited}, failed=self.failed - revived)

    def with_failed(self, items: Iterable[int]) -> VariablePool:
        """The pool after a step in which these items failed."""
        return replace(self, failed=self.failed | frozenset(items))

    def with_parameter(self, alias: str, name: str, value: Any, origin: str) -> VariablePool:
        section = {**self.parameters.get(alias, {}), name: ParameterValue(value, origin)}
        return replace(self, parameters={**self.parameters, alias: section})

    def with_count(self, count: int, counted_by: str) -> VariablePool:
        return replace(self, count=count, counted_by=counted_by)


def _after(before: Variable | None, variable: Variable) -> Variable:
    """A new save of a variable, which shares what it can with the save before."""
    return replace(variable, kept=kept_form(variable.kept, before.kept if before else None), earlier=before)
