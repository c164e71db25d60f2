"""The corpus: passages from a JSON Lines file, and a fingerprint that tells one corpus from another."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class CorpusError(Exception):
    """The corpus can't be used. ``str()`` names the file, the line and the way out."""


@dataclass(frozen=True)
class Corpus:
    """Passages in the order of the file; an index refers to them by position."""

    path: Path
    texts: list[str]

    @property
    def fingerprint(self) -> str:
        """A hash of all passages in order."""
        return fingerprint(self.texts)


def read_corpus(path: Path) -> Corpus:
    """Read ``{"contents": ...}`` a line; blank lines, a byte order mark and CRLF are fine.

    Raises ``CorpusError``.
    """
    if not path.is_file():
        raise CorpusError(f"{path}: there is no such corpus (retriever.corpus_path)")
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise CorpusError(f"{path}:{line}: not UTF-8 ({error.reason}); save the file as UTF-8") from error
    texts = [_contents(line, f"{path}:{number}") for number, line in enumerate(lines, start=1) if line.strip()]
    if not texts:
        raise CorpusError(f"{path}: the corpus holds no passages")
    return Corpus(path, texts)


def fingerprint(texts: Sequence[str]) -> str:
    """A hash of texts in order."""
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        encoded = text.encode()
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()


def _contents(line: str, place: str) -> str:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        message = f"{place}: not JSON ({error.msg} at column {error.colno}): {line.strip()[:60]}"
        raise CorpusError(message) from error
    if not isinstance(record, dict) or "contents" not in record:
        keys = ", ".join(record) if isinstance(record, dict) else type(record).__name__
        raise CorpusError(f"{place}: a passage needs the key `contents`; found: {keys}")
    if not isinstance(record["contents"], str):
        raise CorpusError(f"{place}: `contents` must be text; found {type(record['contents']).__name__}")
    return record["contents"]
