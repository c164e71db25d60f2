"""A pipeline starts programs. Whose are they, and may they run? Asked once, on the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.report import say
from workbench.engine.visible import one_line
from workbench.pipeline.prepare import Prepared
from workbench.pipeline.project import is_shipped

if TYPE_CHECKING:
    from workbench.cli.starts import Start

VARIABLE = "RAGWB_TRUST"


def may_start(prepared: Prepared, *, yes: bool = False) -> bool:
    """Whether the pipeline's programs may be started; the user is asked, or told what to do.

    Servers that ragwb ships need no question, nor does a program that was allowed before. ``yes`` allows all of them
    this time.
    """
    if yes or os.environ.get(VARIABLE) == "all" or all(map(is_shipped, prepared.used_sources().values())):
        return True
    from workbench.cli.trust_store import read_trust, write_trust

    trust = read_trust(prepared.project)
    starts = programs(prepared)
    objections = {start: why for start in starts if (why := trust.objection(start)) is not None}
    if not objections:
        return True
    if not _can_ask():
        say(_refusal(prepared, objections))
        return False
    say(_question(prepared, objections))
    answer = _answer()
    if answer not in ("y", "yes", "a", "always"):
        say("nothing was started")
        return False
    try:
        write_trust(prepared.project, trust.with_programs(objections, is_own=answer.startswith("a")))
    except OSError as error:
        say(f"this can't be remembered, and will be asked again: {error}")
    return True


def programs(prepared: Prepared) -> list[Start]:
    """The servers that the pipeline starts or reaches and that are not ragwb's own."""
    from workbench.cli.starts import starts_of

    return starts_of(prepared, [source for source in prepared.used_sources().values() if not is_shipped(source)])


def listed(starts: Mapping[Start, str | None]) -> str:
    """Servers, each with what is to be said of it, for someone to read."""
    lines = []
    for start, remark in starts.items():
        lines.append(f"  {start.alias}: {start.kind}" + (f" ({remark})" if remark else ""))
        lines.append(f"    {'command' if start.program else 'address'}  {start.words}")
        if start.program:
            lines.append(f"    folder   {start.folder}")
        if start.gives:
            lines.append(f"    gets     {one_line(', '.join(start.gives))}")
        if start.from_environment:
            lines.append(f"    with     {', '.join(start.from_environment)} of your environment")
        if start.from_project:
            lines.append(f"    with     {', '.join(start.from_project)} of the project's .env")
    return "\n".join(lines)


def _can_ask() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _question(prepared: Prepared, objections: Mapping[Start, str]) -> str:
    return (
        f"{prepared.pipeline.file} starts programs of {prepared.project}:\n\n{listed(objections)}\n\n"
        "They run as you and can do what you can. Allow them if you know where this folder comes from.\n"
        "  y  yes; ask again when their code changes\n"
        "  a  always: I write these servers myself; ask again only for other commands\n"
        "  n  no (or just Enter)"
    )


def _answer() -> str:
    print("Start them? ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower()


def _refusal(prepared: Prepared, objections: Mapping[Start, str]) -> str:
    file = prepared.pipeline.file
    return (
        f"{file} starts programs of {prepared.project} that nobody has allowed yet:\n{listed(objections)}\n"
        f"Nothing was started. If you know where they come from: ragwb trust {_word(file)}, once and for all; "
        f"or the option --yes, for this time; or {VARIABLE}=all in the environment, where nobody can be asked."
    )


def _word(file: Path) -> str:
    import shlex

    return shlex.quote(str(file))
