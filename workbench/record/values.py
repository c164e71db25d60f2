"""Values as the session file holds them: once by content, lists entry by entry."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import msgspec
import zstandard

from workbench.engine.values import Message

HASH_BYTES = 16
UNSET_HASH = bytes(HASH_BYTES)
"""Stands for an entry that no step has given."""

_COMPRESSED_FROM = 512
_MSGPACK, _JSON, _ZSTD, _MESSAGE = 0, 1, 2, 4
"""Bits of a codec: how it was made, whether it is compressed, whether it is a prompt message."""


@dataclass(frozen=True)
class Stored:
    """One value: its hash, how it is encoded, and its bytes."""

    hash: bytes
    codec: int
    data: bytes


class Encoder:
    """Encodes values; one of these belongs to one thread."""

    def __init__(self) -> None:
        self._compressor = zstandard.ZstdCompressor(level=1)

    def hash_of(self, value: Any) -> tuple[bytes, int, bytes]:
        """``(hash, codec, plain bytes)`` of a value that is no list of its own kind."""
        codec, data = _plain(value)
        digest = hashlib.blake2b(data, digest_size=HASH_BYTES, person=bytes([codec])).digest()
        return digest, codec, data

    def stored(self, digest: bytes, codec: int, data: bytes) -> Stored:
        if len(data) < _COMPRESSED_FROM:
            return Stored(digest, codec, data)
        return Stored(digest, codec | _ZSTD, self._compressor.compress(data))


def _plain(value: Any) -> tuple[int, bytes]:
    kind = _MESSAGE if isinstance(value, Message) else 0
    content = dict(value) if kind else value
    try:
        return kind | _MSGPACK, msgspec.msgpack.encode(content)
    except (OverflowError, UnicodeEncodeError, TypeError, ValueError):
        # Whole numbers of more than 64 bits, and half surrogate pairs
        return kind | _JSON, json.dumps(content, default=str).encode()


def pack(content: Any) -> bytes:
    """A row's content: the codec, then the bytes."""
    codec, data = _plain(content)
    return bytes([codec]) + data


def unpack(row: bytes) -> Any:
    """Raises ``ValueError`` where the bytes are damaged."""
    return decode(row[0], row[1:])


def decode(codec: int, data: bytes) -> Any:
    """The value that was encoded. Raises ``ValueError`` where the bytes are damaged."""
    if codec & _ZSTD:
        try:
            data = zstandard.ZstdDecompressor().decompress(data)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from None
    value = json.loads(data) if codec & _JSON else msgspec.msgpack.decode(data)
    return Message(value) if codec & _MESSAGE else value
