"""Other programs on the same terminal: a pager to read in, an editor to write in. The app stands back meanwhile."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from workbench.tui.text import visible


class NoProgram(Exception):
    """The program can't be run; ``str()`` says why and what to do."""


def show_in_pager(app: App[Any], text: str) -> None:
    """Read a text in ``$PAGER``. Nothing in it reaches the terminal as a control sequence."""
    with _file_of(visible(text), ".txt") as file:
        _run(app, [*_program("PAGER", "less", "more"), str(file)])


def written_in_editor(app: App[Any], text: str, suffix: str) -> str:
    """The text as it is after ``$EDITOR`` has ended."""
    with _file_of(text, suffix) as file:
        _run(app, [*_editor(), str(file)])
        try:
            return file.read_text(encoding="utf-8").removesuffix("\n" if not text.endswith("\n") else "")
        except (OSError, UnicodeDecodeError) as error:
            raise NoProgram(f"what the editor left can't be read: {error}") from None


def open_in_editor(app: App[Any], file: Path, line: int) -> None:
    """A file of the user's own, at a line where the editor can be told."""
    command = _editor()
    goes_to_lines = Path(command[0]).name in ("vi", "vim", "nvim", "nano", "emacs", "micro", "kak", "joe")
    _run(app, [*command, *([f"+{line}"] if goes_to_lines else []), str(file)])


def _editor() -> list[str]:
    return _program("VISUAL", *([os.environ["EDITOR"]] if os.environ.get("EDITOR") else []), "nano", "vi")


def _program(variable: str, *others: str) -> list[str]:
    """The command that a variable of the environment names, or the first of the others that is there."""
    for named in (os.environ.get(variable, ""), *others):
        try:
            command = shlex.split(named)
        except ValueError as error:
            raise NoProgram(f"${variable} is no command: {error}") from None
        if command and shutil.which(command[0]):
            return command
    raise NoProgram(f"there is no program for it: set ${'EDITOR' if variable == 'VISUAL' else variable}")


@contextmanager
def _file_of(text: str, suffix: str) -> Iterator[Path]:
    """A file that only its user can read, and that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="ragwb-") as folder:
        file = Path(folder, f"value{suffix}")
        file.write_bytes(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode())
        yield file


def _run(app: App[Any], command: Sequence[str]) -> None:
    failure: OSError | None = None
    try:
        with app.suspend(), _keys_are_the_programs():
            try:
                subprocess.run(command, check=False)
            except OSError as error:  # inside: what leaves `suspend` leaves the screen suspended
                failure = error
    except SuspendNotSupported:
        raise NoProgram("another program can't be run on this terminal") from None
    if failure is not None:
        raise NoProgram(f"{command[0]} can't be run: {failure}")


@contextmanager
def _keys_are_the_programs() -> Iterator[None]:
    """Ctrl+C in the program is the program's: a handler is not inherited, being ignored would be."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
