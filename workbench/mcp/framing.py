"""Bytes of a pipe to lines, lines to JSON-RPC messages, values to bytes. Linear in the size of a line."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import orjson


class LineSplitter:
    """Cuts a byte stream into lines. Each byte is looked at once and joined once.

    Empty lines are dropped, unless they mean something.
    """

    def __init__(self, *, keeps_empty: bool = False) -> None:
        self._keeps_empty = keeps_empty
        self._parts: list[bytes] = []
        self._started = 0.0

    def feed(self, data: bytes, now: float) -> list[tuple[bytes, float]]:
        """The lines that ``data`` completes, each with the time (Unix seconds) its first byte came."""
        first, *others = data.split(b"\n")
        if not others:
            self._keep(first, now)
            return []
        lines = [(self._join(first), self._started if self._parts else now)]
        self._parts = []
        lines += [(line, now) for line in others[:-1]]
        self._keep(others[-1], now)
        return [(line, started) for line, started in lines if line or self._keeps_empty]

    def rest(self) -> bytes:
        """What came after the last line end."""
        rest, self._parts = b"".join(self._parts), []
        return rest

    def _keep(self, part: bytes, now: float) -> None:
        if not part:
            return
        if not self._parts:
            self._started = now
        self._parts.append(part)

    def _join(self, last: bytes) -> bytes:
        return b"".join([*self._parts, last]) if self._parts else last


class Envelope(msgspec.Struct):
    """A JSON-RPC message whose parts are still bytes; an absent part is empty."""

    id: int | str | None = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw()
    result: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()

    @property
    def is_rpc(self) -> bool:
        return self.method is not None or bool(self.result) or bool(self.error)


_envelopes = msgspec.json.Decoder(Envelope)
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


def read_envelope(line: bytes) -> Envelope | None:
    """The message in a line; ``None`` if the line holds no JSON-RPC message."""
    try:
        envelope = _envelopes.decode(line)
    except msgspec.MsgspecError:
        envelope = _read_leniently(line)
    return envelope if envelope.is_rpc else None


def _read_leniently(line: bytes) -> Envelope:
    """For what strict JSON lacks and servers send all the same: NaN, infinities, half surrogate pairs."""
    try:
        whole = json.loads(line)
        number, method = whole.get("id"), whole.get("method")
        if not isinstance(number, int | str | None) or not isinstance(method, str | None):
            return Envelope()
        parts = {name: _raw(whole[name]) for name in ("params", "result", "error") if name in whole}
        return Envelope(id=number, method=method, **parts)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return Envelope()


def _raw(value: Any) -> msgspec.Raw:
    """Bytes again, in ASCII: a half surrogate pair has no UTF-8 form."""
    return msgspec.Raw(json.dumps(value).encode())


def members(raw: msgspec.Raw) -> dict[str, msgspec.Raw]:
    """The members of a JSON object, each still bytes. Anything else has none."""
    try:
        return _members.decode(raw)
    except msgspec.MsgspecError:
        whole = decode(raw) if raw else None
        if not isinstance(whole, dict):
            return {}
        return {name: _raw(value) for name, value in whole.items()}


def decode(raw: msgspec.Raw | bytes | str) -> Any:
    """The value, with NaN and infinities as floats. Raises ``ValueError``."""
    try:
        return msgspec.json.decode(raw)
    except msgspec.MsgspecError:
        return json.loads(raw if isinstance(raw, str) else bytes(raw).decode("utf-8", "replace"))


def encode(value: Any) -> bytes:
    """JSON, non-ASCII as it is, NaN and infinities as the tokens that ``decode`` knows.

    Raises ``TypeError`` or ``ValueError`` for what JSON has no form for: also half of a surrogate pair, which
    servers do not read.
    """
    try:
        line = orjson.dumps(value)
    except TypeError:
        return _encode_exactly(value)
    return _encode_exactly(value) if b"null" in line else line  # orjson writes NaN as null


def _encode_exactly(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
