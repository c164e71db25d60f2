"""Breakpoints and watches as a line of text: what ``--break`` and ``--watch`` take."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Any, get_args

from workbench.engine.breakpoints import Breakpoint, Watch, WatchKind
from workbench.engine.expressions import ExpressionError
from workbench.engine.program import Program
from workbench.engine.visible import one_line
from workbench.pipeline.model import ToolStep
from workbench.pipeline.problems import nearest

FORM = "STEP [after] [round N] [item N] [hits >=N|==N|%N][: CONDITION][=> TEMPLATE]"

_DIGITS = 9
"""No file has more lines than a number of so many digits says."""
_LINE = re.compile(
    r"""\s* (?P<where> line\s+\d+ | (?: "(?:[^"]|"")*" | [^\s:"] )+ )
        (?P<options> [^:=]*? (?: [><=]=? [^:=]*? )? ) \s*
        (?: : (?P<condition> (?: "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | (?!=>). )* ) )?
        (?: => (?P<log> .* ) )? \s*""",
    re.VERBOSE | re.DOTALL,
)
_OPTION = re.compile(
    r"(?P<when>after|before)|(?P<name>round|item)\s+(?P<number>\d{1,9})(?!\d)|hits\s+(?P<hits>(?:>=|==|%)?\s*\d{1,9})(?!\d)"
)


def read_breakpoint(text: str, program: Program) -> Breakpoint:
    """The breakpoint behind a line such as ``4.2 round 2: ret_psg[item] | length == 0``.

    The step is a path, a line of the file (``line 12``), a block (``4.continue``), or a name or pattern of names
    (``retriever.*``). Raises ``ExpressionError`` where it means no step or can't be read.
    """
    found = _LINE.fullmatch(text)
    if found is None:
        raise ExpressionError(f"`{text}` is no breakpoint; it is like: {FORM}")
    condition, log = ((found[part] or "").strip() or None for part in ("condition", "log"))
    result = Breakpoint(_step(found["where"], program), condition, log=log, **_options(found["options"], text))
    result.check()
    if result.when == "after" and not _is_tool(result.step, program):
        raise ExpressionError(f"{result.step} is a block: `after` is for a tool's step; use the step that follows")
    return result


def _is_tool(step: str, program: Program) -> bool:
    found = program.steps.get(step)
    return step not in program.blocks if found is None else isinstance(found, ToolStep)


def _options(text: str, whole: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    rest = text.strip()
    while rest:
        found = _OPTION.match(rest)
        if found is None:
            raise ExpressionError(f"`{rest}` in `{whole}` is not understood; a breakpoint is like: {FORM}")
        if found["when"]:
            options["when"] = found["when"]
        elif found["hits"]:
            options["hit_count"] = found["hits"]
        else:
            options[found["name"]] = int(found["number"])
        rest = rest[found.end() :].strip()
    return options


def _step(where: str, program: Program) -> str:
    line = re.fullmatch(r"line\s+(\d+)", where)
    if line is not None:
        number = line[1].lstrip("0")
        if not number:
            raise ExpressionError(f"{where}: the lines of a file are counted from 1")
        step = program.pipeline.step_at_line(int(number)) if len(number) <= _DIGITS else None
        if step is None:
            raise ExpressionError(f"there is no step at {one_line(where, 40)} or below it")
        return step.path
    if where in program.steps or where in program.blocks:
        return where
    named = [step for step in program.steps.values() if fnmatchcase(step.name, where)]
    if not named:
        known = {*program.steps, *(step.name for step in program.steps.values())}
        raise ExpressionError(f"{where}: there is no such step{nearest(where, known, noun='steps')}")
    return named[0].path if len(named) == 1 else where


def written_breakpoint(found: Breakpoint) -> str:
    """A breakpoint as the line it would be read from."""
    parts = [found.step] if found.when == "before" else [found.step, "after"]
    parts += [f"round {found.round}"] if found.round is not None else []
    parts += [f"item {found.item}"] if found.item is not None else []
    parts += [f"hits {found.hit_count}"] if found.hit_count is not None else []
    condition = f": {found.condition}" if found.condition is not None else ""
    log = f" => {found.log}" if found.log is not None else ""
    return " ".join(parts) + condition + log


def written_watch(found: Watch) -> str:
    """A watch as the line it would be read from."""
    return found.text if found.kind == "true" else f"{found.text} {found.kind}"


def read_watch(text: str) -> Watch:
    """The watch behind ``ret_psg written``, ``ret_psg changes``, ``ret_psg empty``, or an expression.

    Raises ``ExpressionError`` for an expression that can't be read.
    """
    words = text.split()
    for known in get_args(WatchKind):
        if len(words) == 2 and words[1] == known and known != "true" and words[0].isidentifier():
            return Watch(known, words[0])
    watch = Watch("true", text.strip())
    watch.check()
    return watch
