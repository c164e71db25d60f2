"""Servers that stay up from one run to the next, for tests: starting them takes longer than most runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from workbench.api.wiring import server_hub
from workbench.engine.events import Emit, Event
from workbench.engine.ports import Call, CallResult
from workbench.pipeline.config import Configuration
from workbench.pipeline.declaration import ServerDeclaration
from workbench.pipeline.fingerprint import code_files
from workbench.pipeline.prepare import Prepared
from workbench.pipeline.project import ServerSource

if TYPE_CHECKING:
    from workbench.mcp.hub import ServerHub

IDLE_MOST = 4
"""How many sets of servers are kept that nobody uses."""


class _Key(Struct, frozen=True):
    """All that servers depend on: runs for which it is equal may have the same ones."""

    sources: Mapping[str, ServerSource]
    code: Mapping[str, Mapping[str, str]]
    config: Configuration
    environment: Mapping[str, str]
    folder: Path

    @classmethod
    def of(cls, prepared: Prepared) -> _Key:
        sources = prepared.used_sources()
        code = {alias: code_files(source) for alias, source in sources.items()}
        environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
        return cls(sources, code, prepared.config, environment, Path.cwd())


class _Set:
    """The servers of a pipeline, and who hears of them now."""

    def __init__(self, prepared: Prepared, env: Mapping[str, str]) -> None:
        self.key = _Key.of(prepared)
        self.emit: Emit = _nobody
        self.hub: ServerHub = server_hub(prepared, self._tell, env)

    def _tell(self, event: Event) -> None:
        self.emit(event)


class ServerPool:
    """Lends the servers of a pipeline to one run at a time. Use it on one event loop.

    A run gets servers that another one has given back, if they are of the same files, configuration and environment.
    ``env`` is added to what they get of the environment.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = dict(env)
        self._idle: list[_Set] = []

    def lent(self, prepared: Prepared) -> Callable[[Emit], LentServers]:
        """What makes the tools of one run."""
        return lambda emit: LentServers(self._taken(prepared), emit, self._give_back)

    async def close(self) -> None:
        """Stop all servers that are not lent."""
        while self._idle:
            await self._idle.pop().hub.close()

    def _taken(self, prepared: Prepared) -> _Set:
        key = _Key.of(prepared)
        found = next((servers for servers in self._idle if servers.key == key), None)
        if found is None:
            return _Set(prepared, self._env)
        self._idle.remove(found)
        return found

    async def _give_back(self, servers: _Set) -> None:
        servers.emit = _nobody
        phases = {servers.hub.status(alias).phase for alias in servers.key.sources}
        if phases <= {"ready", "idle"}:
            self._idle.append(servers)
        else:
            await servers.hub.close()
        if len(self._idle) > IDLE_MOST:
            await self._idle.pop(0).hub.close()


class LentServers:
    """The engine's ``Tools`` on servers of a pool: closing gives them back."""

    def __init__(self, servers: _Set, emit: Emit, give_back: Callable[[_Set], Any]) -> None:
        self._servers: _Set = servers
        self._servers.emit = emit
        self._hub = servers.hub
        self._give_back = give_back
        self._is_changed = False

    def start(self, aliases: Iterable[str]) -> None:
        self._hub.start(aliases)

    async def declaration(self, alias: str) -> ServerDeclaration:
        return await self._hub.declaration(alias)

    async def call(self, call: Call) -> CallResult:
        return await self._hub.call(call)

    async def restart(self, alias: str) -> None:
        await self._hub.restart(alias)

    async def stop(self, alias: str) -> None:
        await self._hub.stop(alias)

    async def take(self, sources: Mapping[str, ServerSource]) -> tuple[str, ...]:
        """Take other servers; what is lent is of no use to others then, and is closed when it is given back."""
        self._is_changed = True
        return await self._hub.take(sources)

    async def close(self) -> None:
        await (self._hub.close() if self._is_changed else self._give_back(self._servers))


def _nobody(event: Event) -> None:
    """Hears what is told while no run has the servers."""
