"""``ragwb replay FILE``: a saved run on the screen, or as JSON."""

from __future__ import annotations

import argparse

from workbench.cases.opening import open_runs
from workbench.cases.saved_run import RunUnreadable, SavedRun, whole
from workbench.cli.exits import Exit
from workbench.cli.printing import print_json
from workbench.cli.report import has_terminal, say


def replay(options: argparse.Namespace) -> int:
    try:
        runs = [opened.run for file in options.files for opened in open_runs(file)]
    except RunUnreadable as error:
        say(str(error))
        return Exit.WRONG
    if options.json:
        print_json([_summary(run) for run in runs])
        return Exit.WELL
    if not has_terminal():
        say(f"ragwb: the study of a run needs a terminal; without one: ragwb replay --json {options.files[0]}")
        return Exit.WRONG
    from workbench.cli.screen import open_replay

    return open_replay(runs)


def _summary(run: SavedRun) -> dict[str, object]:
    return {
        "file": str(run.file),
        "items": run.count,
        "visits": [{"visit": v.number, "step": v.step, "wrote": list(v.saved)} for v in run.visits],
        "variables": {
            variable.name: {"visit": variable.visit, "value": whole(variable.value)}
            for variable in run.variables_after(len(run.visits)).values()
        },
    }
