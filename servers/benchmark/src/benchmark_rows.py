"""Records from JSON Lines, JSON and Parquet files, each with its place for messages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class RowsError(Exception):
    """A data file can't be used. ``str()`` names the file, the line and the way out."""


@dataclass(frozen=True)
class Row:
    """One record. ``place`` is ``line 3`` (counted with blank lines) or ``record 3``, both from 1."""

    place: str
    record: dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """All records of a file, by its suffix. Raises ``RowsError``."""
    readers = {".jsonl": _json_lines, ".json": _json_list, ".parquet": _parquet}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise RowsError(f"{path}: {path.suffix or 'a file without suffix'} is not read; use {', '.join(readers)}")
    if not path.is_file():
        raise RowsError(f"{path}: there is no such file (benchmark.path)")
    return reader(path)


def _json_lines(path: Path) -> list[Row]:
    # Split at "\n" only: str.splitlines would also cut inside texts that hold U+2028 and its like.
    rows = []
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise RowsError(
                f"{path}:{number}: not JSON ({error.msg} at column {error.colno}): {line.strip()[:60]}"
            ) from error
        rows.append(Row(f"line {number}", _record(value, f"{path}:{number}")))
    return rows


def _json_list(path: Path) -> list[Row]:
    try:
        values = json.loads(_text(path))
    except json.JSONDecodeError as error:
        hint = " If it holds one record a line, name it .jsonl." if error.msg == "Extra data" else ""
        raise RowsError(f"{path}:{error.lineno}: not JSON ({error.msg} at column {error.colno}).{hint}") from error
    if not isinstance(values, list):
        raise RowsError(f"{path}: holds one {type(values).__name__}; a list of records is needed: [{{...}}, ...]")
    return [Row(f"record {n}", _record(value, f"{path}, record {n}")) for n, value in enumerate(values, start=1)]


def _parquet(path: Path) -> list[Row]:
    try:
        from pyarrow import parquet  # type: ignore[import-not-found]
    except ImportError as error:
        raise RowsError(f"{path}: Parquet files need pyarrow: pip install pyarrow, or save it as .jsonl") from error
    return [Row(f"record {n}", record) for n, record in enumerate(parquet.read_table(path).to_pylist(), start=1)]


def _text(path: Path) -> str:
    """The file's text without the byte order mark that Windows tools write."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise RowsError(f"{path}:{line}: not UTF-8 ({error.reason}); save the file as UTF-8") from error


def _record(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RowsError(f"{place}: a record must be a mapping {{...}}; found {type(value).__name__}")
    return value
