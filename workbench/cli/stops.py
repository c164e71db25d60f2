"""Breakpoints and watches of a command line; and what a run without a screen shows where one stops it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from workbench.engine.breakpoint_text import read_breakpoint, read_watch
from workbench.engine.breakpoints import Breakpoint, Watch
from workbench.engine.debugger import Debugger
from workbench.engine.events import Dumped, Stopped
from workbench.engine.expressions import ExpressionError
from workbench.engine.inputs import BoundInputs
from workbench.engine.preview import preview
from workbench.engine.program import Program
from workbench.engine.values import shape
from workbench.pipeline.prepare import Prepared
from workbench.pipeline.problems import nearest
from workbench.record.memory_file import plain
from workbench.record.redaction import Redactor

WAYS = ("stop", "dump", "continue")


def given_stops(options: argparse.Namespace, prepared: Prepared) -> tuple[list[Breakpoint], list[Watch]]:
    """The breakpoints and watches of ``--break`` and ``--watch``. Raises ``ExpressionError``."""
    program = Program.of(prepared.pipeline)
    breaks = [read_breakpoint(text, program) for text in options.breaks]
    watches = [read_watch(text) for text in options.watches]
    for watch in watches:
        _check_variable(watch, prepared)
    return breaks, watches


def _check_variable(watch: Watch, prepared: Prepared) -> None:
    """Raises ``ExpressionError`` where it is known that no step gives the variable."""
    if watch.kind == "true" or prepared.unchecked:
        return
    given = {output.target for binding in prepared.checked.bindings.values() for output in binding.outputs}
    if watch.text not in given:
        raise ExpressionError(f"--watch: no step gives `{watch.text}`{nearest(watch.text, given, noun='variables')}")


def what_is_there(debugger: Debugger, stop: Stopped) -> Dumped:
    """All that there is to see where a run stopped."""
    bound = debugger.inputs()
    return Dumped(
        why=stop.why,
        step=stop.step or "",
        name=stop.name or "",
        round=stop.round,
        branch=stop.branch,
        inputs=plain(bound.arguments()) if isinstance(bound, BoundInputs) else {},
        variables={variable.name: plain(variable.value) for variable in debugger.state.pool},
    )


def as_lines(dumped: Dumped, redactor: Redactor) -> str:
    """The same for someone to read: where and why, and a line for each value."""
    place = f"before {dumped.step} {dumped.name}" if dumped.step else "at the end"
    rounds = f", round {'.'.join(map(str, dumped.round))}" if dumped.round else ""
    branch = f", branch {' / '.join(dumped.branch)}" if dumped.branch else ""
    lines = [f"stopped {place}{rounds}{branch}: {dumped.why}"]
    lines += _section("inputs", redactor.value(dict(dumped.inputs)))
    lines += _section("variables", redactor.value(dict(dumped.variables)))
    return "\n".join(lines)


def _section(title: str, values: Mapping[str, Any]) -> list[str]:
    if not values:
        return []
    names, shapes = list(values), [shape(value) for value in values.values()]
    widths = max(map(len, names)), max(map(len, shapes))
    rows = zip(names, shapes, values.values(), strict=True)
    return [title, *(f"  {n:<{widths[0]}}  {s:<{widths[1]}}  {preview(value)}" for n, s, value in rows)]
