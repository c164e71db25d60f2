"""The command on a terminal: typed at, and read."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Typed:
    """A running command with a terminal for its input and its messages, and for its stdout if it has a screen."""

    def __init__(self, folder: Path, *arguments: str, screen: bool = False) -> None:
        self._end, other = pty.openpty()
        command = [sys.executable, "-m", "workbench.cli.main", *arguments]
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
        try:
            return os.read(self._end, 65536).decode("utf-8", "replace").replace("\r\n", "\n")
        except OSError:  # the other end is closed
            return ""


@contextmanager
def typed(folder: Path, *arguments: str, screen: bool = False) -> Iterator[Typed]:
    command = Typed(folder, *arguments, screen=screen)
    try:
        yield command
    finally:
        command.close()
