"""The wire to a process of ours: its pipes on an event loop, whole lines in and out."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable
from typing import IO

from workbench.mcp.framing import LineSplitter, read_envelope
from workbench.mcp.process import PIPE_BYTES, Pipes
from workbench.mcp.wire import Outgoing, WireListener


class PipeWire:
    """Reads stdout and stderr, writes stdin. Open it once, close it once."""

    def __init__(self, pipes: Pipes, listener: WireListener) -> None:
        self._pipes = pipes
        self._listener = listener
        self._writer = _Writer()
        self._out = LineSplitter()
        self._err = LineSplitter()
        self._transports: list[asyncio.BaseTransport] = []
        self._stdin: asyncio.WriteTransport | None = None
        self._stdout_ended = asyncio.Event()
        self._stderr_ended = asyncio.Event()

    async def open(self) -> None:
        """Begin to read and write. Takes over the three descriptors."""
        loop = asyncio.get_running_loop()
        stdout, stderr = _Reader(self._stdout, self._stdout_end), _Reader(self._stderr, self._stderr_end)
        self._stdin, _ = await loop.connect_write_pipe(lambda: self._writer, _file(self._pipes.stdin, "wb"))
        out, _ = await loop.connect_read_pipe(lambda: stdout, _file(self._pipes.stdout, "rb"))
        err, _ = await loop.connect_read_pipe(lambda: stderr, _file(self._pipes.stderr, "rb"))
        self._transports = [out, err]

    async def send(self, message: Outgoing) -> None:
        """Write one line; returns when the pipe takes more. Raises ``BrokenPipeError`` if nobody reads."""
        if self._stdin is None or self._writer.lost or self._stdin.is_closing():
            raise BrokenPipeError
        self._stdin.write(message.line + b"\n")
        await self._writer.writable.wait()

    def forget(self, number: int | str) -> None:
        """An answer that comes all the same is one line among others."""

    async def finish(self) -> None:
        """Close stdin: the polite way to ask the server to end; what it still says is read."""
        if self._stdin is not None:
            self._stdin.close()

    async def drain(self, seconds: float) -> None:
        """Wait until stdout and stderr of an ended server are read to their ends."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stdout_ended.wait()
                await self._stderr_ended.wait()

    async def close(self) -> None:
        """Let go of the pipes."""
        if self._stdin is not None and not self._writer.lost:
            self._stdin.abort()
        for transport in self._transports:
            transport.close()

    def _stdout(self, data: bytes) -> None:
        now = time.time()
        for line, started in self._out.feed(data, now):
            self._line(line, started, now)

    def _line(self, line: bytes, started: float, now: float) -> None:
        envelope = read_envelope(line)
        if envelope is None:
            self._listener.stray(line)
        else:
            self._listener.received(envelope, line, started, now)

    def _stdout_end(self) -> None:
        if rest := self._out.rest():
            self._listener.stray(rest)
        self._stdout_ended.set()
        self._listener.closed()

    def _stderr(self, data: bytes) -> None:
        # A progress bar ends its lines with a carriage return, and is to be seen while it moves.
        for line, _ in self._err.feed(data.replace(b"\r", b"\n"), 0.0):
            self._listener.complained(line)

    def _stderr_end(self) -> None:
        if rest := self._err.rest():
            self._listener.complained(rest)
        self._stderr_ended.set()


def _file(fd: int, mode: str) -> IO[bytes]:
    return os.fdopen(fd, mode, buffering=0)


class _Reader(asyncio.Protocol):
    def __init__(self, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_data = on_data
        self._on_end = on_end

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.max_size = PIPE_BYTES  # type: ignore[attr-defined]  # how much asyncio reads at a time

    def data_received(self, data: bytes) -> None:
        self._on_data(data)

    def connection_lost(self, _: Exception | None) -> None:
        self._on_end()


class _Writer(asyncio.BaseProtocol):
    def __init__(self) -> None:
        self.writable = asyncio.Event()
        self.writable.set()
        self.lost = False

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def connection_lost(self, _: Exception | None) -> None:
        self.lost = True
        self.writable.set()
