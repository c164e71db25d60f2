"""The corpus: passages, or images, of a JSON Lines file, read when they are asked for, and a fingerprint of them."""

from __future__ import annotations

import hashlib
import mimetypes
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from fastmcp.exceptions import ToolError
from filters import Where, matches

from workbench.mcp.json_lines import record_of
from workbench.mcp.shown_files import may_be_shown

if TYPE_CHECKING:
    import numpy as np

_BLOCK = 1 << 22
"""Bytes that are read at once in search of line ends."""
_BOM = b"\xef\xbb\xbf"


class CorpusError(ToolError):
    """The corpus can't be used. ``str()`` names the file, the line and the way out."""


@dataclass(frozen=True)
class Stamp:
    """Size and time of a file: one that still has both is taken to be unchanged, as build tools do."""

    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """The file's own, now."""
        about = path.stat()
        return cls(about.st_size, about.st_mtime_ns)


class Corpus:
    """Passages in the order of the file; an index refers to them by position."""

    def __init__(self, path: Path, *, of_images: bool = False) -> None:
        """Finds where lines begin, in one pass over the bytes. Raises ``CorpusError`` without a file or a line.

        ``of_images``: a passage is an image, its ``contents`` the absolute path; relative ones begin at the file.
        """
        if not path.is_file():
            raise CorpusError(f"{path}: there is no such corpus (retriever.corpus_path)")
        self.path = path
        self.of_images = of_images
        self.stamp = Stamp.of(path)
        # Held open: a corpus that is written anew meanwhile does not get under these positions.
        self._file = path.open("rb")
        self._spans, self._lines = _line_spans(self._file)
        self._known: str | None = None
        self._is_read = False
        self._allowed: dict[Where, np.ndarray[Any, Any]] = {}
        if not len(self):
            raise CorpusError(f"{path}: the corpus holds no passages")

    def __len__(self) -> int:
        return len(self._spans)

    def record(self, position: int) -> dict[str, Any]:
        """The whole record of a passage, with its metadata."""
        start, end = self._spans[position].tolist()
        return self._record(position, os.pread(self._file.fileno(), end - start, start))

    def text(self, position: int) -> str:
        """The passage."""
        return str(self.record(position)["contents"])

    def records(self) -> Iterator[dict[str, Any]]:
        """All of them, in order, read in blocks."""
        spans = self._spans.tolist()
        block, block_start = b"", 0
        for position, (start, end) in enumerate(spans):
            if end > block_start + len(block):
                block_start = start
                block = os.pread(self._file.fileno(), max(_BLOCK, end - start), start)
            record = self._record(position, block[start - block_start : end - block_start])
            self._is_read = self._is_read or position + 1 == len(spans)
            yield record

    def allowed(self, where: Where) -> np.ndarray[Any, Any]:
        """Which passages a filter lets through, one truth value each; kept for the next search."""
        import numpy as np

        if where not in self._allowed:
            records = (matches(record, where) for record in self.records())
            self._allowed[where] = np.fromiter(records, dtype=bool, count=len(self))
        return self._allowed[where]

    @cached_property
    def keys(self) -> frozenset[str]:
        """All that some record has; reads all of them."""
        return frozenset(key for record in self.records() for key in record)

    def texts(self) -> Iterator[str]:
        """All passages, in order."""
        return (record["contents"] for record in self.records())

    @property
    def fingerprint(self) -> str:
        """A hash of all passages in order, of images their contents; reads and checks all, unless it is known."""
        if self._known is None:
            self._known = self._read_all()
        return self._known

    @property
    def is_checked(self) -> bool:
        """Whether every line has been read and found good, now or when an index was made of this very file."""
        return self._is_read or self._known is not None

    def trust(self, fingerprint: str, stamp: Stamp) -> None:
        """Take over what was worked out for this very file before, where size and time say it is the same."""
        if stamp == self.stamp:
            self._known = fingerprint

    def _read_all(self) -> str:
        digest = hashlib.blake2b(digest_size=16)
        seen: set[bytes] = set()
        repeated = 0
        for text in self.texts():
            encoded = Path(text).read_bytes() if self.of_images else text.encode()
            digest.update(len(encoded).to_bytes(8, "big"))
            digest.update(encoded)
            short = hashlib.blake2b(encoded, digest_size=8).digest()
            repeated += short in seen
            seen.add(short)
        if repeated:
            print(f"{self.path}: {repeated} of {len(self)} passages repeat another word for word", file=sys.stderr)
        return digest.hexdigest()

    def _record(self, position: int, line: bytes) -> dict[str, Any]:
        record = record_of(line, self.path, self._lines[position])
        key = "image_path" if self.of_images else "contents"
        if not isinstance(record.get(key), str):
            raise CorpusError(f"{self.path}:{self._lines[position]}: {self._lacking(record, key)}")
        if self.of_images:
            try:
                record["contents"] = self._image(record[key])
            except CorpusError as error:
                raise CorpusError(f"{self.path}:{self._lines[position]}: {error}") from error
        return record

    def _lacking(self, record: Mapping[str, Any], key: str) -> str:
        if key in record:
            return f"`{key}` must be text; found {type(record[key]).__name__}"
        other = "contents" if self.of_images else "image_path"
        setting = f"retriever.is_multimodal: {str(not self.of_images).lower()}"
        hint = f"; a corpus like this needs {setting}" if other in record else ""
        return f"a passage needs the key `{key}`; found: {', '.join(record) or 'none'}{hint}"

    def _image(self, given: str) -> str:
        """The absolute path of an image. Raises ``CorpusError``."""
        home = self.path.resolve().parent
        image = home / given
        if not image.is_file():
            raise CorpusError(f"{image}: there is no such image")
        # A model's server may be elsewhere: a corpus can't have other files of the user's sent to it.
        if not image.resolve().is_relative_to(home) and not may_be_shown(image):
            raise CorpusError(f"{image}: an image must lie beside the corpus, or in the project folder")
        if not (mimetypes.guess_type(image.name)[0] or "").startswith("image/"):
            raise CorpusError(f"{image}: by its name this is no image")
        return str(image)


def passage_id(record: Mapping[str, Any], position: int) -> str:
    """The record's own id as text, else its position."""
    own = record.get("id")
    return str(position if own is None else own)


def _line_spans(file: BinaryIO) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Where the lines that hold something start and end in bytes (lines x 2), and their numbers from 1."""
    import numpy as np

    ends: list[np.ndarray[Any, Any]] = []
    first = len(_BOM) if file.read(len(_BOM)) == _BOM else 0
    at = file.seek(0)
    while block := file.read(_BLOCK):
        ends.append(np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n")) + at)
        at += len(block)
    stops = np.concatenate([*ends, [at]]).astype(np.int64)
    starts = np.concatenate([[first], stops[:-1] + 1])
    # A passage has at least {"contents":""}: what is shorter may be blank.
    short = np.flatnonzero(stops - starts < len('{"contents":""}'))
    blank = [n for n in short.tolist() if _is_blank(file, int(starts[n]), int(stops[n]))]
    spans = np.delete(np.stack([starts, stops], axis=1), blank, axis=0)
    return spans, np.delete(np.arange(1, len(stops) + 1), blank)


def _is_blank(file: BinaryIO, start: int, end: int) -> bool:
    file.seek(start)
    return not file.read(max(0, end - start)).strip()
