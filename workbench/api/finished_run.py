"""A run that is over, to be looked at: what its visits and its variables were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from workbench.engine.debugger import Debugger
from workbench.engine.events import Event, Stopped
from workbench.engine.preview import preview
from workbench.engine.values import UNSET, count_of, shape
from workbench.engine.visible import visible
from workbench.engine.visit import Visit
from workbench.pipeline.problems import nearest
from workbench.record.memory_file import plain


class StepFailed(Exception):
    """A run did not come to its end; ``str()`` says at which step, and why."""


class Item(Struct, frozen=True):
    """One question of a run. ``values`` has its entry of each item list, where that is set."""

    number: int
    values: Mapping[str, Any]


class Run:
    """What a run left. Values are as in the memory file: messages are their text, what is not set is ``<UNSET>``."""

    def __init__(self, debugger: Debugger, stop: Stopped, events: Sequence[Event]) -> None:
        self.debugger = debugger
        self.stop = stop
        self.events = tuple(events)

    @property
    def error(self) -> str | None:
        """Why it did not come to its end, safe to print; None where it did."""
        if self.stop.reason == "finished":
            return None
        return visible(f"step {self.stop.step} {self.stop.name}: {self.stop.why}")

    @property
    def memory(self) -> str | None:
        """The path of its memory file."""
        return self.debugger.state.memory

    def raise_for_failure(self) -> None:
        """Raises ``StepFailed`` where it did not come to its end."""
        if self.error is not None:
            raise StepFailed(self.error)

    def variable(self, name: str) -> Any:
        """The last value of a variable. Raises ``LookupError`` with the names there are."""
        __tracebackhide__ = True  # pytest shows the test's own line then
        variable = self.debugger.state.pool.get(name)
        if variable is None:
            names = visible(nearest(name, self._names(), noun="variables"))
            raise LookupError(f"the run wrote no variable {name}{names}")
        return plain(variable.value)

    def visits(self, step: str = "*") -> list[Visit]:
        """The visits of a step (``4.2``), of a name (``retriever.search``) or of a pattern (``retriever.*``)."""
        return [v for v in self.debugger.visits if v.step == step or fnmatchcase(v.name, step)]

    @property
    def items(self) -> list[Item]:
        """The items of the run."""
        pool = self.debugger.state.pool
        lists = {variable.name: variable.value for variable in pool if pool.is_item_list(variable)}
        return [
            Item(number, {name: plain(v[number]) for name, v in lists.items() if v[number] is not UNSET})
            for number in range(pool.count or 0)
        ]

    def assert_finished(self) -> None:
        """Fails, with what the run did, where it did not come to its end."""
        __tracebackhide__ = True  # pytest shows the test's own line then
        assert self.error is None, f"{self.error}\n{self}"

    def assert_visited(self, step: str, *, times: int | None = None) -> list[Visit]:
        """Fails, with what the run did, where a step was not visited (so many times); returns its visits."""
        __tracebackhide__ = True  # pytest shows the test's own line then
        found = self.visits(step)
        if times is None:
            assert found, f"{step} was not visited\n{self}"
        else:
            count = count_of(len(found), "time")
            assert len(found) == times, f"{step} was visited {count}, not {times}\n{self}"
        return found

    def __str__(self) -> str:
        """The visits with what each wrote, in few characters, safe to print."""
        lines = [f"{self.debugger.prepared.pipeline.file}: {self.stop.why}"]
        for visit in self.debugger.visits:
            rounds = f"  round {'.'.join(map(str, visit.round))}" if visit.round else ""
            lines.append(f"{visit.number:>4}  {visit.step}  {visit.name}{rounds}")
            for name, variable in visit.saved.items():
                value = variable.value
                lines.append(f"        {name}  {shape(value)}  {preview(value, 80)}")
        return visible("\n".join(lines))

    def _names(self) -> list[str]:
        return [variable.name for variable in self.debugger.state.pool]
