"""A pipeline starts programs. Whose are they, and may they run? Asked once, on the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from workbench.cli.report import say
from workbench.engine.visible import one_line
from workbench.pipeline.prepare import Prepared
from workbench.pipeline.project import is_shipped

if TYPE_CHECKING:
    from workbench.cli.starts import Start

VARIABLE = "RAGWB_TRUST"
FORGOTTEN = "this can't be remembered, and will be asked again"


class Strangers(Struct, frozen=True):
    """Programs of a pipeline that nobody has allowed yet, each with why it is asked about."""

    prepared: Prepared
    objections: Mapping[Start, str]

    @property
    def question(self) -> str:
        """Who they are, and what may be answered."""
        return (
            f"{self._what}:\n\n"
            f"{listed(self.objections)}\n\n"
            "They run as you and can do what you can. Allow them if you know where this folder comes from.\n"
            "  y  yes; ask again when their code changes\n"
            "  a  always: I write these servers myself; ask again only for other commands\n"
            "  n  no (or just Enter)"
        )

    @property
    def refusal(self) -> str:
        """The same, where nobody can be asked."""
        file = self.prepared.pipeline.file
        return (
            f"{self._what} that nobody has allowed yet:\n"
            f"{listed(self.objections)}\n"
            f"Nothing was started. If you know where they come from: ragwb trust {_word(file)}, until their code "
            f"changes (--always: also then); or the option --yes, for this time; or {VARIABLE}=all in the environment, "
            "where nobody can be asked."
        )

    @property
    def _what(self) -> str:
        file, project = one_line(str(self.prepared.pipeline.file)), one_line(str(self.prepared.project))
        return f"{file} starts programs of {project}"

    def allow(self, *, always: bool) -> None:
        """Remember that they may start as they are now; or, the user's own, ``always``. Raises ``OSError``."""
        from workbench.cli.trust_store import read_trust, write_trust

        project = self.prepared.project
        write_trust(project, read_trust(project).with_programs(self.objections, is_own=always))


def may_start(prepared: Prepared, *, yes: bool = False) -> bool:
    """Whether the pipeline's programs may be started; the user is asked, or told what to do. ``yes`` allows all."""
    found = None if yes else strangers(prepared)
    if found is None:
        return True
    if not _can_ask():
        say(found.refusal)
        return False
    say(found.question)
    answer = _answer()
    if answer not in ("y", "yes", "a", "always"):
        say("nothing was started")
        return False
    try:
        found.allow(always=answer.startswith("a"))
    except OSError as error:
        say(f"{FORGOTTEN}: {error}")
    return True


def strangers(prepared: Prepared) -> Strangers | None:
    """The programs of a pipeline that have to be asked about; None where it may start.

    Servers that ragwb ships need no question, nor does a program that was allowed before.
    """
    if os.environ.get(VARIABLE) == "all" or all(map(is_shipped, prepared.used_sources().values())):
        return None
    from workbench.cli.trust_store import read_trust

    trust = read_trust(prepared.project)
    objections = {start: why for start in programs(prepared) if (why := trust.objection(start)) is not None}
    return Strangers(prepared, objections) if objections else None


def programs(prepared: Prepared) -> list[Start]:
    """The servers that the pipeline starts or reaches and that are not ragwb's own."""
    from workbench.cli.starts import starts_of

    return starts_of(prepared, [source for source in prepared.used_sources().values() if not is_shipped(source)])


def listed(starts: Mapping[Start, str | None]) -> str:
    """Servers, each with what is to be said of it, for someone to read."""
    lines = []
    for start, remark in starts.items():
        lines.append(f"  {one_line(start.alias)}: {start.kind}" + (f" ({one_line(remark)})" if remark else ""))
        lines.append(f"    {'command' if start.program else 'address'}  {start.words}")
        if start.program:
            lines.append(f"    folder   {one_line(str(start.folder))}")
        if start.gives:
            lines.append(f"    gets     {one_line(', '.join(start.gives))}")
        if start.from_environment:
            lines.append(f"    with     {', '.join(start.from_environment)} of your environment")
        if start.from_project:
            lines.append(f"    with     {', '.join(start.from_project)} of the project's .env")
    return "\n".join(lines)


def _can_ask() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _answer() -> str:
    print("Start them? ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower()


def _word(file: Path) -> str:
    import shlex

    return shlex.quote(str(file))
