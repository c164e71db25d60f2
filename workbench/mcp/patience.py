"""How long calls of one server may take: the time stands still while the server waits for an answer of ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager


class Patience:
    """``seconds`` for each call; None is for ever."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._left: dict[asyncio.Timeout, float] = {}
        """Of each call what was left of its time when it was last set going."""
        self._waits = 0

    @asynccontextmanager
    async def for_a_call(self) -> AsyncIterator[None]:
        """Raises ``TimeoutError`` when the time of the call is over."""
        if self._seconds is None:
            yield
            return
        async with asyncio.timeout(None) as timeout:
            self._left[timeout] = self._seconds
            if not self._waits:
                timeout.reschedule(_now() + self._seconds)
            try:
                yield
            finally:
                del self._left[timeout]

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While the server waits for us; it may wait for several answers at once."""
        self._waits += 1
        if self._waits == 1:
            self._stop()
        try:
            yield
        finally:
            self._waits -= 1
            if not self._waits:
                self._go_on()

    def _stop(self) -> None:
        for timeout in self._left:
            end = timeout.when()
            if end is not None and not timeout.expired():
                self._left[timeout] = end - _now()
                timeout.reschedule(None)

    def _go_on(self) -> None:
        for timeout, left in self._left.items():
            if not timeout.expired():
                timeout.reschedule(_now() + left)


def _now() -> float:
    return asyncio.get_running_loop().time()
