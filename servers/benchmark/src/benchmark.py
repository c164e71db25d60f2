"""Questions and gold answers from a file, as item lists."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark_rows import READERS, Row, RowsError, read_rows
from fastmcp.exceptions import ToolError

from workbench.mcp.kit import MarkedResult, ToolServer, find_file

app = ToolServer("benchmark")

QUESTION, GOLD = "q_ls", "gt_ls"
NAMED = 10
"""How many records a message names."""


@app.tool(output="benchmark->q_ls,gt_ls", outputs_from="benchmark.key_map")
def get_data(benchmark: dict[str, Any]) -> MarkedResult:
    """Read a data set, or take the typed ``questions``: one item list per entry of ``key_map``, all of one length."""
    key_map = checked_key_map(benchmark)
    limit = checked_limit(benchmark)
    typed = benchmark.get("questions")
    rows, warnings = ([*typed_rows(typed, key_map)], []) if typed else file_rows(benchmark, key_map)
    chosen = choose(rows, checked_shuffle(benchmark), benchmark.get("seed", 42), limit)
    columns = {alias: column(alias, key, chosen) for alias, key in key_map.items()}
    if not typed:
        warnings += without_gold(chosen, columns.get(GOLD, ()))
    return MarkedResult(columns, warnings=warnings)


def typed_rows(questions: Any, key_map: Mapping[str, str]) -> Iterator[Row]:
    """A record for each typed question, with nothing else in it."""
    if not isinstance(questions, list) or not all(isinstance(question, str) for question in questions):
        raise ToolError(f"benchmark.questions must be a list of texts; found {questions!r}")
    if QUESTION not in key_map:
        raise ToolError(f"benchmark.key_map has no {QUESTION}, so a typed question leads nowhere: {dict(key_map)}")
    for number, question in enumerate(questions, start=1):
        yield Row(f"question {number}", {**dict.fromkeys(key_map.values()), key_map[QUESTION]: question})


def file_rows(benchmark: Mapping[str, Any], key_map: Mapping[str, str]) -> tuple[list[Row], list[str]]:
    """The records of the file, and what is odd about them."""
    path = benchmark.get("path")
    if not isinstance(path, str) or not path:
        raise ToolError(f"benchmark.path must name a {', '.join(READERS)} file; found {path!r}")
    missing = benchmark.get("missing", "fail")
    if missing not in ("fail", "skip"):
        raise ToolError(f"benchmark.missing is fail or skip, not {missing!r}")
    try:
        rows = read_rows(Path(find_file(path)))
    except RowsError as error:
        raise ToolError(str(error)) from error
    gaps = found_gaps(path, rows, key_map)
    if gaps and missing == "fail":
        raise ToolError(
            f"{path}: {listed(gaps)}. Add the keys, take these records out, or set benchmark.missing: skip; "
            "nothing was used"
        )
    whole = [row for row in rows if not lacking(row, key_map)]
    return whole, [f"{path}: {len(rows) - len(whole)} records were left out: {listed(gaps)}"] if gaps else []


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


def checked_shuffle(benchmark: Mapping[str, Any]) -> bool:
    """``shuffle``: true or false; a text such as "no" is neither."""
    shuffle = benchmark.get("shuffle", False)
    if not isinstance(shuffle, bool):
        raise ToolError(f"benchmark.shuffle must be true or false; found {shuffle!r}")
    return shuffle


def found_gaps(path: str, rows: Sequence[Row], key_map: Mapping[str, str]) -> list[str]:
    """Which record lacks which key: a column with gaps would pair questions with others' answers.

    Raises ``ToolError`` where there are no records, or none with the key.
    """
    if not rows:
        raise ToolError(f"{path} holds no records: there is nothing to run")
    for alias, key in key_map.items():
        if not any(key in row.record for row in rows):
            there = ", ".join(f"`{name}`" for name in dict.fromkeys(name for row in rows for name in row.record))
            raise ToolError(f"{path}: no record has the key `{key}` (key_map.{alias}). The keys there are: {there}")
    return [
        f"{row.place} has no `{key}`" if key not in row.record else f"{row.place} has null as `{key}`"
        for row in rows
        for key in lacking(row, key_map)
    ]


def lacking(row: Row, key_map: Mapping[str, str]) -> list[str]:
    """The keys that a record has not. Null is no question; elsewhere it is a value."""
    return [
        key
        for alias, key in key_map.items()
        if key not in row.record or (row.record[key] is None and alias == QUESTION)
    ]


def without_gold(rows: Sequence[Row], golds: Sequence[Sequence[str]]) -> list[str]:
    """A warning where records have no gold answer: they can't be right."""
    places = [row.place for row, gold in zip(rows, golds, strict=False) if not gold]
    return [f"no gold answer in {listed(places)}"] if places else []


def listed(places: Sequence[str]) -> str:
    more = f"; and {len(places) - NAMED} more" if len(places) > NAMED else ""
    return "; ".join(places[:NAMED]) + more


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
