"""Servers' calls of services over HTTP: JSON in, JSON out, tried again where that helps, errors that say what to do."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from fastmcp.exceptions import ToolError
from msgspec import Struct, field

if TYPE_CHECKING:
    import httpx2

_NO_CREDIT = ("insufficient_quota", "no credit", "exceeded your current quota", "billing")
_QUOTED = 200
"""How much of an answer that can't be used a message quotes, in characters."""


class JsonService(Struct):
    """One service. ``key_hint`` says where its key is set; ``concurrency`` is how many requests it gets at once."""

    name: str
    key_hint: str
    headers: Mapping[str, str] = field(default_factory=dict)
    concurrency: int = 8
    retries: int = 3
    base_delay: float = 1.0
    """Seconds before the first retry; doubled for each further one."""
    timeout: float = 60.0
    """Seconds for one answer."""
    _client: httpx2.AsyncClient | None = field(default=None)
    _gate: asyncio.Semaphore | None = field(default=None)

    async def post(self, url: str, body: Mapping[str, Any]) -> Any:
        """The decoded answer. Raises ``ToolError``."""
        return await self._ask("POST", url, body)

    async def get(self, url: str) -> Any:
        """The decoded answer. Raises ``ToolError``."""
        return await self._ask("GET", url, None)

    async def _ask(self, method: str, url: str, body: Mapping[str, Any] | None) -> Any:
        import httpx2

        if self._client is None or self._gate is None:
            self._client = httpx2.AsyncClient(headers=dict(self.headers), timeout=self.timeout, follow_redirects=True)
            self._gate = asyncio.Semaphore(max(1, self.concurrency))
        attempt = 0
        async with self._gate:
            while True:
                wait: float | None
                try:
                    answer = await self._client.request(method, url, json=body)
                except httpx2.HTTPError as error:
                    wait, problem = self._delay(attempt), self._no_answer(url, error)
                except (httpx2.InvalidURL, ValueError) as error:
                    raise ToolError(f"{self.name}: {url!r} is no address ({error})") from error
                else:
                    if answer.is_success:
                        return self.decoded(answer.text, url)
                    wait, problem = self._wait(answer, attempt), self._refusal(answer, url)
                if wait is None or attempt >= self.retries:
                    tries = f" (after {attempt + 1} tries)" if attempt else ""
                    raise ToolError(f"{problem}{tries}")
                attempt += 1
                print(f"{problem}; retry {attempt} of {self.retries} in {wait:.1f} s", file=sys.stderr)
                await asyncio.sleep(wait)

    def decoded(self, text: str, url: str) -> Any:
        """JSON. Raises ``ToolError`` that quotes what came instead."""
        try:
            return json.loads(text)
        except ValueError as error:
            raise ToolError(f"{self.name}: {url} did not answer with JSON, but with {quoted(text)}") from error

    def _delay(self, attempt: int) -> float:
        return self.base_delay * 2.0**attempt + random.uniform(0, self.base_delay / 4)

    def _wait(self, answer: httpx2.Response, attempt: int) -> float | None:
        """Seconds to the next try; None where it is of no use: a wrong key or request, an empty account."""
        passes = answer.status_code in (408, 429) or answer.status_code >= 500
        if not passes or any(word in answer.text.lower() for word in _NO_CREDIT):
            return None
        asked = retry_after(answer.headers.get("retry-after"))
        return self._delay(attempt) if asked is None else asked

    def _no_answer(self, url: str, error: Exception) -> str:
        return (
            f"{self.name}: no answer from {url} ({error or type(error).__name__}); is it running, is the address right?"
        )

    def _refusal(self, answer: httpx2.Response, url: str) -> str:
        hints = {
            401: f"; set {self.key_hint}",
            403: f"; does the key in {self.key_hint} allow this?",
            404: "; is this path of the address right?",
            405: "; is this path of the address right?",
        }
        words = quoted(server_words(answer.text))
        return f"{self.name}: {url} answered {answer.status_code}: {words}{hints.get(answer.status_code, '')}"


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
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
