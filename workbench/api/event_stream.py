"""Events one after another, for ``async for``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from workbench.engine.events import Event


class EventStream:
    """Give one to ``open`` as ``on_event``, and iterate over it; it ends when the session is closed.

    Events wait in it until they are taken, however many there are.
    """

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Event | None] = asyncio.Queue()

    def __call__(self, event: Event) -> None:
        self._waiting.put_nowait(event)

    def close(self) -> None:
        """No event follows."""
        self._waiting.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[Event]:
        while (event := await self._waiting.get()) is not None:
            yield event
