"""``ragwb doctor``: what is installed, what is missing, and how to get it."""

from __future__ import annotations

import argparse
from itertools import chain
from pathlib import Path

from workbench.cli.doctor import settings
from workbench.cli.doctor.findings import Finding, all_well, as_json, as_text
from workbench.cli.doctor.packages import models, packages, parts
from workbench.cli.doctor.surroundings import folders, loopback, terminal
from workbench.cli.exits import Exit
from workbench.cli.named import found_pipeline
from workbench.cli.printing import print_json, print_text
from workbench.cli.report import say, say_problems
from workbench.pipeline.config import load_config
from workbench.pipeline.prepare import prepare
from workbench.pipeline.problems import PipelineError
from workbench.pipeline.project import project_folder


def doctor(options: argparse.Namespace) -> int:
    file = found_pipeline(options.file) if options.file is not None else None
    if options.config:
        return _settings(project_folder(file or Path("here")), as_data=options.json)
    findings = list(chain(packages(), parts(), models(), terminal(), loopback(), folders()))
    is_readable = file is None or _add_servers(file, options.mcp_config, findings)
    if options.json:
        print_json(as_json(findings))
    else:
        print_text(as_text(findings))
    return Exit.WELL if is_readable and all_well(findings) else Exit.WRONG


def _add_servers(file: Path, mcp_config: str | None, findings: list[Finding]) -> bool:
    """Add what the pipeline starts; False, and its mistakes said, where it can't be read."""
    from workbench.cli.doctor.pipeline import servers

    try:
        findings += servers(prepare(file, mcp_config=mcp_config))
    except PipelineError as error:
        say_problems(error)
        return False
    return True


def _settings(project: Path, *, as_data: bool) -> int:
    config, problems = load_config(project)
    if config.keys:
        from workbench.tui.keymap import read_keymap

        problems += read_keymap(config.keys)[1]
    for problem in problems:
        say(str(problem))
    if as_data:
        print_json(settings.as_json(project, config))
    else:
        print_text(settings.as_text(project, config))
    return Exit.WRONG if any(not problem.is_warning for problem in problems) else Exit.WELL
