"""Breakpoints: where a run stops before a step, and on what condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.engine.cursor import Items
from workbench.engine.expressions import ExpressionError, check_expression, holds
from workbench.engine.pool import VariablePool


@dataclass(frozen=True)
class Breakpoint:
    """A stop before one step. ``hits`` counts how often it stopped the run."""

    step: str
    condition: str | None = None
    is_enabled: bool = True
    hits: int = 0

    def reason(self, pool: VariablePool, items: Items | None, context: Mapping[str, Any]) -> str | None:
        """Why to stop here, or None. A condition that can't be evaluated stops, and says why."""
        if not self.is_enabled:
            return None
        if self.condition is None:
            return "breakpoint"
        try:
            return f"breakpoint: {self.condition}" if holds(self.condition, pool, items, context) else None
        except ExpressionError as error:
            return f"breakpoint: {error}"


class Breakpoints:
    """The breakpoints of one session, by step path. Replaced as a whole on every change, so that readers never wait."""

    def __init__(self) -> None:
        self.by_step: Mapping[str, Breakpoint] = {}
        self.changed: Callable[[], None] = lambda: None
        """Called after every change but a hit."""

    def set(self, step: str, condition: str | None = None) -> None:
        """Set a breakpoint, or change the condition of one. Raises ``ExpressionError`` for a bad condition."""
        if condition is not None:
            check_expression(condition)
        known = self.by_step.get(step, Breakpoint(step))
        self._put(replace(known, condition=condition, is_enabled=True))
        self.changed()

    def remove(self, step: str) -> None:
        self.by_step = {path: found for path, found in self.by_step.items() if path != step}
        self.changed()

    def enable(self, step: str, is_enabled: bool) -> None:
        if step in self.by_step:
            self._put(replace(self.by_step[step], is_enabled=is_enabled))
            self.changed()

    def hit(self, step: str) -> None:
        found = self.by_step[step]
        self._put(replace(found, hits=found.hits + 1))

    def _put(self, breakpoint_: Breakpoint) -> None:
        self.by_step = {**self.by_step, breakpoint_.step: breakpoint_}
