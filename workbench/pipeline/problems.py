"""Mistakes in a pipeline, each with its place; all that can be found are reported together."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct


class Position(Struct, frozen=True, order=True):
    """A place in a file; both count from 1."""

    line: int
    column: int


class Problem(Struct, frozen=True):
    """One mistake: what is wrong and what to do, and where."""

    file: Path
    position: Position | None
    message: str
    is_warning: bool = False
    is_note: bool = False
    """A warning of what is well and may still be worth knowing: told where a pipeline is checked, not where it runs."""

    def __str__(self) -> str:
        place = f"{self.file}"
        if self.position is not None:
            place += f":{self.position.line}:{self.position.column}"
        return f"{place}: {'warning: ' if self.is_warning else ''}{self.message}"


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems file by file, each in the order of its lines."""
    return tuple(sorted(problems, key=lambda p: (str(p.file), p.position or Position(0, 0))))


class PipelineError(Exception):
    """The pipeline can't be run as it is. ``problems`` holds every mistake found, in the order of the file."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = in_order(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """The names that a misspelt one may have meant, the likeliest first."""
    return difflib.get_close_matches(name, sorted(set(known)), n=3, cutoff=0.6)


def did_you_mean(names: Iterable[str]) -> str:
    return f"; did you mean {' or '.join(f'`{name}`' for name in names)}?"


def nearest(name: str, known: Iterable[str], *, noun: str = "known") -> str:
    """The names that a misspelt one may have meant, as the end of a message; else all there are, if few."""
    names = sorted(set(known))
    close = close_names(name, names)
    if close:
        return did_you_mean(close)
    if not names:
        return f"; there are no {noun}" if noun != "known" else ""
    shown = ", ".join(f"`{n}`" for n in names[:12]) + (", ..." if len(names) > 12 else "")
    return f"; {noun}: {shown}"
