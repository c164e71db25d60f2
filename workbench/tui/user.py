"""The user as whoever answers what servers ask: put on the engine's thread, answered from the screen's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from workbench.engine.ports import Asked, AskedKind, Reply


class OpenQuestion:
    """A question that a server waits with. What the user has put in so far stays here when its dialog is left."""

    def __init__(self, asked: Asked) -> None:
        from workbench.mcp.form_schema import read_form  # only where a server asks

        self.asked = asked
        self.form = read_form(asked.request.get("requestedSchema")) if asked.kind == "elicitation" else None
        """None where there is nothing to fill in, but a text to write."""
        self.text = ""
        self.is_over = False
        """Whether the user has answered it, or the server does not wait any more."""
        self._reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

    def answer(self, reply: Reply) -> None:
        """To be called on the engine's thread."""
        if not self._reply.done():
            self._reply.set_result(reply)

    async def reply(self) -> Reply:
        try:
            return await self._reply
        finally:
            self.is_over = True


class User:
    """``open`` are the questions in the order they were asked; it is replaced as a whole, so any thread may read it.

    ``changed`` is called on the engine's thread when it was.
    """

    kinds: frozenset[AskedKind] = frozenset({"elicitation", "sampling"})

    def __init__(self, changed: Callable[[], None]) -> None:
        self.open: tuple[OpenQuestion, ...] = ()
        self._changed = changed

    async def answer(self, asked: Asked) -> Reply:
        question = OpenQuestion(asked)
        self.open = (*self.open, question)
        self._changed()
        try:
            return await question.reply()
        finally:
            self.open = tuple(one for one in self.open if one is not question)
            self._changed()
