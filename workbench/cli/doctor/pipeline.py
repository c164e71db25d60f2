"""What a pipeline starts: each server's command, where it was found, what it gets, and whether it may."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from workbench.cli.doctor.findings import Finding
from workbench.cli.starts import OWN_PYTHON, Start, start_of
from workbench.cli.trust_store import Trust, read_trust
from workbench.pipeline.prepare import Prepared
from workbench.pipeline.project import ServerSource


def servers(prepared: Prepared) -> Iterator[Finding]:
    """A finding for each server that the pipeline uses, in the order of use."""
    group = f"servers of {prepared.pipeline.file}"
    trust = read_trust(prepared.project)
    for alias, source in prepared.used_sources().items():
        start = start_of(source)
        lacking = _lacking(start)
        yield Finding(
            group,
            alias,
            _whose(source, start),
            "wrong" if lacking else "ok",
            lacking,
            (
                ("command", start.words),
                ("folder", str(start.folder)),
                ("run by", start.python if start.is_python else "itself"),
                ("sets", ", ".join(start.environment) or "nothing"),
                ("gets", _passed(source)),
                ("defaults", str(source.parameter_file or "none")),
                ("trust", _trusted(start, trust)),
            ),
        )
    file = prepared.parameters.file
    there = "" if file is not None and file.is_file() else " (not there: the servers' own defaults count)"
    yield Finding(group, "parameters", f"{file}{there}")
    yield Finding(group, "project", str(prepared.project))


def _whose(source: ServerSource, start: Start) -> str:
    if start.is_shipped:
        return f"shipped by ragwb ({source.script})"
    return f"the project's own ({source.script})" if start.is_python else "a command"


def _lacking(start: Start) -> str:
    program = start.command[0]
    if shutil.which(program, path=None if os.sep in program else os.environ.get("PATH")) is not None:
        return ""
    return f"there is no program {program}; install it, or give its path"


def _passed(source: ServerSource) -> str:
    if source.passed_env is None:
        return "the whole environment"
    return ", ".join(("the basic environment", *source.passed_env))


def _trusted(start: Start, trust: Trust) -> str:
    if start.is_shipped and start.python == OWN_PYTHON:
        return "shipped by ragwb, not asked about"
    objection = trust.objection(start)
    return "allowed" if objection is None else f"asked about before it is started: {objection}"
