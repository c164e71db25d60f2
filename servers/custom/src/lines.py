"""Lists that a model wrote as text: queries, questions, filters."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from workbench.mcp.search_filters import conditions_of

_MARK = re.compile(r"^\s*(?:[-*•·]|\(?\d{1,3}[.):、）]|[Qq]\d{1,2}[.:])\s*")
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


def lines_of(text: str, most: int) -> list[str]:
    """The lines of a text, or the texts of a JSON list: without bullets and numbers, each once, the first ``most``."""
    found = _json_texts(text)
    lines = found if found is not None else [_MARK.sub("", line) for line in text.splitlines()]
    kept = (line.strip().strip('"“”').strip() for line in lines)
    return list(dict.fromkeys(line for line in kept if line))[:most]


def filter_of(text: str, keys: Collection[str]) -> tuple[dict[str, Any], list[str]]:
    """The search filter in a text: the JSON object in it, of which what is under other keys is left out and named.

    Raises ``ValueError`` where there is none, or one that a search would refuse.
    """
    found = _OBJECT.search(text)
    if found is None:
        raise ValueError("no JSON object")
    try:
        given = json.loads(found[0])
    except RecursionError as error:
        raise ValueError("its JSON lies too deep") from error
    kept = {key: value for key, value in given.items() if key in keys and value not in (None, "", [], {})}
    conditions_of(kept)
    return kept, [key for key in given if key not in keys]


def _json_texts(text: str) -> list[str] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) and all(isinstance(one, str) for one in found) else None
