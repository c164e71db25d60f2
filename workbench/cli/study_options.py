"""The options of the commands that study saved runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_study_commands(commands: Any) -> None:
    """Add ``why``, ``check-items``, ``diff`` and ``export`` to the sub-parsers of the command."""
    why = commands.add_parser("why", help="for each item of a saved run: right or wrong, and the step at fault")
    _add_run(why)
    why.add_argument("--json", action="store_true", help="print items and verdicts as one JSON object")
    _add_items(why)
    why.add_argument("--where", metavar="EXPRESSION", help="only these items: `f1 < 0.5 and rounds > 1`")
    why.add_argument("--sort", metavar="COLUMN", help="order by a column: `f1`; `--sort=-f1` for the largest first")
    checking = commands.add_parser(
        "check-items", help="whether every prompt of a saved run holds its own item's texts and nobody else's"
    )
    _add_run(checking)
    checking.add_argument("--json", action="store_true", help="print what was checked and the faults as JSON")
    diff = commands.add_parser("diff", help="two runs side by side: where they part, what got better and worse")
    diff.add_argument("first", type=Path, metavar="A", help="a memory file or a session file")
    diff.add_argument("second", type=Path, metavar="B", nargs="?", help="another; of one session: see --timelines")
    diff.add_argument("--timelines", metavar="N,M", help="two timelines of the session A")
    _add_reading(diff)
    _add_items(diff)
    diff.add_argument("--seed", type=int, default=0, metavar="N", help="of the permutation test (default: 0)")
    diff.add_argument("--json", action="store_true", help="print the comparison as one JSON object")
    export = commands.add_parser("export", help="a run as a web page, as Markdown or JSON; one step as a test")
    _add_run(export)
    kind = export.add_mutually_exclusive_group(required=True)
    kind.add_argument("--html", type=Path, metavar="OUT", help="write a page that needs nothing besides itself")
    kind.add_argument("--markdown", nargs="?", const="-", metavar="OUT", help="for an issue; without OUT to stdout")
    kind.add_argument("--json", nargs="?", const="-", metavar="OUT", help="everything, for machines")
    kind.add_argument("--test", type=int, metavar="VISIT", help="print a pytest file that calls a visit's tool again")
    _add_items(export)


def add_live_options(replaying: argparse.ArgumentParser) -> None:
    """Add to ``replay`` how a run is read, and how it is gone on with."""
    _add_reading(replaying)
    replaying.add_argument(
        "--live", type=int, metavar="VISIT", help="run on from before this visit, in a new session; FILE is untouched"
    )
    replaying.add_argument(
        "--answers",
        choices=("run", "equal", "recorded"),
        help="after --live, each step that FILE has as well is run anew, answered from FILE where its inputs are "
        "equal, or answered from FILE (default: run)",
    )
    replaying.add_argument(
        "--answer", action="append", default=[], metavar="STEP=ANSWERS", help="the same for one step: `5.4=recorded`"
    )
    replaying.add_argument("--run", action="store_true", help="with --live: run to the end, without a screen")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a memory file, a session, or a folder: its newest")
    _add_reading(parser)


def _add_reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pipeline", type=Path, metavar="FILE", help="the run's pipeline (else found by its name)")
    parser.add_argument(
        "--role",
        dest="roles",
        action="append",
        default=[],
        metavar="ROLE=VARIABLE",
        help="which variable holds question, gold, prediction or passages: `prediction=final_ls`",
    )
    parser.add_argument(
        "--metric", metavar="NAME", help="items with 1 in it are right (default: em, or the run's first)"
    )


def _add_items(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--items", "--item", metavar="N,M", help="only these items, counted from 0")
