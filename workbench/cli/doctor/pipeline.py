"""What a pipeline starts: each server's command, where it was found, what it gets, and whether it may."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from workbench.cli.doctor.findings import Finding, State
from workbench.cli.starts import Start, starts_of
from workbench.cli.trust_store import Trust, read_trust
from workbench.pipeline.prepare import Prepared
from workbench.pipeline.project import ServerSource


def servers(prepared: Prepared) -> Iterator[Finding]:
    """A finding for each server that the pipeline uses, in the order of use."""
    group = f"servers of {prepared.pipeline.file}"
    trust = read_trust(prepared.project)
    sources = prepared.used_sources()
    for start in starts_of(prepared, sources.values()):
        source, lacking = sources[start.alias], _lacking(start)
        details = [("command" if start.program else "address", start.words), ("folder", str(start.folder))]
        if start.is_python:
            details.append(("defaults", str(source.parameter_file or "none")))
        if start.gives:
            details.append(("gets", ", ".join(start.gives)))
        if start.program:
            details.append(("environment", _passed(source)))
        details.append(("trust", _trusted(start, trust)))
        state: State = "wrong" if lacking else "ok"
        yield Finding(group, start.alias, _whose(source, start), state, lacking, tuple(details))
    file = prepared.parameters.file
    there = "" if file is not None and file.is_file() else " (not there: the servers' own defaults count)"
    yield Finding(group, "parameters", f"{file}{there}")
    yield Finding(group, "project", str(prepared.project))


def _whose(source: ServerSource, start: Start) -> str:
    if start.is_shipped:
        return f"shipped by ragwb ({source.script})"
    return f"the project's own: {start.kind}"


def _lacking(start: Start) -> str:
    program = start.program
    if not program or shutil.which(program, path=None if os.sep in program else os.environ.get("PATH")) is not None:
        return ""
    return f"there is no program {program}; install it, or give its path"


def _passed(source: ServerSource) -> str:
    if source.passed_env is None:
        return "all of it"
    return ", ".join(("the basic part", *source.passed_env))


def _trusted(start: Start, trust: Trust) -> str:
    if start.is_shipped:
        return "shipped by ragwb, not asked about"
    objection = trust.objection(start)
    return "allowed" if objection is None else f"asked about before it is started: {objection}"
