"""``ragwb check``: every mistake that can be found without running, with line and column."""

from __future__ import annotations

import argparse

from workbench.cli.exits import Exit
from workbench.cli.named import found_pipeline
from workbench.cli.printing import print_json, print_text
from workbench.cli.report import say
from workbench.engine.values import count_of
from workbench.pipeline.prepare import Prepared, prepare
from workbench.pipeline.problems import PipelineError, Problem


def check(options: argparse.Namespace) -> int:
    prepared: Prepared | None = None
    try:
        file = found_pipeline(options.file)
        prepared = prepare(file, param_file=options.param, sets=options.sets, mcp_config=options.mcp_config)
        problems: tuple[Problem, ...] = prepared.warnings
    except PipelineError as error:
        problems = error.problems
    if options.json:
        print_json({"ok": prepared is not None, "problems": [_entry(p) for p in problems]}, indent=None)
    else:
        for problem in problems:
            say(str(problem))
        if prepared is not None:
            print_text(_summary(prepared))
    return Exit.WELL if prepared is not None else Exit.WRONG


def _summary(prepared: Prepared) -> str:
    count = sum(not step.is_implied for step in prepared.pipeline.tool_steps())
    unchecked = prepared.unchecked
    text = f"{prepared.pipeline.file}: {count_of(count, 'step')}, no mistake found"
    return text + (f"; not checked until they run: {', '.join(unchecked)}" if unchecked else "")


def _entry(problem: Problem) -> dict[str, object]:
    return {
        "file": str(problem.file),
        "line": problem.position.line if problem.position else None,
        "column": problem.position.column if problem.position else None,
        "message": problem.message,
        "severity": "warning" if problem.is_warning else "error",
    }
