"""Questions and gold answers from a file, as item lists."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark_rows import Row, RowsError, read_rows
from fastmcp.exceptions import ToolError

from workbench.mcp.kit import ToolServer, find_file

app = ToolServer("benchmark")

GOLD = "gt_ls"


@app.tool(output="benchmark->q_ls,gt_ls", outputs_from="benchmark.key_map")
def get_data(benchmark: dict[str, Any]) -> dict[str, list[Any]]:
    """Read a data set; gives one item list per entry of ``key_map``, all of one length."""
    key_map = checked_key_map(benchmark)
    limit = checked_limit(benchmark)
    path = benchmark.get("path")
    if not isinstance(path, str) or not path:
        raise ToolError(f"benchmark.path must name a .jsonl, .json or .parquet file; found {path!r}")
    try:
        rows = read_rows(Path(find_file(path)))
    except RowsError as error:
        raise ToolError(str(error)) from error
    check_keys(path, rows, key_map)
    chosen = choose(rows, bool(benchmark.get("shuffle", False)), benchmark.get("seed", 42), limit)
    return {alias: column(alias, key, chosen) for alias, key in key_map.items()}


def checked_key_map(benchmark: Mapping[str, Any]) -> dict[str, str]:
    """``key_map`` (variable -> key of a record), or a ``ToolError`` that says what it should be."""
    key_map = benchmark.get("key_map")
    if not isinstance(key_map, Mapping) or not key_map or not all(isinstance(key, str) for key in key_map.values()):
        raise ToolError(
            "benchmark.key_map must map at least one variable to a key of the records, "
            f"e.g. {{q_ls: question, gt_ls: golden_answers}}; found {key_map!r}"
        )
    return {str(alias): key for alias, key in key_map.items()}


def checked_limit(benchmark: Mapping[str, Any]) -> int:
    """``limit``: how many records to take, -1 for all."""
    limit = benchmark.get("limit", -1)
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < -1 or limit == 0:
        raise ToolError(f"benchmark.limit must be a whole number above 0, or -1 for all records; found {limit!r}")
    return limit


def check_keys(path: str, rows: Sequence[Row], key_map: Mapping[str, str]) -> None:
    """Every record must have every key: a column with gaps would pair questions with others' answers."""
    if not rows:
        raise ToolError(f"{path} holds no records: there is nothing to run")
    for alias, key in key_map.items():
        if not any(key in row.record for row in rows):
            there = ", ".join(f"`{name}`" for name in dict.fromkeys(name for row in rows for name in row.record))
            raise ToolError(f"{path}: no record has the key `{key}` (key_map.{alias}). The keys there are: {there}")
    gaps = [f"{row.place} has no `{key}`" for row in rows for key in key_map.values() if key not in row.record]
    if gaps:
        shown = "; ".join(gaps[:10]) + (f"; and {len(gaps) - 10} more" if len(gaps) > 10 else "")
        raise ToolError(f"{path}: {shown}. Add the keys, or take these records out: nothing was used")


def choose(rows: Sequence[Row], shuffle: bool, seed: Any, limit: int) -> list[Row]:
    """Shuffle first, then limit; whole records, so that columns stay paired."""
    order = list(range(len(rows)))
    if shuffle:
        random.Random(seed).shuffle(order)
    return [rows[index] for index in (order if limit == -1 else order[:limit])]


def column(alias: str, key: str, rows: Sequence[Row]) -> list[Any]:
    """One value per record. Golds become lists of texts, whatever they were: text, number, list or null."""
    values = [row.record[key] for row in rows]
    return [as_golds(value) for value in values] if alias == GOLD else values


def as_golds(value: Any) -> list[str]:
    """``"Paris"`` -> ``["Paris"]``, ``1972`` -> ``["1972"]``, null -> ``[]``."""
    if value is None:
        return []
    return [str(gold) for gold in value] if isinstance(value, list) else [str(value)]


if __name__ == "__main__":
    app.run(transport="stdio")
