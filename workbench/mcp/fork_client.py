"""Our side of the forking parent: start it, ask it for servers, hear of their ends."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.mcp.process import PipePairs, Pipes

_SCRIPT = Path(__file__).with_name("forkserver.py")


def can_fork() -> bool:
    """Forked servers are for Linux, which can end a child with its parent."""
    return sys.platform == "linux"


class ForkServerGone(Exception):
    """The forking parent has died, or could not fork. A plain start is the way out."""


class ForkedProcess:
    """A server that is a child of the forking parent."""

    def __init__(self, pid: int, pipes: Pipes, parent: ForkServer, ended: asyncio.Future[int]) -> None:
        self._pid = pid
        self._pipes = pipes
        self._parent = parent
        self._exit = ended

    @property
    def pid(self) -> int:
        return self._pid

    @property
    def pipes(self) -> Pipes:
        return self._pipes

    def signal(self, number: int) -> None:
        if not self._exit.done():
            self._parent.signal(self._pid, number)

    async def wait(self) -> int:
        return await asyncio.shield(self._exit)


class ForkServer:
    """The forking parent. Jobs may be sent while it still imports: the socket keeps them."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Start it, on the running loop. Raises ``OSError``."""
        self._loop = asyncio.get_running_loop()
        self._numbers = itertools.count(1)
        self._jobs: dict[int, asyncio.Future[tuple[int, asyncio.Future[int]]]] = {}
        self._exits: dict[int, asyncio.Future[int]] = {}
        self.alive = True
        self._imports = True
        self._sock, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(_SCRIPT), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env=dict(env),
            )
        self._sock.setblocking(False)
        self._loop.add_reader(self._sock.fileno(), self._readable)

    async def spawn(
        self, script: Path, arguments: Sequence[str], folder: Path, env: Mapping[str, str]
    ) -> ForkedProcess:
        """A new process that runs ``script``. Raises ``ForkServerGone``."""
        number = next(self._numbers)
        job = {
            "id": number,
            "script": str(script),
            "argv": list(arguments),
            "cwd": str(folder),
            "env": dict(env),
        }
        answer = self._jobs[number] = self._loop.create_future()
        with PipePairs() as pipes:
            try:
                socket.send_fds(self._sock, [json.dumps(job).encode()], pipes.theirs)
                pid, ended = await answer
            except OSError as error:
                raise ForkServerGone(str(error)) from error
            finally:
                self._jobs.pop(number, None)
        return ForkedProcess(pid, pipes.ours, self, ended)

    def signal(self, pid: int, number: int) -> None:
        """Signal the group of one child."""
        with contextlib.suppress(OSError):
            self._sock.send(json.dumps({"pid": pid, "signal": int(number)}).encode())

    def close(self) -> None:
        """End it; children that are left are killed."""
        self._lost()
        if self._imports:  # it has no children yet, and would not look at the socket before it is through
            self._process.kill()
        self._process.wait()

    def _readable(self) -> None:
        try:
            data = self._sock.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._hear(json.loads(data))
        else:
            self.close()

    def _hear(self, message: dict[str, Any]) -> None:
        if "ready" in message:
            self._imports = False
            return
        if "exit" in message:
            self._exits.pop(message["exit"]).set_result(message["code"])
            return
        answer = self._jobs.get(message.get("id", 0))
        if "error" in message and answer is not None:
            answer.set_exception(ForkServerGone(message["error"]))
        elif "id" in message and "pid" in message:
            pid = message["pid"]
            ended = self._exits[pid] = self._loop.create_future()
            if answer is None or answer.done():
                self.signal(pid, signal.SIGKILL)  # whoever wanted it was cancelled meanwhile
            else:
                answer.set_result((pid, ended))

    def _lost(self) -> None:
        """Without it no child lives on: they are tied to it by the kernel."""
        if not self.alive:
            return
        self.alive = False
        self._loop.remove_reader(self._sock.fileno())
        self._sock.close()
        for answer in self._jobs.values():
            if not answer.done():
                answer.set_exception(ForkServerGone("the forking parent has ended"))
        for ended in self._exits.values():
            ended.set_result(-signal.SIGKILL)
        self._exits.clear()
