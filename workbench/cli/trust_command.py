"""``ragwb trust PIPELINE``: allow a pipeline's programs for good, or take that back."""

from __future__ import annotations

import argparse

from workbench.cli.exits import Exit
from workbench.cli.named import found_pipeline
from workbench.cli.printing import print_text
from workbench.cli.report import say_problems
from workbench.cli.trust import listed, programs
from workbench.cli.trust_store import forget_trust, read_trust, write_trust
from workbench.engine.visible import visible
from workbench.pipeline.prepare import prepare
from workbench.pipeline.problems import PipelineError
from workbench.pipeline.project import project_folder


def trust(options: argparse.Namespace) -> int:
    file = found_pipeline(options.file)
    if options.revoke:
        project = project_folder(file)
        had_any = forget_trust(project)
        print_text(f"{project}: " + ("its programs are asked about again" if had_any else "nothing of it was trusted"))
        return Exit.WELL
    try:
        prepared = prepare(file, mcp_config=options.mcp_config, checks=False)
    except PipelineError as error:
        say_problems(error)
        return Exit.WRONG
    starts = programs(prepared)
    if not starts and not options.always:
        print_text(f"{file}: starts only servers that ragwb ships; nothing to allow")
        return Exit.WELL
    write_trust(prepared.project, read_trust(prepared.project).with_programs(starts, is_own=options.always))
    changes = "also when their code changes" if options.always else "as they are now"
    print_text(
        visible(f"{prepared.project}: these programs may be started, {changes}\n{listed(dict.fromkeys(starts))}")
    )
    return Exit.WELL
