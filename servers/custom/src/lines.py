"""Lists that a model wrote as text: queries, questions, filters."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

_MARK = re.compile(r"^\s*(?:[-*•·]|\(?\d{1,3}[.):、）]|[Qq]\d{1,2}[.:])\s*")
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_COMPARISONS = ("gt", "gte", "lt", "lte", "eq", "ne", "in", "not_in")


def lines_of(text: str, most: int) -> list[str]:
    """The lines of a text, or the texts of a JSON list: without bullets and numbers, each once, the first ``most``."""
    found = _json_texts(text)
    lines = found if found is not None else [_MARK.sub("", line) for line in text.splitlines()]
    kept = (line.strip().strip('"“”').strip() for line in lines)
    return list(dict.fromkeys(line for line in kept if line))[:most]


def filter_of(text: str, keys: Collection[str]) -> dict[str, Any]:
    """The search filter in a text: the JSON object in it, of which what is under other keys is left out.

    Raises ``ValueError`` where there is none, or a value is no filter's.
    """
    found = _OBJECT.search(text)
    if found is None:
        raise ValueError("no JSON object")
    given = json.loads(found[0])
    kept = {key: value for key, value in given.items() if key in keys and value not in (None, "", [], {})}
    for key, value in kept.items():
        if not _is_condition(value):
            raise ValueError(f"{key} can't be {json.dumps(value, ensure_ascii=False)[:60]}")
    return kept


def _json_texts(text: str) -> list[str] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, list) and all(isinstance(one, str) for one in found) else None


def _is_condition(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(name in _COMPARISONS and _is_condition(inner) for name, inner in value.items())
    return all(isinstance(one, str | int | float) for one in (value if isinstance(value, list) else [value]))
