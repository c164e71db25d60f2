"""JSON Lines: read with the place of every mistake, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
from fastmcp.exceptions import ToolError


def read_records(path: Path, key: str, parameter: str) -> Iterator[dict[str, Any]]:
    """Records that have ``key``; blank lines and a byte order mark are fine. Raises ``ToolError`` with the line."""
    if not path.is_file():
        raise ToolError(f"{path}: there is no such file (corpus.{parameter}); build_text_corpus makes one")
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if not text.strip():
                continue
            try:
                record = orjson.loads(text)
            except orjson.JSONDecodeError as error:
                start = text.decode("utf-8", "replace").strip()[:60]
                raise ToolError(f"{path}:{number}: not JSON ({error.msg}): {start}") from error
            if not isinstance(record, dict) or key not in record:
                raise ToolError(f"{path}:{number}: a record needs the key `{key}`")
            yield record


class WholeFile:
    """A JSON Lines file that appears under its name when it is finished, and not if it isn't."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        """Records written so far."""

    def __enter__(self) -> WholeFile:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._part = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        self._file = self._part.open("wb")
        return self

    def write(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Add records, a line each."""
        for record in records:
            self._file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
            self.count += 1

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        if kind is None:
            self._part.replace(self.path)
        else:
            self._part.unlink(missing_ok=True)
