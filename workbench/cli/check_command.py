"""``ragwb check``: every mistake that can be found without running, with line and column."""

from __future__ import annotations

import argparse
import json

from workbench.cli.exits import Exit
from workbench.cli.report import say
from workbench.pipeline.prepare import Prepared, prepare
from workbench.pipeline.problems import PipelineError, Problem


def check(options: argparse.Namespace) -> int:
    prepared: Prepared | None = None
    try:
        prepared = prepare(options.file, param_file=options.param, sets=options.sets)
        problems: tuple[Problem, ...] = prepared.warnings
    except PipelineError as error:
        problems = error.problems
    if options.json:
        print(json.dumps({"ok": prepared is not None, "problems": [_entry(p) for p in problems]}, ensure_ascii=False))
    else:
        for problem in problems:
            say(str(problem))
        if prepared is not None:
            print(_summary(prepared))
    return Exit.WELL if prepared is not None else Exit.WRONG


def _summary(prepared: Prepared) -> str:
    steps = list(prepared.pipeline.tool_steps())
    unread = sorted(set(prepared.pipeline.used_aliases()) - set(prepared.declarations))
    text = f"{prepared.pipeline.file}: {len(steps)} steps, no mistake found"
    return text + (f"; not checked until they run: {', '.join(unread)}" if unread else "")


def _entry(problem: Problem) -> dict[str, object]:
    return {
        "file": str(problem.file),
        "line": problem.position.line if problem.position else None,
        "column": problem.position.column if problem.position else None,
        "message": problem.message,
        "severity": "warning" if problem.is_warning else "error",
    }
