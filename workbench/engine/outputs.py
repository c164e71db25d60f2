"""Keeps what a step gave: each output becomes a new version of its variable, spread over the step's items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from workbench.engine.cursor import Items
from workbench.engine.edits import WRITTEN
from workbench.engine.inputs import BoundInputs, StepError
from workbench.engine.pool import Variable, VariablePool, unset_entries
from workbench.engine.ports import CallResult
from workbench.engine.program import Program
from workbench.engine.values import UNSET, Message, count_of
from workbench.engine.visit import Visit
from workbench.pipeline.binding import Binding, Output


class Saving(Struct):
    """The outputs of one visit on their way into the pool."""

    program: Program
    binding: Binding
    bound: BoundInputs
    is_in_branch: bool
    branch: str | None
    visit: Visit
    pool: VariablePool
    failures: Mapping[int, str] = field(default_factory=dict)
    """The items that failed; they are not among the items of ``bound``."""
    saved: dict[str, Variable] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.binding.step.name

    def save(self, values: Mapping[str, Any]) -> None:
        """Keep all declared outputs, in the order of the declaration.

        Raises ``StepError``; the pool is then of no use, and the one before still stands.
        """
        for output in self.binding.outputs:
            value = values[output.declared]
            if output.is_parameter:
                origin = f"{WRITTEN}{self.name}, visit {self.visit.number}"
                self.parameters[output.target] = value
                self.pool = self.pool.with_parameter(self.binding.step.alias, output.target, value, origin)
            else:
                self._keep(output, value)
        self.pool = self.pool.with_saved(*self.saved.values()).with_failed(self.failures)
        self.saved = {name: self.pool.variables[name] for name in self.saved}

    def _keep(self, output: Output, value: Any) -> None:
        if self.binding.is_router:
            variable = self._spread(output, value, self.bound.items or ())
        elif self.is_in_branch:
            variable = self._in_branch(output, value, self.bound.items or ())
        else:
            variable = self._at_root(output, value)
        self.saved[variable.name] = variable

    # ---- in a branch

    def _in_branch(self, output: Output, value: Any, items: Items) -> Variable:
        before = self.pool.get(output.target)
        if output.is_whole or not isinstance(value, list):
            if before is not None and self.pool.is_item_list(before):
                raise StepError(
                    f"{self.name} gave {output.target} one value ({_kind(value)}) in branch {self.branch}, "
                    "where it has one per item"
                )
            return self._whole(output, value)
        if len(value) != len(items):
            reason = (
                "" if self.bound.reads_items else f", and it read no item list: in a branch it must give {len(items)}"
            )
            raise StepError(
                f"{self.name} returned {count_of(len(value), 'value')} for {count_of(len(items), 'item')} "
                f"of branch {self.branch}: {output.target}{reason}"
            )
        return self._spread(output, value, items)

    # ---- at root

    def _at_root(self, output: Output, value: Any) -> Variable:
        if output.is_whole or not isinstance(value, list):
            self._refuse_to_lose_items(output, value)
            return self._whole(output, value)
        items = self.bound.items if self.bound.reads_items else None
        if items is not None and len(value) == len(items):
            return self._spread(output, value, items)
        self._count(output, value)
        if items is not None:
            self.warnings.append(
                f"{self.name} returned {count_of(len(value), 'value')} for {count_of(len(items), 'item')}: "
                f"{output.target} is a list of wrong length, not one value per item"
            )
            return self._whole(output, value, computed_for=len(items))
        if self.bound.wrong:
            return self._whole(output, value, computed_for=self.bound.wrong[0].computed_for)
        return self._whole(output, value)

    def _count(self, output: Output, value: list[Any]) -> None:
        """Set the number of items by the list that does so; it can't change in the middle of a run."""
        pool = self.pool
        if pool.count is None:
            if self.program.counts_items(output.target):
                self.pool = pool.with_count(len(value), output.target)
        elif output.target == pool.counted_by and len(value) != pool.count:
            raise StepError(
                f"{self.name} would change the number of items from {pool.count} to {len(value)}: "
                f"{output.target} sets it, once for the whole run"
            )

    def _refuse_to_lose_items(self, output: Output, value: Any) -> None:
        if output.target == self.pool.counted_by:
            raise StepError(f"{self.name} gave {output.target}, the list of items, one value ({_kind(value)})")

    # ---- both

    def _spread(self, output: Output, value: list[Any], items: Items) -> Variable:
        """The value's entries go to the items, in order; the others keep what they had."""
        count = self.pool.count or 0
        before = self.pool.get(output.target)
        if len(items) == count:
            return self._variable(output, value)
        entries = before.value if before is not None and self.pool.is_item_list(before) else [UNSET] * count
        entries = list(entries)
        for item, entry in zip(items, value, strict=True):
            entries[item] = entry
        for item in self.failures:
            entries[item] = UNSET
        return self._variable(output, entries, written=items, unset=unset_entries(entries))

    def _whole(self, output: Output, value: Any, computed_for: int | None = None) -> Variable:
        return self._variable(output, value, is_whole=output.is_whole, computed_for=computed_for)

    def _variable(self, output: Output, value: Any, **about: Any) -> Variable:
        return Variable(output.target, value, self.visit.number, follows_edit=self.visit.follows_edit, **about)


def outputs_of(binding: Binding, result: CallResult) -> tuple[dict[str, Any], dict[str, Any]]:
    """A call's result as ``(declared outputs, what came besides)``. Raises ``StepError`` where an output is missing."""
    name, declared = binding.step.name, [output.declared for output in binding.outputs]
    if binding.declaration.kind == "prompt":
        messages = [Message(message) for message in result.value]
        return dict.fromkeys(declared, messages), {}
    if binding.is_bare:
        return dict.fromkeys(declared, result.value), {}
    if not declared:
        return {}, dict(result.value) if isinstance(result.value, Mapping) else {}
    if not isinstance(result.value, Mapping):
        what = "" if result.is_structured else "the text "
        came = f"{what}{result.value!r:.80}" if result.value is not None else "nothing"
        raise StepError(f"{name} must return a map with {', '.join(declared)}; it returned {came}")
    lacking = [output for output in declared if output not in result.value]
    if lacking:
        came = ", ".join(map(str, result.value)) or "nothing"
        raise StepError(f"{name} did not return {', '.join(lacking)}; it returned {came}")
    return (
        {output: result.value[output] for output in declared},
        {key: value for key, value in result.value.items() if key not in declared},
    )


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return count_of(len(value), "value") + " in a list"
    names = {str: "a text", bool: "yes/no", int: "a number", float: "a number"}
    return "a map" if isinstance(value, Mapping) else names.get(type(value), type(value).__name__)
