"""Reads memory files in every shape that the dialect's own viewer accepts, without inventing anything."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.cases.saved_run import RunUnreadable, SavedRun, SavedVisit, counted

WRAPPERS = ("cases", "data", "items", "dataset", "results", "records", "list")


def read_runs(file: Path) -> list[SavedRun]:
    """All runs in a file, read whole; a memory file holds one. Raises ``RunUnreadable``."""
    cases = list(_cases(file, _content(file)))
    if not cases:
        raise RunUnreadable(f"{file}: no saved run in it")
    return [_run(file, case, place) for place, case in enumerate(cases, 1)]


def _content(file: Path) -> Any:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise RunUnreadable(f"{file}: not a text file in UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise RunUnreadable(f"{file}: can't be read: {error.strerror or error}") from None
    if file.suffix == ".jsonl" or _has_lines(text):
        lines = ((number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip())
        return [_json(f"{file}:{number}", line) for number, line in lines]
    return _json(str(file), text)


def _has_lines(text: str) -> bool:
    """Whether a text is JSON Lines: its first line is a whole value, and another one follows."""
    first, _, rest = text.strip().partition("\n")
    if not rest.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def _json(place: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = f":{error.lineno}" if "\n" in text.strip() or not place.rpartition(":")[2].isdigit() else ""
        raise RunUnreadable(f"{place}{line}:{error.colno}: not valid JSON: {error.msg}") from None
    except RecursionError:
        raise RunUnreadable(f"{place}: nested too deeply to be read") from None
    except ValueError:
        raise RunUnreadable(f"{place}: a number in it has too many digits to be read") from None


def _cases(file: Path, content: Any) -> Iterator[list[Any]]:
    """The cases in any of the accepted shapes: a case, ``{steps: case}``, a list of them, or one wrapped in a key."""
    if isinstance(content, Mapping):
        for key in ("steps", "case"):
            if isinstance(content.get(key), list):
                yield content[key]
                return
        for key in WRAPPERS:
            if key in content:
                yield from _cases(file, content[key])
                return
        raise RunUnreadable(f"{file}: no saved run: a map with none of steps, case, {', '.join(WRAPPERS)}")
    if not isinstance(content, list):
        raise RunUnreadable(f"{file}: no saved run: a memory file is a list of {{step, memory}}")
    if all(isinstance(entry, Mapping) and "step" in entry for entry in content):
        yield content
        return
    for entry in content:
        yield from _cases(file, entry)


def _run(file: Path, case: list[Any], place: int) -> SavedRun:
    visits = tuple(_visit(file, number, entry) for number, entry in enumerate(case, 1))
    counted_by, count = counted(visits)
    return SavedRun(file, visits, count, counted_by, place=place)


def _visit(file: Path, number: int, entry: Any) -> SavedVisit:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("step"), str):
        raise RunUnreadable(f"{file}: entry {number} is no visit: it needs `step` (a text) and `memory` (a map)")
    memory = entry.get("memory") or {}
    if not isinstance(memory, Mapping):
        raise RunUnreadable(f"{file}: `memory` of entry {number} ({entry['step']}) must be a map")
    saved = {name.removeprefix("memory_"): value for name, value in memory.items()}
    return SavedVisit(number, entry["step"], saved)
