"""Opens saved runs for a command, and says what is wrong with what it was given."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path

from workbench.cases.notes import Note, Notes, NotesUnreadable
from workbench.cases.opening import OpenedRun, open_runs
from workbench.cases.roles import RoleError, read_role
from workbench.cases.saved_run import RunUnreadable
from workbench.cases.study import Study
from workbench.cases.table import TableError
from workbench.cli.report import say, say_problems
from workbench.pipeline.problems import PipelineError


class WrongUse(Exception):
    """The command can't do what it was asked; ``str()`` has been said, or is to be said, to the user."""


def opened_runs(file: Path, pipeline: Path | None) -> list[OpenedRun]:
    """The runs of a file. Raises ``WrongUse``, when the reason was said."""
    try:
        return open_runs(file, pipeline)
    except RunUnreadable as error:
        raise WrongUse(str(error)) from None
    except PipelineError as error:
        say_problems(error)
        raise WrongUse("") from None


def study_of(opened: OpenedRun, options: argparse.Namespace) -> Study:
    """Raises ``WrongUse``."""
    try:
        study = Study(opened, dict(map(read_role, options.roles)), options.metric)
    except (RoleError, TableError) as error:
        raise WrongUse(str(error)) from None
    known = {*study.evaluated, "em", "f1"}
    if options.metric is not None and options.metric not in known:
        raise WrongUse(f"--metric {options.metric}: the run has no such score; it has {', '.join(sorted(known))}")
    return study


def read_items(text: str | None, count: int) -> list[int] | None:
    """``3,7`` as numbers; None where no items were asked for. Raises ``WrongUse``."""
    if text is None:
        return None
    numbers = [part.strip() for part in text.split(",")]
    wrong = [part for part in numbers if not part.isdigit() or int(part) >= count]
    if wrong:
        last = f"0 to {count - 1}" if count else "none: the run has no items"
        raise WrongUse(f"--items {text}: {wrong[0]!r} is no item of the run; its items are {last}")
    return [int(part) for part in numbers]


def notes_of(opened: OpenedRun) -> Mapping[int, Note]:
    """Marks and notes that lie beside the run; what can't be read of them is said."""
    try:
        return Notes(opened.run).by_item
    except NotesUnreadable as error:
        say(f"note: {error}")
        return {}


def say_notes(notes: Iterable[str]) -> None:
    for note in notes:
        say(f"note: {note}")
