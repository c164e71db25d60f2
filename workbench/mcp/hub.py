"""All servers of one session: the engine's ``Tools`` port over MCP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from workbench.engine.events import Emit
from workbench.engine.ports import Answering, Call, CallResult, ServerStartFailed
from workbench.mcp.launch import Launch, Launcher, plan
from workbench.mcp.peer import LocalPeer, Peer
from workbench.mcp.rules import Rules
from workbench.mcp.server import Limits, Server, ServerStatus
from workbench.pipeline.declaration import ServerDeclaration
from workbench.pipeline.project import ServerSource


class ServerHub:
    """Starts, calls and ends the servers behind ``sources`` (alias -> source), one connection each.

    Use it on one event loop, in any thread. ``call_timeout`` and ``start_timeout`` are seconds; without them
    nothing is ever given up. ``answering`` answers what servers ask; by default it is refused. ``env`` is added to the
    environment of each.
    """

    def __init__(
        self,
        sources: Mapping[str, ServerSource],
        emit: Emit,
        *,
        call_timeout: float | None = None,
        start_timeout: float | None = None,
        answering: Answering | None = None,
        env: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._sources = dict(sources)
        self._env = env
        self._launches = self._planned(sources)
        self._emit = emit
        self._answering = answering or Rules()
        self._limits = Limits(start=start_timeout, call=call_timeout)
        self._launcher = Launcher()
        self._servers: dict[str, Server] = {}

    def start(self, aliases: Iterable[str]) -> None:
        """Begin to start those of these servers that were not started yet, all at once; returns at once."""
        wanted = [alias for alias in dict.fromkeys(aliases) if alias not in self._servers]
        self._launcher.prepare([self._launches[alias] for alias in wanted if alias in self._launches])
        for alias in wanted:
            if alias in self._sources:
                self._servers[alias] = self._new(alias)

    def status(self, alias: str) -> ServerStatus:
        """A server at this moment, for a screen."""
        server = self._servers.get(alias)
        return server.status if server is not None else ServerStatus(alias)

    async def declaration(self, alias: str) -> ServerDeclaration:
        """What the server offers, once it is ready; starts it if need be. Raises ``ServerStartFailed``."""
        return await self._server(alias).declaration()

    async def call(self, call: Call) -> CallResult:
        """Run one call; cancelling the awaiting task cancels the call and leaves the server alive.

        Raises ``ToolFailed``, ``ServerGone``, ``ServerStartFailed``.
        """
        return await self._server(call.alias).call(call)

    async def restart(self, alias: str) -> None:
        """Stop the server and start it anew. Raises ``ServerStartFailed``."""
        await self.stop(alias)
        await self._server(alias).declaration()

    async def stop(self, alias: str) -> None:
        """Stop one server, also while it starts or works."""
        server = self._servers.pop(alias, None)
        if server is not None:
            await server.stop()

    async def take(self, sources: Mapping[str, ServerSource]) -> tuple[str, ...]:
        """Take other sources; servers that are there otherwise now, or no more, are stopped. Returns these."""
        known = self._servers.keys() | self._sources.keys()
        other = sorted(alias for alias in known if self._sources.get(alias) != sources.get(alias))
        self._sources = dict(sources)
        self._launches = self._planned(sources)
        for alias in other:
            await self.stop(alias)
        return tuple(alias for alias in other if alias in sources)

    async def close(self) -> None:
        """Stop everything. Nothing of any server is left afterwards."""
        servers = list(self._servers.values())
        await asyncio.gather(*(server.stop() for server in servers))
        self._launcher.close()

    def _planned(self, sources: Mapping[str, ServerSource]) -> dict[str, Launch]:
        local = ((alias, source) for alias, source in sources.items() if source.address is None)
        return {alias: plan(replace(source, env={**self._env, **source.env})) for alias, source in local}

    def _server(self, alias: str) -> Server:
        if alias not in self._sources:
            raise ServerStartFailed(f"there is no server {alias!r}", alias=alias)
        if alias not in self._servers:
            self._servers[alias] = self._new(alias)
        return self._servers[alias]

    def _new(self, alias: str) -> Server:
        return Server(alias, self._peer(alias), self._answering, self._emit, self._limits)

    def _peer(self, alias: str) -> Peer:
        address = self._sources[alias].address
        if address is None:
            return LocalPeer(self._launches[alias], self._launcher)
        from workbench.mcp.remote.peer import RemotePeer  # brings the HTTP library, which most runs don't need

        return RemotePeer(address)
