"""Sees to the servers of a session: each stands where its next call needs it to stand."""

from __future__ import annotations

from workbench.engine.events import ServerInitialised
from workbench.engine.session import Session


class Attending(Session):
    """The commands that are about servers, and what a visit needs of them."""

    async def restart_servers(self) -> tuple[str, ...]:
        """Restart the servers whose state is not what it was at this checkpoint; returns them.

        Raises ``CommandRefused``, ``ServerStartFailed``.
        """
        self._refuse_while_busy()
        aliases = self.out_of_step()
        for alias in aliases:
            await self.restart_server(alias)
        return aliases

    async def restart_server(self, alias: str) -> None:
        """Stop a server and start it anew; its initialising calls are repeated before its next step.

        Raises ``ServerStartFailed``.
        """
        self._uninitialised.add(alias)
        await self.tools.restart(alias)
        self._gone.discard(alias)
        await self.bindings.learn(alias)

    async def stop_server(self, alias: str) -> None:
        """Stop a server, also while it works: its call fails then. It is started anew when a step needs it."""
        self._uninitialised.add(alias)
        await self.tools.stop(alias)

    async def _ready(self, alias: str) -> None:
        """Bring a server to where it must stand for its next call. Raises ``StepError``, ``ToolsError``."""
        if alias in self._gone:
            await self.restart_server(alias)
        await self._initialise(alias)

    async def _initialise(self, alias: str) -> None:
        """Bring a server that was started anew to where the one before it was. Raises ``StepError``, ``ToolsError``."""
        if alias not in self._uninitialised:
            return
        await self.bindings.learn(alias)
        calls = await self._visiting.initialise(self.timeline.moments[: self.state.position], alias)
        self._uninitialised.discard(alias)
        self._stands[alias] = (self.timeline, self.state.position)
        if calls:
            self._emit(ServerInitialised(server=alias, calls=calls))
