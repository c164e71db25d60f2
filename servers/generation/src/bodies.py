"""What a server sends, read in bounds: a line or a body that has no end is given up, not gathered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from answer import LARGEST
from shapes import too_large


async def body_of(response: Any) -> bytes:
    """All of a response. Raises ``Refused`` for more than an answer may have."""
    body = bytearray()
    async for piece in response.aiter_bytes():
        _grow(body, piece)
    return bytes(body)


async def lines_of(response: Any) -> AsyncIterator[str]:
    """The lines of a response as they come. Raises ``Refused`` for one that is longer than an answer may be."""
    begun = bytearray()
    async for piece in response.aiter_bytes():
        _grow(begun, piece)
        if b"\n" in piece:
            *lines, rest = bytes(begun).split(b"\n")
            begun = bytearray(rest)
            for line in lines:
                yield _text(line)
    if begun:
        yield _text(bytes(begun))


def _grow(body: bytearray, piece: bytes) -> None:
    body += piece
    if len(body) > LARGEST:
        raise too_large()


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode(errors="replace")
