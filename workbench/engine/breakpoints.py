"""Breakpoints and watches: where a run stops, on what condition, how often, and what it prints instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.engine.cursor import Items
from workbench.engine.expressions import ExpressionError, check_expression, check_template, holding_item
from workbench.engine.pool import VariablePool
from workbench.pipeline.outline import Outline, every_step, moved, moved_place

When = Literal["before", "after"]
WatchKind = Literal["written", "changes", "empty", "true"]
_HIT_COUNT = re.compile(r"\s*(>=|==|%)?\s*(\d+)\s*")


class Breakpoint(Struct, frozen=True):
    """A stop before or after a step.

    ``step`` is a step path (``4.2``), a block's path (``4.continue``: when that branch is taken; ``4``: the loop or
    branch itself), or a pattern of names (``retriever.*``). ``hit_count`` is ``>= 3``, ``== 2`` or ``% 5`` and
    counts how often the rest held; ``item`` must be among the items that the step handles. With ``log``, a Jinja2
    template, the run goes on and prints it. ``held`` counts how often it held, ``hits`` how often it stopped.
    """

    step: str
    condition: str | None = None
    is_enabled: bool = True
    hits: int = 0
    when: When = "before"
    hit_count: str | None = None
    round: int | None = None
    item: int | None = None
    log: str | None = None
    held: int = 0
    is_kept: bool = True
    """Whether it stays with the pipeline; one of the command line is of this session."""

    @property
    def key(self) -> str:
        return self.step if self.when == "before" else f"{self.step} after"

    def check(self) -> None:
        """Raises ``ExpressionError`` where its condition, hit count or template can't be read, or it never holds."""
        if self.round == 0:
            raise ExpressionError("the rounds of a loop are counted from 1: there is no round 0")
        if self.condition is not None:
            check_expression(self.condition)
        if self.log is not None:
            check_template(self.log)
        if self.hit_count is not None and (not _HIT_COUNT.fullmatch(self.hit_count) or self._hit_limit() == 0):
            raise ExpressionError(f"a hit count is like `>= 3`, `== 2` or `% 5`, not `{self.hit_count}`")

    def matches(self, path: str, name: str) -> bool:
        return self.step == path or fnmatchcase(name, self.step)

    def reason(self, pool: VariablePool, items: Items | None, context: Mapping[str, Any]) -> str | None:
        """Why it holds here, or None. A condition that can't be evaluated holds, and says why."""
        if not self.is_enabled or (self.round is not None and self.round != context.get("round")):
            return None
        if self.item is not None:
            if items is not None and self.item not in items:
                return None
            items = (self.item,)
        if self.condition is None:
            return "breakpoint"
        try:
            item = holding_item(self.condition, pool, items, context)
        except ExpressionError as error:
            return f"breakpoint: {error}"
        return f"breakpoint: {self.condition}" if item is not None else None

    def is_due(self) -> bool:
        """Whether its hit count lets it stop now, ``held`` times after all."""
        if self.hit_count is None:
            return True
        operator = (_HIT_COUNT.fullmatch(self.hit_count) or [None, ">="])[1] or ">="
        limit = self._hit_limit()
        return {">=": self.held >= limit, "==": self.held == limit, "%": self.held % limit == 0}[operator]

    def _hit_limit(self) -> int:
        found = _HIT_COUNT.fullmatch(self.hit_count or "")
        return int(found[2]) if found is not None else 0


class Watch(Struct, frozen=True):
    """A stop after the visit that writes a variable, changes it or makes it empty, or makes an expression true."""

    kind: WatchKind
    text: str
    """The variable, or the expression."""
    is_enabled: bool = True
    hits: int = 0
    was_true: bool = False
    is_kept: bool = True

    def check(self) -> None:
        """Raises ``ExpressionError`` where its expression can't be read."""
        if self.kind == "true":
            check_expression(self.text)

    def reason(self, before: VariablePool, after: VariablePool, context: Mapping[str, Any]) -> str | None:
        """Why a visit that turned one pool into the other stops the run, or None."""
        if self.kind == "true":
            return f"watch: {self.text}" if self.is_true(after, context) and not self.was_true else None
        old, new = before.get(self.text), after.get(self.text)
        if new is None or new is old:
            return None
        if self.kind == "written":
            return f"watch: {self.text} was written"
        if self.kind == "changes":
            return f"watch: {self.text} changed" if old is None or old.value != new.value else None
        empty = _is_empty(new.value)
        if isinstance(new.value, list) and not empty:
            items = [n for n, entry in enumerate(new.value) if n not in new.unset and _is_empty(entry)]
            return f"watch: {self.text} is empty for [{items[0]}]" if items else None
        return f"watch: {self.text} is empty" if empty else None

    def is_true(self, pool: VariablePool, context: Mapping[str, Any]) -> bool:
        """Whether its expression holds; one that can't be evaluated yet does not."""
        try:
            return holding_item(self.text, pool, None, context) is not None
        except ExpressionError:
            return False


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | list | dict) and not value)


class KeptBreakpoints(Struct, frozen=True):
    """All that a user has set, as it is kept from one session to the next."""

    breakpoints: tuple[Breakpoint, ...] = ()
    watches: tuple[Watch, ...] = ()
    on_failure: bool = True

    def of_pipeline(self) -> KeptBreakpoints:
        """Those that stay with the pipeline after this session."""
        return KeptBreakpoints(
            tuple(b for b in self.breakpoints if b.is_kept),
            tuple(w for w in self.watches if w.is_kept),
            self.on_failure,
        )

    def moved(self, old: Outline, new: Outline) -> tuple[KeptBreakpoints, tuple[Breakpoint, ...]]:
        """They after an edit of the pipeline's file: each goes with its step; and those whose step is gone."""
        found = moved(old, new)
        paths = {step.path for step in every_step(old)}
        paths |= {step.block_path(block) for step in every_step(old) for block in step.blocks}
        places = {b.key: moved_place(b.step, old, found) if b.step in paths else b.step for b in self.breakpoints}
        there = [replace(b, step=place) for b in self.breakpoints if (place := places[b.key]) is not None]
        gone = tuple(b for b in self.breakpoints if places[b.key] is None)
        return replace(self, breakpoints=tuple(there)), gone


class Breakpoints:
    """The breakpoints and watches of one session.

    Replaced as a whole on every change, so that readers on other threads never wait. ``by_step`` holds those before
    a step under its path, others under their ``key``.
    """

    def __init__(self) -> None:
        self.by_step: Mapping[str, Breakpoint] = {}
        self.watches: tuple[Watch, ...] = ()
        self.on_failure = True
        """Whether a failed step stops the run, to be mended and tried again; without, it ends the run as failed."""
        self.is_on = True
        """Whether any of them stops the run now."""
        self.changed: Callable[[], None] = lambda: None
        """Called after every change but a hit."""

    def set(self, step: str, condition: str | None = None) -> None:
        """Set a breakpoint before a step, or change the condition of one. Raises ``ExpressionError``."""
        known = self.by_step.get(step, Breakpoint(step))
        self.add(replace(known, condition=condition, is_enabled=True))

    def add(self, breakpoint_: Breakpoint) -> None:
        """Add one, in the place of another with the same key. Raises ``ExpressionError`` where it can't be read."""
        breakpoint_.check()
        self._put(breakpoint_)
        self.changed()

    def stop_on_failure(self, is_on: bool) -> None:
        self.on_failure = is_on
        self.changed()

    def remove(self, key: str) -> None:
        self.by_step = {path: found for path, found in self.by_step.items() if path != key}
        self.changed()

    def enable(self, key: str, is_enabled: bool) -> None:
        if key in self.by_step:
            self._put(replace(self.by_step[key], is_enabled=is_enabled))
            self.changed()

    def at(self, path: str, name: str, when: When) -> Iterator[Breakpoint]:
        """Those that a step's path or name meets."""
        known = self.by_step.values() if self.is_on else ()
        return (found for found in known if found.when == when and found.matches(path, name))

    def shown_at(self, path: str, name: str) -> Breakpoint | None:
        """The breakpoint to show at a step: one of its own first, else one by a pattern of names."""
        found = [b for b in self.by_step.values() if b.matches(path, name)]
        return min(found, key=lambda b: (b.step != path, b.when != "before"), default=None)

    def put_back(self, kept: KeptBreakpoints) -> None:
        """Take over those of an earlier session, with their counts at zero."""
        self.by_step = {b.key: replace(b, hits=0, held=0) for b in kept.breakpoints}
        self.watches = tuple(replace(watch, hits=0, was_true=False) for watch in kept.watches)
        self.on_failure = kept.on_failure
        self.changed()

    def start_over(self) -> None:
        """Count from the beginning again."""
        self.by_step = {key: replace(b, held=0) for key, b in self.by_step.items()}
        self.watches = tuple(replace(watch, was_true=False) for watch in self.watches)

    def move(self, old: Outline, new: Outline) -> tuple[Breakpoint, ...]:
        """Go with the steps of an edited pipeline; returns those whose steps are gone."""
        kept, gone = self.kept().moved(old, new)
        self.by_step = {b.key: b for b in kept.breakpoints}
        self.changed()
        return gone

    def kept(self) -> KeptBreakpoints:
        return KeptBreakpoints(tuple(self.by_step.values()), self.watches, self.on_failure)

    def held(self, breakpoint_: Breakpoint) -> Breakpoint:
        """Count that it held once more."""
        return self._put(replace(breakpoint_, held=breakpoint_.held + 1))

    def hit(self, breakpoint_: Breakpoint) -> None:
        """Count that it stopped the run."""
        self._put(replace(breakpoint_, hits=breakpoint_.hits + 1))

    def watch(self, watch: Watch) -> None:
        """Add a watch. Raises ``ExpressionError`` for an expression that can't be read."""
        watch.check()
        self.watches = (
            *(known for known in self.watches if (known.kind, known.text) != (watch.kind, watch.text)),
            watch,
        )
        self.changed()

    def enable_watch(self, watch: Watch, is_enabled: bool) -> None:
        changed = replace(watch, is_enabled=is_enabled)
        self.watches = tuple(changed if known == watch else known for known in self.watches)
        self.changed()

    def unwatch(self, kind: str, text: str) -> None:
        self.watches = tuple(watch for watch in self.watches if (watch.kind, watch.text) != (kind, text))
        self.changed()

    def watched(self, before: VariablePool, after: VariablePool, context: Mapping[str, Any]) -> str | None:
        """Why a visit stops the run by a watch, or None; expressions remember whether they were true."""
        reasons = []
        seen = []
        for watch in self.watches:
            why = watch.reason(before, after, context) if watch.is_enabled and self.is_on else None
            reasons += [why] if why is not None else []
            is_true = watch.kind == "true" and watch.is_true(after, context)
            seen.append(replace(watch, hits=watch.hits + (why is not None), was_true=is_true))
        self.watches = tuple(seen)
        return reasons[0] if reasons else None

    def _put(self, breakpoint_: Breakpoint) -> Breakpoint:
        self.by_step = {**self.by_step, breakpoint_.key: breakpoint_}
        return breakpoint_
