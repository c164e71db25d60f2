"""Asks the client's model, item by item: in ragwb that of the pipeline's generation server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from fastmcp import Context
from fastmcp.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import SamplingMessage, TextContent

from workbench.mcp.kit import report

AT_ONCE = 8
"""How many questions are under way at a time; so many in a row without an answer, and no more are asked."""
T = TypeVar("T")


class Unclear(Exception):
    """An item has no answer, or none that is understood; ``str()`` says why. Other items are not concerned."""


class ClientModel:
    """The model behind a call. The traffic shows each question and its answer."""

    def __init__(self, ctx: Context, most_tokens: int) -> None:
        self._ctx = ctx
        self._most_tokens = most_tokens
        self._gate = asyncio.Semaphore(AT_ONCE)
        self._refused = 0

    async def ask(self, prompt: str, read: Callable[[str], T]) -> T:
        """What ``read`` makes of the answer; it raises ``Unclear`` for one that it can't use.

        Raises ``Unclear`` also for a question that is refused, ``ToolError`` where all seem to be.
        """
        said = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
        async with self._gate:
            try:
                answer = await self._ctx.session.create_message([said], temperature=0, max_tokens=self._most_tokens)
            except MCPError as error:
                self._refused += 1
                if self._refused >= AT_ONCE:
                    raise ToolError(f"no answer to {self._refused} questions in a row: {error}") from error
                raise Unclear(f"no answer: {error}") from error
        self._refused = 0
        text = str(getattr(answer.content, "text", ""))
        try:
            return read(text)
        except Unclear as error:
            if answer.stop_reason != "maxTokens":
                raise
            cut = f"it was cut off after {len(text)} characters: it may have {self._most_tokens} tokens"
            raise Unclear(f"{error} ({cut})") from error


async def each(count: int, find: Callable[[int], Awaitable[T]]) -> list[T | Unclear]:
    """What is found for every place, in order, or why it is not; the client is told how many are done.

    Any other error ends the search for all.
    """
    done = 0

    async def one(place: int) -> T | Unclear:
        nonlocal done
        found: T | Unclear
        try:
            found = await find(place)
        except Unclear as error:
            found = error
        done += 1
        await report(done, count)
        return found

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(place)) for place in range(count)]
    except ExceptionGroup as several:
        raise several.exceptions[0] from None
    return [task.result() for task in tasks]
