"""What it means when a server does not answer: whether trying again helps, and what the user is told."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from answer import GenerationError, TooLong
from settings import Served

from workbench.mcp.half_pairs import whole
from workbench.mcp.json_http import Retries, has_no_credit, passes, quoted, too_long_a_wait

T = TypeVar("T")

_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|context (length|size|window)|maximum context|prompt is too long",
    re.IGNORECASE,
)
_HINTS = {
    401: "Set {key}",
    403: "Does the key in {key} allow this model?",
    404: "Are base_url and model_name right?",
}
_SAME_FOR_ALL = (401, 403, 404)


class Refused(Exception):
    """One request without an answer; ``str()`` has the server's own words.

    ``status`` is None where no whole answer came: no connection, a stream that broke off. ``reached`` tells the two
    apart.
    """

    def __init__(
        self,
        words: str,
        *,
        status: int | None = None,
        code: str = "",
        retry_after: float | None = None,
        reached: bool = True,
    ) -> None:
        super().__init__(whole(words))
        self.status = status
        self.code = code
        self.retry_after = retry_after
        self.reached = reached

    @property
    def has_no_credit(self) -> bool:
        """An empty account answers as a rate limit does, and does not pass."""
        return has_no_credit(self.status, f"{self.code} {self}")

    @property
    def may_pass(self) -> bool:
        """Rate limits, server errors and broken connections pass; a wrong key or request does not."""
        return self.status is None or (passes(self.status) and not self.has_no_credit)


@dataclass(frozen=True)
class Retrying:
    """How often and how soon a backend is asked again. ``where`` names it and its model in messages, ``key_hint`` the
    places of its key.
    """

    where: str
    retries: Retries
    key_hint: str = ""
    timeout: float = 600
    """Seconds for one answer, however it trickles in."""

    @classmethod
    def of(cls, where: str, settings: Served, key_hint: str) -> Retrying:
        return cls(where, settings.retries, key_hint, settings.timeout)

    async def ask_in_time(self, request: Callable[[], Awaitable[T]], label: str, characters: int) -> T:
        """The same, each try given up after ``timeout``: a server that sends bytes for ever does not answer."""

        async def bounded() -> T:
            try:
                async with asyncio.timeout(self.timeout):
                    return await request()
            except TimeoutError:
                raise GenerationError(
                    f"{self.where} gave no whole answer within {self.timeout:g} s (timeout): it was given up"
                ) from None

        return await self.ask(bounded, label, characters)

    async def ask(self, request: Callable[[], Awaitable[T]], label: str, characters: int) -> T:
        """What the request gives, tried again where that helps. Raises ``GenerationError``."""
        tries = 0
        while True:
            tries += 1
            try:
                return await request()
            except Refused as refused:
                wait = self.retries.wait(tries, refused.retry_after) if refused.may_pass else None
                if wait is None:
                    raise self.error(refused, tries, characters) from refused
                print(
                    f"item {label}: {refused}; retry {tries} of {self.retries.most} in {wait:.1f} s",
                    file=sys.stderr,
                )
                await asyncio.sleep(wait)

    def error(self, refused: Refused, tries: int, characters: int) -> GenerationError:
        """One message: the server, its own words, and the way out."""
        tried = f" after {tries} tries" if tries > 1 else ""
        if refused.status is None:
            if refused.reached:
                return GenerationError(f"{self.where} broke off its answer{tried} ({refused})")
            advice = "is the server running, is base_url right?"
            return GenerationError(f"no connection to {self.where}{tried} ({refused}): {advice}", stops_all=True)
        if _TOO_LONG.search(f"{refused.code} {refused}"):
            tokens, fitting = counts(str(refused))
            return TooLong(
                f"the prompt ({characters} characters) is too long for {self.where}: {refused}. "
                "Shorten it, e.g. by a smaller retriever.top_k, or set "
                "generation.backend_configs.common.too_long: cut",
                tokens,
                fitting,
            )
        hint = _HINTS.get(refused.status, "").format(key=self.key_hint)
        words = str(refused).rstrip(".")
        patience = too_long_a_wait(refused.retry_after) if refused.may_pass else ""
        return GenerationError(
            f"{self.where} answered {refused.status}{tried}: {words}{patience}{f'. {hint}' if hint else ''}",
            stops_all=refused.status in _SAME_FOR_ALL or refused.has_no_credit,
        )


def counts(words: str) -> tuple[int | None, int | None]:
    """The prompt's tokens and those that fit, where a message names two numbers: the larger and the smaller."""
    numbers = sorted({int(number) for number in re.findall(r"\b\d{2,7}\b", words)})
    return (numbers[-1], numbers[0]) if len(numbers) == 2 else (None, None)


def object_of(content: str | bytes) -> dict[str, Any]:
    """The JSON object of an answer. Raises ``Refused`` that quotes what came instead."""
    try:
        value = json.loads(content)
    except ValueError as error:
        raise Refused(f"it did not answer with JSON, but with {quoted(text_of(content))}") from error
    if not isinstance(value, dict):
        raise Refused(f"it answered {quoted(text_of(content))}")
    return value


def text_of(content: str | bytes) -> str:
    """What came, for a message."""
    return content if isinstance(content, str) else content.decode(errors="replace")
