"""What the user reads when an address does not answer as an MCP server does: what happened, then what to do."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

import httpx2
import msgspec

_SHOWN_CHARACTERS = 300


class Trouble(ConnectionError):
    """Something between us and an address. ``str()``: what happened, and on lines of their own what to do."""

    def __init__(self, reason: str, *hints: str) -> None:
        super().__init__("\n".join([reason, *(hint for hint in hints if hint)]))


class Broken(Trouble):
    """No answer came, or only a part of one."""


class Refused(Trouble):
    """The server answered, but not with what was asked for; ``status`` is that of HTTP."""

    def __init__(self, status: int, reason: str, *hints: str) -> None:
        super().__init__(reason, *hints)
        self.status = status


def shown(url: httpx2.URL) -> str:
    """An address as it may be shown: passwords and queries are left out, since they may hold secrets."""
    return str(url.copy_with(username=None, password=None, query=None, fragment=None))


def broken(error: httpx2.HTTPError, url: httpx2.URL, connect_seconds: float) -> Broken:
    """In the user's words what an error of the HTTP library means."""
    place = f"{url.host}:{url.port or (443 if url.scheme == 'https' else 80)}"
    if isinstance(error, httpx2.ConnectTimeout):
        return Broken(f"no connection to {place} within {connect_seconds:g} s")
    if isinstance(error, httpx2.ProxyError):
        return Broken(f"the proxy refused: {error}", "HTTP_PROXY, HTTPS_PROXY and NO_PROXY say what goes through one")
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ConnectionRefusedError):
            return Broken("connection refused", f"nothing listens at {place}: is the server running?")
        if isinstance(cause, socket.gaierror):
            return Broken(f"the name {url.host} is not known ({cause.strerror})", "check the address")
        if isinstance(cause, ssl.SSLCertVerificationError):
            hint = "a certificate of your own can be named by the environment variable SSL_CERT_FILE"
            return Broken(f"TLS: its certificate is not trusted ({cause.verify_message})", hint)
        if isinstance(cause, ssl.SSLError):
            hint = "try http:// in the place of https://" if url.scheme == "https" else ""
            return Broken(f"TLS: {cause.reason or cause}", hint)
    told = next((str(cause) for cause in [error, *causes] if str(cause)), type(error).__name__)
    return Broken(f"the connection broke ({told})")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """All that led to an error, also from within groups."""
    for cause in (error.__cause__, error.__context__):
        if cause is not None:
            yield cause
            yield from _causes(cause)
            return
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            yield member
            yield from _causes(member)


def refusal(response: httpx2.Response, body: bytes) -> Refused:
    """A status that is no success."""
    status, url = response.status_code, response.request.url
    words = _words(response, body)
    reason = f"the server answered {status} {response.reason_phrase} at {url.path}" + (f": {words}" if words else "")
    if status in (401, 403):
        return Refused(status, reason, _login_hint(response))
    if status in (404, 405):
        slashed = url.path.endswith("/")
        other = url.copy_with(path=url.path.rstrip("/") if slashed else f"{url.path}/")
        return Refused(status, reason, f"try {shown(other)}, or whatever path its documentation names")
    return Refused(status, reason)


def no_mcp(response: httpx2.Response) -> Refused:
    """A success, but no message of the protocol."""
    kind = response.headers.get("content-type", "").partition(";")[0] or "no content"
    reason = f"the server answered {response.status_code} with {kind} at {response.request.url.path}: that is no MCP"
    return Refused(response.status_code, reason, "is it the address of an MCP server? Most end in /mcp or /sse")


def _login_hint(response: httpx2.Response) -> str:
    asked = response.headers.get("www-authenticate", "").partition(" ")[0]
    scheme = asked if asked.isalpha() else "Bearer"
    if "authorization" in response.request.headers:
        return "the header Authorization was sent, and not accepted: is its token still good?"
    return (
        "the header Authorization is missing; give the server as a map: "
        f'{{url: ..., headers: {{Authorization: "{scheme} ${{TOKEN}}"}}}}, '
        "with TOKEN in the environment or in `.env` of the project folder"
    )


def _words(response: httpx2.Response, body: bytes) -> str:
    """What the body says, if it is short text: an error of JSON-RPC, of OAuth, or a line."""
    kind = response.headers.get("content-type", "")
    if "html" in kind:
        return ""
    text = body[: _SHOWN_CHARACTERS * 4].decode("utf-8", "replace").strip()
    try:
        value = msgspec.json.decode(body)
    except msgspec.DecodeError:
        value = None
    if isinstance(value, dict):
        error = value.get("error")
        found = error.get("message") if isinstance(error, dict) else value.get("error_description") or error
        text = str(found or value.get("detail") or value.get("message") or text)
    return " ".join(text.split())[:_SHOWN_CHARACTERS]
