"""``ragwb completion SHELL``: a script that completes commands, options and files on Tab."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from workbench.cli.exits import Exit
from workbench.cli.printing import print_text

_FIRST_WORD = {
    # `ragwb FILE` is short for `ragwb open FILE`: where no command matches, the shell's own way takes over.
    "bash": "complete -o bashdefault -o default -o filenames -F _shtab_ragwb ragwb",
    "zsh": (
        "functions -c _shtab_ragwb_commands _ragwb_command_names\n"
        "_shtab_ragwb_commands() { _alternative 'commands:command:_ragwb_command_names' 'files:file:_files' }"
    ),
    "fish": "complete -c ragwb -n '__fish_is_first_token' -F",
}


def completion(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """The script is made of the options that ``parser`` knows, so that it can't lag behind them."""
    import shtab

    for action in _actions(parser):
        if action.type is Path or action.metavar == "FILE":
            action.complete = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE  # type: ignore[attr-defined]
    print_text(f"{shtab.complete(parser, options.shell)}\n{_FIRST_WORD[options.shell]}")
    return Exit.WELL


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
