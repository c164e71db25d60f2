"""Records from JSON Lines, JSON, CSV and Parquet files, each with its place for messages."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastmcp.exceptions import ToolError

from workbench.mcp.json_lines import without_halves

csv.field_size_limit(2**31 - 1)  # a cell may hold a document; Python takes 131,072 characters as a rule


class RowsError(Exception):
    """A data file can't be used. ``str()`` names the file, the line and the way out."""


@dataclass(frozen=True)
class Row:
    """One record. ``place`` is ``line 3`` (counted with blank lines) or ``record 3``, both from 1."""

    place: str
    record: dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """All records of a file, by its suffix. Raises ``RowsError``."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise RowsError(f"{path}: {path.suffix or 'a file without suffix'} is not read; use {', '.join(READERS)}")
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
            value = _loaded(line, f"{path}:{number}")
        except json.JSONDecodeError as error:
            raise RowsError(
                f"{path}:{number}: not JSON ({error.msg} at column {error.colno}): {line.strip()[:60]}"
            ) from error
        rows.append(Row(f"line {number}", _record(value, f"{path}:{number}")))
    return rows


def _json_list(path: Path) -> list[Row]:
    try:
        values = _loaded(_text(path), str(path))
    except json.JSONDecodeError as error:
        hint = " If it holds one record a line, name it .jsonl." if error.msg == "Extra data" else ""
        raise RowsError(f"{path}:{error.lineno}: not JSON ({error.msg} at column {error.colno}).{hint}") from error
    if not isinstance(values, list):
        raise RowsError(f"{path}: holds one {type(values).__name__}; a list of records is needed: [{{...}}, ...]")
    return [Row(f"record {n}", _record(value, f"{path}, record {n}")) for n, value in enumerate(values, start=1)]


def _loaded(text: str, place: str) -> Any:
    """JSON of which every text can be written again. Raises ``RowsError`` and ``json.JSONDecodeError``."""
    try:
        return without_halves(json.loads(text), place)
    except RecursionError as error:
        raise RowsError(f"{place}: its lists lie too deep in each other to be read") from error
    except ToolError as error:
        raise RowsError(str(error)) from error


def _csv(path: Path) -> list[Row]:
    """The first line has the names. A cell that holds a JSON list is one, as golds often are; all others are text."""
    records = _csv_records(path)
    _, first = next(records, (1, []))
    names = [name.strip() for name in first]
    if len(set(names)) < len(names):
        raise RowsError(f"{path}:1: two columns have the same name: {', '.join(names)}")
    rows = []
    for line, cells in records:
        if len(cells) > len(names):
            raise RowsError(f"{path}:{line}: {len(cells)} cells, and the first line names {len(names)} columns")
        if any(cell.strip() for cell in cells):
            rows.append(Row(f"line {line}", dict(zip(names, map(_cell, cells), strict=False))))
    return rows


def _csv_records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Each with the line on which it begins."""
    reader = csv.reader(io.StringIO(_text(path), newline=""), delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
    line = 1
    try:
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise RowsError(f"{path}:{line}: not CSV ({error})") from error


def _cell(text: str) -> Any:
    if text.lstrip().startswith("["):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return text
        if isinstance(value, list):
            return value
    return text


def _parquet(path: Path) -> list[Row]:
    try:
        from pyarrow import ArrowException, parquet  # type: ignore[import-not-found]
    except ImportError as error:
        raise RowsError(f"{path}: Parquet files need pyarrow: pip install pyarrow, or save it as .jsonl") from error
    try:
        records = parquet.read_table(path).to_pylist()
    except (ArrowException, OSError) as error:
        raise RowsError(f"{path}: it can't be read as Parquet: {error}") from error
    return [Row(f"record {n}", _plain(record)) for n, record in enumerate(records, start=1)]


def _plain(value: Any) -> Any:
    """A value as JSON has it: what is not a number is null, dates and other things are their text."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)


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


READERS = {".jsonl": _json_lines, ".json": _json_list, ".csv": _csv, ".tsv": _csv, ".parquet": _parquet}
"""Suffix -> what reads it."""
