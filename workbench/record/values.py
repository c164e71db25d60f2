"""Values as the session file holds them: once by content, the entries of lists in blocks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

import msgspec
import zstandard
from msgspec import Struct

from workbench.engine.values import UNSET, Message

HASH_BYTES = 16
BLOCK = 64
"""Entries of a list that are stored together. Those of more than ``_COMPRESSED_FROM`` bytes are values of their own."""

_COMPRESSED_FROM = 512
_MSGPACK, _JSON, _ZSTD, _MESSAGE = 0, 1, 2, 4
"""Bits of a codec: how it was made, whether it is compressed, whether it is a prompt message."""
_REFERENCE = 255
_UNSET_EXTENSION = 1


class Stored(Struct, frozen=True):
    """One value: its hash, how it is encoded, and its bytes."""

    hash: bytes
    codec: int
    data: bytes


class Encoder:
    """Encodes values; one of these belongs to one thread."""

    def __init__(self) -> None:
        self._compressor = zstandard.ZstdCompressor(level=1)

    def hash_of(self, value: Any) -> tuple[bytes, int, bytes]:
        """``(hash, codec, plain bytes)`` of a value."""
        return self.hash_of_plain(*_plain(value))

    def hash_of_plain(self, codec: int, data: bytes) -> tuple[bytes, int, bytes]:
        return _hash(codec, data), codec, data

    def stored(self, digest: bytes, codec: int, data: bytes) -> Stored:
        if len(data) < _COMPRESSED_FROM:
            return Stored(digest, codec, data)
        return Stored(digest, codec | _ZSTD, self._compressor.compress(data))


def _plain(value: Any) -> tuple[int, bytes]:
    kind = _MESSAGE if isinstance(value, Message) else 0
    content = dict(value) if kind else value
    try:
        return kind | _MSGPACK, msgspec.msgpack.encode(content, enc_hook=_unset)
    except (OverflowError, UnicodeEncodeError, TypeError, ValueError):
        # Whole numbers of more than 64 bits, and half surrogate pairs
        return kind | _JSON, json.dumps(content, default=str).encode()


def _unset(value: Any) -> msgspec.msgpack.Ext:
    """An entry that no step gave, in the middle of a value."""
    if value is UNSET:
        return msgspec.msgpack.Ext(_UNSET_EXTENSION, b"")
    raise TypeError(f"{type(value).__name__} has no form in a session file")


def _extension(code: int, data: memoryview) -> Any:
    if code != _UNSET_EXTENSION:
        raise ValueError(f"an unknown kind of value ({code})")
    return UNSET


def pack_block(entries: Sequence[Any], store: Callable[[int, bytes], bytes]) -> bytes:
    """Entries of a list as one value; ``store`` keeps a large one by itself (codec, plain bytes) and gives its hash."""
    return msgspec.msgpack.encode([_packed_entry(entry, store) for entry in entries])


def _packed_entry(entry: Any, store: Callable[[int, bytes], bytes]) -> bytes:
    if entry is UNSET:
        return b""
    codec, data = _plain(entry)
    return bytes([_REFERENCE]) + store(codec, data) if len(data) >= _COMPRESSED_FROM else bytes([codec]) + data


def unpack_block(block: list[bytes], load: Callable[[bytes], Any]) -> list[Any]:
    """The entries of a block; ``load`` gives the value behind a hash. Raises ``ValueError`` for damaged bytes."""
    return [_unpacked_entry(packed, load) for packed in block]


def _unpacked_entry(packed: bytes, load: Callable[[bytes], Any]) -> Any:
    if not packed:
        return UNSET
    return load(packed[1:]) if packed[0] == _REFERENCE else decode(packed[0], packed[1:])


def pack(content: Any) -> bytes:
    """A row's content: the codec, a checksum, then the bytes."""
    codec, data = _plain(content)
    return bytes([codec]) + crc32(data).to_bytes(4) + data


def unpack(row: bytes) -> Any:
    """Raises ``ValueError`` where the bytes are damaged."""
    if len(row) < 5 or crc32(row[5:]) != int.from_bytes(row[1:5]):
        raise ValueError("a row has been changed")
    return decode(row[0], row[5:])


def decode_checked(digest: bytes, codec: int, data: bytes) -> Any:
    """The value of that hash. Raises ``ValueError`` where the bytes are damaged."""
    plain = _decompressed(codec, data)
    if _hash(codec & ~_ZSTD, plain) != digest:
        raise ValueError("a value has been changed")
    return decode(codec & ~_ZSTD, plain)


def decode(codec: int, data: bytes) -> Any:
    """The value that was encoded. Raises ``ValueError`` where the bytes are damaged."""
    data = _decompressed(codec, data)
    value = json.loads(data) if codec & _JSON else msgspec.msgpack.decode(data, ext_hook=_extension)
    return Message(value) if codec & _MESSAGE else value


def _decompressed(codec: int, data: bytes) -> bytes:
    if not codec & _ZSTD:
        return data
    try:
        return zstandard.ZstdDecompressor().decompress(data)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None


def _hash(codec: int, data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=HASH_BYTES, person=bytes([codec])).digest()
