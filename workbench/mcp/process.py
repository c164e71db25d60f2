"""A server's process as the rest sees it, the plain way to start one, and how one is ended."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031  # Linux
_TERMINATE_SECONDS = 0.7
_KILL_SECONDS = 5.0


class ServerProcess(Protocol):
    """A process in a session of its own, and our ends of its three pipes."""

    @property
    def pid(self) -> int: ...

    @property
    def pipes(self) -> Pipes: ...

    def signal(self, number: int) -> None:
        """Send a signal to the process and all that it started. Nothing happens once it has ended."""

    async def wait(self) -> int:
        """The exit code once it has ended; ``-n`` if signal n ended it. Any number of callers may wait."""


class Pipes(Struct, frozen=True):
    """Our ends of a server's standard streams, as file descriptors."""

    stdin: int
    stdout: int
    stderr: int


class PipePairs:
    """Three new pipes; the server's ends are closed on leaving, ours too if the block fails."""

    def __enter__(self) -> PipePairs:
        self.theirs: list[int] = []
        ours: list[int] = []
        for name in ("stdin", "stdout", "stderr"):
            read, write = os.pipe()
            mine, other = (write, read) if name == "stdin" else (read, write)
            with contextlib.suppress(OSError):
                fcntl.fcntl(read, _F_SETPIPE_SZ, PIPE_BYTES)
            ours.append(mine)
            self.theirs.append(other)
        self.ours = Pipes(*ours)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for fd in self.theirs:
            os.close(fd)
        if kind is not None:
            for fd in (self.ours.stdin, self.ours.stdout, self.ours.stderr):
                os.close(fd)


class Guard:
    """Ends the servers that were started plainly when this process dies, however it dies.

    A small shell reads the numbers of their process groups from a pipe and, at its end, kills those left.
    """

    _SCRIPT = (
        'left=" "; while read -r verb group; do case $verb in '
        'add) left="$left$group " ;; '
        'drop) left="${left%% $group *} ${left#* $group }" ;; '
        "esac; done; for group in $left; do kill -s KILL -- -$group; done"
    )

    def __init__(self) -> None:
        self._shell: subprocess.Popen[bytes] | None = None

    def add(self, group: int) -> None:
        """Watch over a process group."""
        if self._shell is None:
            self._shell = subprocess.Popen(
                ["/bin/sh", "-c", self._SCRIPT],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                bufsize=0,
            )
        self._tell(f"add {group}\n")

    def drop(self, group: int) -> None:
        """Its leader has ended and the rest of it was killed."""
        self._tell(f"drop {group}\n")

    def close(self) -> None:
        """End the guard itself; what it still watched is killed."""
        shell, self._shell = self._shell, None
        if shell is not None and shell.stdin is not None:
            shell.stdin.close()
            shell.wait()

    def _tell(self, line: str) -> None:
        shell = self._shell
        if shell is not None and shell.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                shell.stdin.write(line.encode())


class PlainProcess:
    """A server started by ``exec``."""

    def __init__(self, child: subprocess.Popen[bytes], pipes: Pipes, guard: Guard) -> None:
        self._child = child
        self._pipes = pipes
        self._guard = guard
        self._loop = asyncio.get_running_loop()
        self._exit: asyncio.Future[int] = self._loop.create_future()
        # A thread and not the loop's child watcher: that needs the main thread or a pidfd.
        threading.Thread(target=self._reap, name=f"wait for {child.pid}", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def pipes(self) -> Pipes:
        return self._pipes

    def signal(self, number: int) -> None:
        if self._child.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, number)

    async def wait(self) -> int:
        return await asyncio.shield(self._exit)

    def _reap(self) -> None:
        code = self._child.wait()
        # A group that still has members keeps its number from being used again.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)
        self._guard.drop(self._child.pid)
        with contextlib.suppress(RuntimeError):  # the loop was closed before
            self._loop.call_soon_threadsafe(self._ended, code)

    def _ended(self, code: int) -> None:
        if not self._exit.done():
            self._exit.set_result(code)


def start_plainly(command: Sequence[str], folder: Path, env: Mapping[str, str], guard: Guard) -> PlainProcess:
    """Start a command. Raises ``OSError`` if there is no such command or folder."""
    with PipePairs() as pipes:
        stdin, stdout, stderr = pipes.theirs
        child = subprocess.Popen(
            list(command),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=folder,
            env=dict(env),
            start_new_session=True,
        )
    guard.add(child.pid)
    return PlainProcess(child, pipes.ours, guard)


async def end(process: ServerProcess, grace: float) -> int:
    """End a process whose stdin is closed: wait ``grace`` seconds, then ask its group, then kill it."""
    steps = ((None, grace), (signal.SIGTERM, _TERMINATE_SECONDS), (signal.SIGKILL, _KILL_SECONDS))
    for number, seconds in steps:
        if number is not None:
            process.signal(number)
        with contextlib.suppress(TimeoutError):
            return await asyncio.wait_for(process.wait(), seconds)
    return -signal.SIGKILL
