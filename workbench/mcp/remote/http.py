"""The HTTP half of a server that is an address: one client, its headers, and redirects that lose nothing."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2

from workbench.mcp.remote.troubles import Broken, broken, refusal, shown

CONNECT_SECONDS = 10.0
_MOST_REDIRECTS = 5
_KEPT_OPEN_SECONDS = 2.0
"""Less than servers keep an idle connection open: one that is used just when it is closed breaks."""
_READ_OF_REFUSALS = 10_000
_READING_SECONDS = 1.0
_REDIRECTS = (301, 302, 303, 307, 308)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Http:
    """Requests to one server. ``headers`` are the user's own, which no other server gets to see."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self.url = httpx2.URL(url)
        self._home = self.url
        self._headers = dict(headers)
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=None, keepalive_expiry=_KEPT_OPEN_SECONDS),
            verify=httpx2.create_ssl_context(),
            trust_env=self.url.host not in _LOOPBACK,  # a proxy of the environment is not for this machine
        )

    @contextlib.asynccontextmanager
    async def exchange(
        self,
        method: str,
        headers: Mapping[str, str],
        *,
        url: httpx2.URL | None = None,
        body: bytes | None = None,
        written: asyncio.Event | None = None,
    ) -> AsyncIterator[httpx2.Response]:
        """One request and its response, still to be read; ``written`` is set when the request has gone out.

        Redirects are followed with method, body and headers; where one leads counts from then on. Raises ``Broken``,
        also while the response is read, and ``Refused`` for a status that is no success.
        """
        target = url or self.url
        for _ in range(_MOST_REDIRECTS + 1):
            request = self._request(method, target, headers, body, written)
            try:
                response = await self._client.send(request, stream=True)
            except httpx2.HTTPError as error:
                raise broken(error, target, CONNECT_SECONDS) from error
            try:
                if response.status_code not in _REDIRECTS:
                    await _check(response)
                    if url is None:
                        self.url = target
                    yield response
                    return
                target = _redirected(response)
            except httpx2.HTTPError as error:
                raise broken(error, target, CONNECT_SECONDS) from error
            finally:
                await response.aclose()
        raise Broken(f"more than {_MOST_REDIRECTS} redirects, the last one to {shown(target)}")

    async def close(self) -> None:
        await self._client.aclose()

    def _request(
        self,
        method: str,
        url: httpx2.URL,
        headers: Mapping[str, str],
        body: bytes | None,
        written: asyncio.Event | None,
    ) -> httpx2.Request:
        async def trace(name: str, _: Any) -> None:
            if written is not None and name.endswith("send_request_body.complete"):
                written.set()

        own = self._headers if _is_at_home(url, self._home) else {}
        try:
            return self._client.build_request(
                method, url, headers={**own, **headers}, content=body, extensions={"trace": trace}
            )
        except ValueError as error:  # of a header that the server itself made up
            raise Broken(f"what the server gave can't be sent back ({error})") from error


async def _check(response: httpx2.Response) -> None:
    """Raise ``Refused`` for a status that is no success, with what its body says."""
    if response.is_success:
        return
    body = b""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_READING_SECONDS):
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _READ_OF_REFUSALS:
                    break
    raise refusal(response, body)


async def read_to_the_end(response: httpx2.Response) -> None:
    """Read what nobody needs, since only then the connection can be used again; but not for ever."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_READING_SECONDS):
            async for _ in response.aiter_bytes():
                pass


def _redirected(response: httpx2.Response) -> httpx2.URL:
    """Where a redirect leads. Raises ``Refused``, ``Broken``."""
    location, url = response.headers.get("location"), response.request.url
    if not location:
        raise refusal(response, b"")
    try:
        target = url.join(location)
    except httpx2.InvalidURL:
        raise refusal(response, location.encode()) from None
    if url.scheme == "https" and target.scheme != "https":
        raise Broken(
            f"the server answered {response.status_code} at {url.path}, a redirect to {shown(target)}",
            f"that would go on without TLS, so it is not followed; try {shown(target.copy_with(scheme='https'))}",
        )
    return target


def _is_at_home(url: httpx2.URL, home: httpx2.URL) -> bool:
    """Whether an address is of the server that the user named: the same, or the same host with TLS."""
    if url.host != home.host:
        return False
    return (url.scheme, url.port) == (home.scheme, home.port) or (
        home.scheme == "http" and url.scheme == "https" and home.port is None and url.port is None
    )
