"""A model as judge: questions put to the client's model, and its JSON answers read."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from fastmcp import Context
from mcp_types import SamplingMessage, TextContent

from workbench.mcp.kit import item_numbers, report
from workbench.mcp.thinking import separated

ASKED_AT_ONCE, MOST_TOKENS = 8, 1024
T = TypeVar("T")


class Unreadable(Exception):
    """The judge's answer is not what was asked for; ``str()`` says what it was."""


class Judge:
    """Asks the client's model: in ragwb that of the pipeline's generation server. The traffic shows each question."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._gate = asyncio.Semaphore(ASKED_AT_ONCE)

    async def ask(self, prompt: str) -> Any:
        """The JSON of the answer. Raises ``Unreadable``."""
        said = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
        async with self._gate:
            answer = await self._ctx.session.create_message([said], temperature=0, max_tokens=MOST_TOKENS)
        return read_json(getattr(answer.content, "text", ""))

    async def texts(self, prompt: str) -> list[str]:
        """The answer as a list of texts. Raises ``Unreadable``."""
        found = await self.ask(prompt)
        if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
            raise Unreadable(f"not a list of texts: {json.dumps(found, ensure_ascii=False)[:80]}")
        return [text.strip() for text in found if text.strip()]

    async def verdicts(self, prompt: str, count: int) -> list[bool]:
        """The answer as so many zeros and ones. Raises ``Unreadable``."""
        found = await self.ask(prompt)
        if not isinstance(found, list) or len(found) != count or any(verdict not in (0, 1) for verdict in found):
            raise Unreadable(f"not {count} times 0 or 1: {json.dumps(found, ensure_ascii=False)[:80]}")
        return [bool(verdict) for verdict in found]


def read_json(text: str) -> Any:
    """The last JSON list or map in a text; what a model thinks before it, and a fence around it, do not count."""
    said, _ = separated(text)
    decoder = json.JSONDecoder()
    found, position = None, 0
    while match := re.compile(r"[\[{]").search(said, position):
        try:
            value, position = decoder.raw_decode(said, match.start())
            found = [value]
        except ValueError:
            position = match.end()
    if found is None:
        raise Unreadable(f"no JSON in {said.strip()[:80]!r}")
    return found[0]


async def each(count: int, judge_item: Callable[[int], Awaitable[T]]) -> list[T | None]:
    """What is found of every item, in order; None, and the reason on stderr, where an answer could not be read."""
    done = 0
    items = item_numbers(count)

    async def one(position: int) -> T | None:
        nonlocal done
        try:
            found = await judge_item(position)
        except Unreadable as error:
            print(f"item [{items[position]}]: the judge can't be understood: {error}", file=sys.stderr)
            found = None
        done += 1
        await report(done, count)
        return found

    return await asyncio.gather(*map(one, range(count)))


def numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))
