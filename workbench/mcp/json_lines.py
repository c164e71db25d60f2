"""JSON Lines that servers read and write: the place of every mistake, and files that are whole or not there."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
from fastmcp.exceptions import ToolError

_HALF = re.compile("[\ud800-\udfff]")
_BOM = b"\xef\xbb\xbf"


def read_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Records with their lines, counted from 1; blank lines and a byte order mark are fine. Raises ``ToolError``."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            own = line.removeprefix(_BOM) if number == 1 else line
            if own.strip():
                yield number, record_of(own, path, number)


def record_of(line: bytes, path: Path, number: int) -> dict[str, Any]:
    """The record of one line of a file. Raises ``ToolError`` that begins with the place."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        record = _loaded_slowly(line, f"{path}:{number}")
    if not isinstance(record, dict):
        found = type(record).__name__
        raise ToolError(f"{path}:{number}: a record must be a mapping {{...}}; found {found}")
    return record


def _loaded_slowly(line: bytes, place: str) -> Any:
    """What the fast reader refuses: NaN, which is allowed, and mistakes, which are told."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise ToolError(f"{place}: not UTF-8 ({error.reason}); save the file as UTF-8") from error
    try:
        return without_halves(json.loads(text), place)
    except json.JSONDecodeError as error:
        start = text.strip()[:60]
        raise ToolError(f"{place}: not JSON ({error.msg} at column {error.colno}): {start}") from error
    except RecursionError as error:
        raise ToolError(f"{place}: its lists lie too deep in each other to be read") from error


def without_halves(value: Any, place: str) -> Any:
    """The value, if all its texts can be written again. Raises ``ToolError`` for half a character of UTF-16."""
    half = _HALF.search(json.dumps(value, ensure_ascii=False))
    if half is not None:
        raise ToolError(
            f"{place}: \\u{ord(half[0]):04x} is half a character (a lone surrogate), which no text file can hold; "
            "take it out"
        )
    return value


def write_whole(path: Path, write: Callable[[Path], Any]) -> None:
    """Let ``write`` make a file under another name, and put it in its place when it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = _part_of(path)
    try:
        write(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


class WholeFile:
    """A JSON Lines file that appears under its name when it is finished, and not if it isn't."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        """Records written so far."""

    def __enter__(self) -> WholeFile:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._part = _part_of(self.path)
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


def _part_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.part")
