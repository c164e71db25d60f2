"""Programs on a terminal: typed at, and read."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

SECONDS = 30
"""How long a program may be silent."""


class Typed:
    """A running program with a terminal for its input and its messages, and for its stdout if it has a screen."""

    def __init__(self, folder: Path, command: Sequence[str], *, screen: bool) -> None:
        self._end, other = pty.openpty()
        out = other if screen else subprocess.PIPE
        self.process = subprocess.Popen(command, cwd=folder, stdin=other, stderr=other, stdout=out, text=True)
        os.close(other)
        self.seen = ""

    def until(self, text: str) -> str:
        """Read what it shows up to a text."""
        while text not in self.seen:
            self.seen += self._read() or f"\nended before {text!r}"
            assert "ended before" not in self.seen, self.seen
        return self.seen

    def type(self, text: str) -> None:
        os.write(self._end, text.encode())

    def rest(self) -> int:
        """Read to its end; its exit code."""
        while more := self._read():
            self.seen += more
        return self.process.wait(timeout=30)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        os.close(self._end)

    def _read(self) -> str:
        assert select.select([self._end], [], [], SECONDS)[0], f"nothing more was shown: {self.seen}"
        try:
            return os.read(self._end, 65536).decode("utf-8", "replace").replace("\r\n", "\n")
        except OSError:  # the other end is closed
            return ""


@contextmanager
def typed(folder: Path, *arguments: str, screen: bool = False) -> Iterator[Typed]:
    """The ``ragwb`` command, with these arguments."""
    with typed_at(folder, [sys.executable, "-m", "workbench.cli.main", *arguments], screen=screen) as command:
        yield command


@contextmanager
def typed_at(folder: Path, command: Sequence[str], *, screen: bool = True) -> Iterator[Typed]:
    """Any program."""
    running = Typed(folder, command, screen=screen)
    try:
        yield running
    finally:
        running.close()
