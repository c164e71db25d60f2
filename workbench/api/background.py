"""An event loop on a thread of its own: for callers without one, and for servers that outlive a call."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class BackgroundLoop:
    """Runs coroutines until it is closed. The thread dies with the program."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="ragwb", daemon=True)
        self._thread.start()

    def begin(self, work: Coroutine[Any, Any, Result]) -> concurrent.futures.Future[Result]:
        """Begin to carry out some work; cancelling the future cancels it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Carry out some work, and wait for it; what interrupts the waiting cancels it."""
        future = self.begin(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def awaited(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The same for a caller that has a loop of its own, which goes on meanwhile."""
        return await asyncio.wrap_future(self.begin(work))

    def close(self) -> None:
        """Nothing follows."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
