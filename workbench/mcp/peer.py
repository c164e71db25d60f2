"""The other end of a connection, as a ``Server`` sees it; here: a process that we start and end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Protocol

from workbench.mcp import failures
from workbench.mcp.launch import Launch, Launcher
from workbench.mcp.pipe_wire import PipeWire
from workbench.mcp.process import ServerProcess, end
from workbench.mcp.wire import Wire, WireListener


class Peer(Protocol):
    """A process of ours, or an address."""

    command: tuple[str, ...]
    """What starts it, or its address."""
    folder: str
    roots: list[dict[str, str]]
    """The folders it may know of."""
    start_timeout: float | None
    """Seconds for its start, where nothing else is configured."""

    @property
    def pid(self) -> int | None:
        """The number of its process, if it is one of ours and was started."""

    async def reach(self, listener: WireListener) -> Wire:
        """Start it, and give a wire to it that is not open yet. Raises ``OSError``."""

    async def exit_code(self, seconds: float | None = None) -> int | None:
        """The code of its process once that has ended; None if it does not in so many seconds."""

    async def end(self, grace: float) -> int | None:
        """End its process, after ``grace`` seconds not politely; returns its code."""

    def ending(self, code: int | None) -> str:
        """How it ended, where its wire did not say why."""

    def start_failed(self, alias: str, reason: str, stderr: Sequence[str]) -> str:
        """Why it could not be started or reached, for the user."""


class LocalPeer:
    """A process that is started for the connection and ends with it."""

    start_timeout: float | None = None

    def __init__(self, launch: Launch, launcher: Launcher) -> None:
        self.command = launch.command
        self.folder = str(launch.folder)
        self.roots = [{"uri": launch.folder.resolve().as_uri(), "name": launch.folder.name}]
        self._launch = launch
        self._launcher = launcher
        self._process: ServerProcess | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    async def reach(self, listener: WireListener) -> Wire:
        try:
            self._process = await self._launcher.start(self._launch)
        except FileNotFoundError as error:
            raise OSError(failures.not_found(self._launch)) from error
        return PipeWire(self._process.pipes, listener)

    async def exit_code(self, seconds: float | None = None) -> int | None:
        if self._process is None:
            return None
        with contextlib.suppress(TimeoutError):
            return await asyncio.wait_for(self._process.wait(), seconds)
        return None

    async def end(self, grace: float) -> int | None:
        return await end(self._process, grace) if self._process is not None else None

    def ending(self, code: int | None) -> str:
        return failures.ending(code)

    def start_failed(self, alias: str, reason: str, stderr: Sequence[str]) -> str:
        return failures.start_failed(alias, self._launch, reason, stderr)
