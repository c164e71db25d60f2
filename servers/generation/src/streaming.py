"""An answer that a thread makes, handed piece by piece to the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

Take = Callable[[Any], bool]
"""Takes a piece; true means: stop."""


async def from_thread(make: Callable[[Take], None]) -> AsyncIterator[Any]:
    """What ``make`` hands over in a thread, in order; leaving the loop asks it to stop. Its errors are raised here."""
    loop, stop = asyncio.get_running_loop(), threading.Event()
    queue: asyncio.Queue[tuple[Any] | None] = asyncio.Queue()

    def take(piece: Any) -> bool:
        loop.call_soon_threadsafe(queue.put_nowait, (piece,))
        return stop.is_set()

    work = loop.run_in_executor(None, make, take)
    work.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (held := await queue.get()) is not None:
            yield held[0]
        await work
    finally:
        stop.set()
