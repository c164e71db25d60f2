"""The ``ragwb`` command: which command is meant, and what its exit code says."""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench import __version__
from workbench.cli.asked_question import AskedQuestion
from workbench.cli.exits import Exit
from workbench.cli.serve_command import add_serve_command, serve
from workbench.cli.study_options import add_live_options, add_study_commands

STUDIES = ("why", "check-items", "diff", "export")
"""Commands that study saved runs."""
COMMANDS = (
    "run",
    "build",
    "check",
    "replay",
    "resume",
    "new",
    "doctor",
    "trust",
    "serve",
    "completion",
    "why",
    "check-items",
    "diff",
    "export",
    "open",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code (see ``Exit``). A user's mistake never shows a traceback."""
    _open_closed_streams()
    options = _parse(list(sys.argv[1:] if arguments is None else arguments))
    try:
        return int(_dispatch(options))
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # The reader of our output is gone: nothing is left to say, and nothing may be flushed at exit.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.INTERRUPTED
    except OSError as error:
        with contextlib.suppress(OSError):
            print(f"ragwb: {error}", file=sys.stderr)
        return Exit.FAILED
    except Exception as error:
        return _unexpected(error)


def _open_closed_streams() -> None:
    """A stream that was closed when the command began (``2>&-``) is none in Python: put one in its place."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _dispatch(options: argparse.Namespace) -> int:
    if options.command == "run":
        from workbench.cli.run_command import run

        return run(options)
    if options.command == "build":
        from workbench.cli.build_command import build

        return build(options)
    if options.command == "check":
        from workbench.cli.check_command import check

        return check(options)
    if options.command == "replay":
        from workbench.cli.replay_command import replay

        return replay(options)
    if options.command == "resume":
        from workbench.cli.resume_command import resume

        return resume(options)
    if options.command == "new":
        from workbench.cli.new_command import new

        return new(options)
    if options.command == "doctor":
        from workbench.cli.doctor_command import doctor

        return doctor(options)
    if options.command == "trust":
        from workbench.cli.trust_command import trust

        return trust(options)
    if options.command == "serve":
        serve(options)
    if options.command == "completion":
        from workbench.cli.completion_command import completion

        return completion(options, parser())
    if options.command in STUDIES:
        return _study(options)
    if options.command is None:
        from workbench.cli.overview_command import overview

        return overview()
    # Until the screen is there nothing is garbage: collecting would only put off the first picture.
    gc.disable()
    from workbench.cli.open_command import open_file

    return open_file(options)


def _study(options: argparse.Namespace) -> int:
    if options.command == "why":
        from workbench.cli.why_command import why

        return why(options)
    if options.command == "check-items":
        from workbench.cli.check_items_command import check_items_of

        return check_items_of(options)
    if options.command == "diff":
        from workbench.cli.diff_command import diff

        return diff(options)
    from workbench.cli.export_command import export

    return export(options)


def _parse(arguments: list[str]) -> argparse.Namespace:
    """``ragwb FILE`` is short for ``ragwb open FILE``."""
    first = next((argument for argument in arguments if not argument.startswith("-")), None)
    if first is not None and first not in COMMANDS:
        arguments = ["open", *arguments]
    return parser().parse_args(arguments)


def parser() -> argparse.ArgumentParser:
    """All commands with their options."""
    parser = argparse.ArgumentParser(
        prog="ragwb",
        description="A debugger for RAG pipelines. `ragwb FILE` opens a pipeline or a saved run on the screen; "
        "`ragwb` alone lists what is in this folder.",
        epilog="Exit codes: 0 well; 1 a step failed; 2 the command or the pipeline is wrong; "
        "3 a server could not be started; 4 stopped at a breakpoint or a watch; 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"ragwb {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    opening = commands.add_parser(
        "open", help="open a pipeline or a session in the debugger, or study a saved run (`ragwb FILE`)"
    )
    opening.add_argument(
        "files",
        type=Path,
        metavar="FILE",
        nargs="+",
        help="a pipeline (.yaml), a session (.ragwb) or a memory file (.json)",
    )
    _add_parameters(opening)
    _add_question(opening)
    _add_stops(opening)
    running = commands.add_parser("run", help="run a pipeline without a screen")
    running.add_argument("file", type=Path, metavar="PIPELINE")
    running.add_argument("--no-session", action="store_true", help="keep no session file; the run can't be resumed")
    _add_parameters(running)
    _add_question(running)
    _add_stops(running)
    _add_on_break(running)
    _add_printing(running)
    building = commands.add_parser("build", help="write server/<name>_server.yaml and parameter/<name>_parameter.yaml")
    building.add_argument("file", type=Path, metavar="PIPELINE")
    checking = commands.add_parser("check", help="report every mistake that can be found without running")
    checking.add_argument("file", type=Path, metavar="PIPELINE")
    _add_parameters(checking)
    checking.add_argument("--json", action="store_true", help="print the problems as JSON")
    resuming = commands.add_parser("resume", help="go on where a session stopped")
    resuming.add_argument("file", type=Path, metavar="SESSION", help="a session file (sessions/*.ragwb)")
    resuming.add_argument("--run", action="store_true", help="run to the end, without a screen")
    _add_stops(resuming)
    _add_on_break(resuming)
    _add_printing(resuming)
    replaying = commands.add_parser(
        "replay", help="study saved runs; two files side by side; go live from a visit of one"
    )
    replaying.add_argument(
        "files", type=Path, metavar="FILE", nargs="+", help="memory files, sessions, or folders of them"
    )
    add_live_options(replaying)
    _add_stops(replaying)
    _add_on_break(replaying)
    _add_printing(replaying)
    add_study_commands(commands)
    _add_project_commands(commands)
    for starting in (opening, running, building, resuming, replaying):
        starting.add_argument("--yes", action="store_true", help="start the pipeline's programs without being asked")
    return parser


def _add_project_commands(commands: Any) -> None:
    """Those that are about a project and this machine, and run nothing."""
    making = commands.add_parser("new", help="make a project folder to start from")
    making.add_argument("folder", type=Path, metavar="DIR")
    making.add_argument(
        "--template",
        choices=("rag", "server", "agent"),
        default="rag",
        help="rag: search, answer, score; server: the smallest server of one's own; agent: a loop in which the model "
        "decides what is next (default: rag)",
    )
    looking = commands.add_parser("doctor", help="what is installed, what is missing, and how to get it")
    looking.add_argument("file", type=Path, metavar="PIPELINE", nargs="?", help="also say what this pipeline starts")
    _add_mcp_config(looking)
    looking.add_argument("--config", action="store_true", help="explain every key of .ragwb.yaml and of the user's own")
    looking.add_argument("--json", action="store_true", help="print the findings as JSON")
    trusting = commands.add_parser("trust", help="allow the programs that a pipeline starts")
    trusting.add_argument("file", type=Path, metavar="PIPELINE")
    _add_mcp_config(trusting)
    way = trusting.add_mutually_exclusive_group()
    way.add_argument("--always", action="store_true", help="also when their code changes: you write it yourself")
    way.add_argument("--revoke", action="store_true", help="ask again about all programs of the project")
    add_serve_command(commands)
    completing = commands.add_parser("completion", help="print a script that completes commands and options on Tab")
    completing.add_argument("shell", choices=("bash", "zsh", "fish"))


def _add_stops(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--break",
        dest="breaks",
        action="append",
        default=[],
        metavar="STEP[: CONDITION]",
        help="stop at a step: `4.2`, `line 12`, `retriever.*`; `4.2 after round 2 item 7 hits >=3: CONDITION` "
        "narrows it down, `=> TEMPLATE` prints and goes on; may be given more than once",
    )
    parser.add_argument(
        "--watch",
        dest="watches",
        action="append",
        default=[],
        metavar="VARIABLE changes",
        help="stop after the step that wrote (`ret_psg written`), changed or emptied a variable, or that made an "
        "expression true; may be given more than once",
    )


def _add_on_break(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--on-break",
        choices=("stop", "dump", "continue"),
        default="stop",
        help="without a screen, at a breakpoint or watch: stop there, print the step's inputs and the variables, and "
        "exit with 4; print them on stderr and go on; or only go on (default: stop)",
    )


def _add_printing(parser: argparse.ArgumentParser) -> None:
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--json", action="store_true", help="print the result as one JSON object")
    kind.add_argument("--events", action="store_true", help="print every event as a line of JSON, nothing else")
    parser.add_argument("--quiet", "-q", action="store_true", help="no progress on stderr")


def _add_parameters(parser: argparse.ArgumentParser) -> None:
    _add_mcp_config(parser)
    parser.add_argument("--param", metavar="FILE", help="a parameter file instead of parameter/<name>_parameter.yaml")
    parser.add_argument(
        "--set",
        dest="sets",
        action="append",
        default=[],
        metavar="SERVER.NAME=VALUE",
        help="one parameter; `--set a.b.c=1` reaches inside a map; may be given more than once",
    )


def _add_question(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--question",
        dest="sets",
        action=AskedQuestion,
        metavar="TEXT",
        help="ask this instead of the questions of the benchmark server's file; may be given more than once",
    )


def _add_mcp_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mcp-config",
        metavar="FILE",
        help="an MCP client's configuration, for servers that the pipeline names or uses without saying what they are",
    )


def _unexpected(error: Exception) -> int:
    """A fault of ragwb's own: one line for the user, the traceback into a file."""
    import logging

    from workbench.cli.log import log_file

    with contextlib.suppress(OSError):
        logging.basicConfig(filename=log_file(), level=logging.INFO, force=True)
        logging.getLogger("ragwb").exception("unexpected error")
    print(f"ragwb: unexpected error: {type(error).__name__}: {error}\nDetails are in {log_file()}", file=sys.stderr)
    return Exit.FAILED


if __name__ == "__main__":
    raise SystemExit(main())
