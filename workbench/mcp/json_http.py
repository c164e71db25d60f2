"""Servers' calls of services over HTTP: JSON in, JSON out, tried again where that helps, errors that say what to do."""

from __future__ import annotations

import asyncio
import json
import math
import random
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urljoin

from fastmcp.exceptions import ToolError
from msgspec import Struct, field

if TYPE_CHECKING:
    import httpx2

LONGEST_WAIT = 60.0
"""Seconds that a service may ask to be left alone for; where it asks for more, the user is told instead."""
_NO_CREDIT = re.compile(r"insufficient_quota|no credit|exceeded your current quota|billing", re.IGNORECASE)
_QUOTED = 200
"""How much of an answer that can't be used a message quotes, in characters."""
_JITTER = 0.25
"""Seconds by which retries of many requests are spread."""


class Retries(Struct, frozen=True):
    """How often and how soon a service is asked again."""

    most: int = 3
    base_delay: float = 1.0
    """Seconds before the first retry; doubled for each further one."""

    @classmethod
    def of(cls, configs: Mapping[str, Any]) -> Retries:
        """By ``retries`` and ``base_delay``; null and a missing one stand for the usual. Raises ``ToolError``."""
        return cls(int(number(configs, "retries", 3)), number(configs, "base_delay", 1.0))

    def wait(self, tries: int, asked: float | None) -> float | None:
        """Seconds to the next try after ``tries``; None where there is none. What the service asked for counts more."""
        if tries > self.most or (asked is not None and asked > LONGEST_WAIT):
            return None
        return self.base_delay * 2.0 ** (tries - 1) + random.uniform(0, _JITTER) if asked is None else asked


class JsonService(Struct):
    """One service. ``key_hint`` says where its key is set; ``concurrency`` is how many requests it gets at once."""

    name: str
    key_hint: str
    headers: Mapping[str, str] = field(default_factory=dict)
    concurrency: int = 8
    retries: Retries = Retries()
    timeout: float = 60.0
    """Seconds for one answer."""
    _client: httpx2.AsyncClient | None = field(default=None)
    _gate: asyncio.Semaphore | None = field(default=None)

    @classmethod
    def of(
        cls, name: str, key_hint: str, headers: Mapping[str, str], configs: Mapping[str, Any], *,
        concurrency: int, timeout: float,
    ) -> JsonService:  # fmt: skip
        """By ``configs``: concurrency, timeout, retries, base_delay, each of which may be null or missing.

        Raises ``ToolError`` for what is no number.
        """
        return cls(
            name, key_hint, headers,
            concurrency=max(1, int(number(configs, "concurrency", concurrency))),
            retries=Retries.of(configs),
            timeout=number(configs, "timeout", timeout),
        )  # fmt: skip

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the connections; the next request opens new ones."""
        client, self._client, self._gate = self._client, None, None
        if client is not None:
            await client.aclose()

    async def post(self, url: str, body: Mapping[str, Any]) -> Any:
        """The decoded answer. Raises ``ToolError``."""
        return await self._ask("POST", url, body)

    async def get(self, url: str) -> Any:
        """The decoded answer. Raises ``ToolError``."""
        return await self._ask("GET", url, None)

    async def _ask(self, method: str, url: str, body: Mapping[str, Any] | None) -> Any:
        import httpx2

        client, gate = self._opened()
        tries = 0
        async with gate:
            while True:
                tries += 1
                try:
                    answer = await client.request(method, url, json=body)
                except httpx2.HTTPError as error:
                    helps, asked, problem = True, None, self._no_answer(url, error)
                except (httpx2.InvalidURL, ValueError) as error:
                    raise ToolError(f"{self.name}: {url!r} is no address ({error})") from error
                else:
                    if answer.is_success:
                        return self.decoded(answer.text, url)
                    helps = passes(answer.status_code) and not has_no_credit(answer.status_code, answer.text)
                    asked = retry_after(answer.headers.get("retry-after"))
                    problem = self._refusal(answer, url)
                wait = self.retries.wait(tries, asked) if helps else None
                if wait is None:
                    after = f" (after {tries} tries)" if tries > 1 else ""
                    raise ToolError(f"{problem}{after}{too_long_a_wait(asked) if helps else ''}")
                print(f"{problem}; retry {tries} of {self.retries.most} in {wait:.1f} s", file=sys.stderr)
                await asyncio.sleep(wait)

    def _opened(self) -> tuple[httpx2.AsyncClient, asyncio.Semaphore]:
        import httpx2

        if self._client is None or self._gate is None:
            # Redirects are not followed: a header with a key would go along to another host.
            self._client = httpx2.AsyncClient(headers=dict(self.headers), timeout=self.timeout, follow_redirects=False)
            self._gate = asyncio.Semaphore(self.concurrency)
        return self._client, self._gate

    def decoded(self, text: str, url: str) -> Any:
        """JSON. Raises ``ToolError`` that quotes what came instead."""
        try:
            return json.loads(text)
        except ValueError as error:
            raise ToolError(f"{self.name}: {url} did not answer with JSON, but with {quoted(text)}") from error

    def _no_answer(self, url: str, error: Exception) -> str:
        return (
            f"{self.name}: no answer from {url} ({error or type(error).__name__}); is it running, is the address right?"
        )

    def _refusal(self, answer: httpx2.Response, url: str) -> str:
        if answer.has_redirect_location:
            moved = quoted(urljoin(url, answer.headers["location"]))
            return f"{self.name}: {url} sends on to {moved} ({answer.status_code}); if that is right, give that address"
        hints = {
            401: f"; set {self.key_hint}",
            403: f"; does the key in {self.key_hint} allow this?",
            404: "; is this path of the address right?",
            405: "; is this path of the address right?",
        }
        words = quoted(server_words(answer.text))
        return f"{self.name}: {url} answered {answer.status_code}: {words}{hints.get(answer.status_code, '')}"


def passes(status: int) -> bool:
    """Whether a refusal may pass: rate limits and the server's own troubles; a wrong key or request does not."""
    return status in (408, 425, 429) or status >= 500


def has_no_credit(status: int | None, words: str) -> bool:
    """An empty account answers as a rate limit does, and does not pass."""
    return status in (402, 429) and _NO_CREDIT.search(words) is not None


def too_long_a_wait(asked: float | None) -> str:
    """Words for a message, where a service asked for more patience than there is."""
    if asked is None or asked <= LONGEST_WAIT:
        return ""
    return f"; it asks to be left alone for {asked:,.0f} s, and {LONGEST_WAIT:.0f} s are the most that is waited"


def number(configs: Mapping[str, Any], name: str, usual: float) -> float:
    """A number of a backend's configs; ``usual`` where it is missing or null. Raises ``ToolError``."""
    value = configs.get(name)
    if value is None or value == "":
        return usual
    try:
        found = float(value)
    except (TypeError, ValueError) as error:
        raise ToolError(f"`{name}` must be a number; found {value!r}") from error
    if not math.isfinite(found) or found < 0:
        raise ToolError(f"`{name}` must be a number from 0 on; found {value!r}")
    return found


def server_words(text: str) -> str:
    """What an answer says went wrong: its message where it is JSON, else all of it."""
    try:
        body = json.loads(text)
    except ValueError:
        return text
    for key in ("error", "message", "detail", "msg"):
        if isinstance(body, dict) and body.get(key):
            inner = body[key]
            return server_words(json.dumps(inner)) if isinstance(inner, dict | list) else str(inner)
    return body if isinstance(body, str) else text


def quoted(text: str) -> str:
    """The start of a text, on one line, in quotation marks."""
    line = " ".join(text.split())
    return repr(line if len(line) <= _QUOTED else f"{line[:_QUOTED]}...")


def retry_after(value: str | None) -> float | None:
    """The header Retry-After in seconds; it may hold seconds or a date."""
    if value is None:
        return None
    try:
        seconds = float(value)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
