"""The process that has imported FastMCP once and forks a child for each server:  ``python forkserver.py FD``.

It has one thread and never an event loop, so a fork copies nothing that could be locked.
FD is a SEQPACKET socket:

    in   {"id", "script", "argv", "cwd", "env"} with three file descriptors, or {"signal", "pid"}
    out  {"ready": pid}, {"id", "pid"}, {"id", "error"}, {"exit": pid, "code"}

When the other end closes the socket, however it died, every child and its group are killed.
Only the standard library is used here: this file runs as a script of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import gc
import importlib
import importlib.machinery
import io
import json
import logging
import os
import random
import select
import signal
import socket
import sys
import threading
import types
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_FIRST_FREE_FD = 10
_libc = ctypes.CDLL(None, use_errno=True)  # loaded before any fork


def preload() -> None:
    """Import what every server needs, and what its first call would import. Imported only, never run."""
    gc.disable()
    for name in (Path(__file__).with_name("warm_modules.txt")).read_text().split():
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # the collector must not touch, and so copy, the shared pages
    gc.enable()


class Parent:
    """Takes jobs from the socket, forks, and reports exits."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.pid = os.getpid()
        self.children: set[int] = set()
        self.wake_read, self.wake_write = os.pipe()
        for fd in (self.wake_read, self.wake_write):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(self.wake_write)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)

    def serve(self) -> str:
        """Never returns in the parent. In a child, returns the script to run: nothing of us on its stack."""
        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        poll.register(self.wake_read, select.POLLIN)
        while True:
            for fd, _ in poll.poll():
                if fd == self.wake_read:
                    self._reap()
                    continue
                script = self._take_job()
                if script is not None:
                    return script

    def _take_job(self) -> str | None:
        try:
            data, fds, _, _ = socket.recv_fds(self.sock, 1 << 20, 3)
        except OSError:
            data, fds = b"", []
        if not data:
            self._end()
        job = json.loads(data)
        if "signal" in job:
            self._signal(job["pid"], job["signal"])
            return None
        return self._fork(job, fds)

    def _fork(self, job: dict[str, Any], fds: list[int]) -> str | None:
        try:
            pid = os.fork()
        except OSError as error:
            self._send({"id": job["id"], "error": f"fork: {error.strerror}"})
            pid = -1
        if pid == 0:
            return self._become(job, fds)
        for fd in fds:
            os.close(fd)
        if pid > 0:
            self.children.add(pid)
            self._send({"id": job["id"], "pid": pid})
        return None

    def _become(self, job: dict[str, Any], fds: list[int]) -> str:
        try:
            become_server(job, fds, self.pid, [self.sock.detach(), self.wake_read, self.wake_write])
        except BaseException as error:
            os.write(2, f"cannot start {job['script']}: {error}\n".encode())
            os._exit(127)
        return str(job["script"])

    def _signal(self, pid: int, number: int) -> None:
        if pid in self.children:
            with contextlib.suppress(OSError):
                os.killpg(pid, number)

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self.wake_read, 4096)
        while self.children:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None:
                return
            self._signal(ended.si_pid, signal.SIGKILL)  # what it started and left; the zombie keeps the number
            _, status = os.waitpid(ended.si_pid, 0)
            self.children.discard(ended.si_pid)
            self._send({"exit": ended.si_pid, "code": os.waitstatus_to_exitcode(status)})

    def _send(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self.sock.send(json.dumps(message).encode())

    def _end(self) -> None:
        for pid in self.children:
            self._signal(pid, signal.SIGKILL)
        os._exit(0)


def become_server(job: dict[str, Any], fds: list[int], parent: int, inherited: list[int]) -> None:
    """In the fork: turn into an ordinary ``python script`` in a session of its own."""
    os.setsid()
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died between the fork and the prctl
        os._exit(1)
    _reset_signals()
    _connect_streams(fds, inherited)
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["env"])
    _renew_streams()
    random.seed()
    sys.argv = [job["script"], *job["argv"]]
    sys.path.insert(0, str(Path(job["script"]).resolve().parent))


def _reset_signals() -> None:
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _connect_streams(fds: list[int], inherited: list[int]) -> None:
    for fd in inherited:
        os.close(fd)
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, _FIRST_FREE_FD) for fd in fds]  # one of them may be 0, 1 or 2 itself
    for fd in fds:
        os.close(fd)
    for number, fd in enumerate(high):
        os.dup2(fd, number)
        os.close(fd)


def _renew_streams() -> None:
    """New standard streams, also for the log handlers that were made with the old ones."""
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(  # type: ignore[misc]
        io.BufferedReader(io.FileIO(0, "r", closefd=False)), encoding="utf-8", errors="surrogateescape"
    )
    sys.stdout = sys.__stdout__ = _writer(1, "surrogateescape")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _writer(2, "backslashreplace")  # type: ignore[misc]
    loggers = [
        logging.root,
        *(x for x in logging.root.manager.loggerDict.values() if isinstance(x, logging.Logger)),
    ]
    for handler in (handler for logger in loggers for handler in logger.handlers):
        if isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler):
            handler.stream = sys.stderr


def _writer(fd: int, errors: str) -> io.TextIOWrapper:
    raw = io.BufferedWriter(io.FileIO(fd, "w", closefd=False))
    return io.TextIOWrapper(raw, encoding="utf-8", errors=errors, line_buffering=True, write_through=True)


def run_script(path: str) -> None:
    """Run a file as ``__main__``, then end the process as an interpreter does, without the freeing."""
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    code = _run(path, module)
    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code & 0xFF)


def _run(path: str, module: types.ModuleType) -> int:
    try:
        source = Path(path).read_bytes()
    except OSError as error:
        print(f"can't open {path}: {error.strerror}", file=sys.stderr)
        return 2
    try:
        exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
    except SystemExit as leave:
        return _exit_code(leave)
    except BaseException as error:
        return _report(error)
    return 0


def _exit_code(leave: SystemExit) -> int:
    """As Python takes the argument of ``sys.exit``."""
    if leave.code is None or isinstance(leave.code, int):
        return leave.code or 0
    print(leave.code, file=sys.stderr)
    return 1


def _report(error: BaseException) -> int:
    """The traceback as Python prints it, without our own frame."""
    trace = error.__traceback__.tb_next if error.__traceback__ else None
    sys.excepthook(type(error), error.with_traceback(trace), trace)
    return 1


def main() -> str:
    """Serve; returns only in a child, with the script to run."""
    sys.path.pop(0)  # the folder of this script, which is no place to import from
    sock = socket.socket(fileno=int(sys.argv[1]))
    sock.set_inheritable(False)
    preload()
    sock.send(json.dumps({"ready": os.getpid()}).encode())
    return Parent(sock).serve()


if __name__ == "__main__":
    run_script(main())
