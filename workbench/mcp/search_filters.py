"""What a search filter may say: one rule for the server that searches and for those that write filters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

COMPARISONS = ("gt", "gte", "lt", "lte")
OPERATORS = ("eq", "ne", "in", "not_in", *COMPARISONS)


def conditions_of(given: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    """``{"lang": "en", "kind": ["a", "b"], "year": {"gte": 1990}}`` as key, operator and value of each condition.

    Raises ``ValueError`` that begins with the key, for what no record can be compared with.
    """
    found: list[tuple[str, str, Any]] = []
    for key, value in given.items():
        if isinstance(value, Mapping):
            for name, inner in value.items():
                if name not in OPERATORS:
                    raise ValueError(f"{key}: unknown operator {name!r}; use {', '.join(OPERATORS)}")
                _check(f"{key}.{name}", name, inner)
                found.append((str(key), str(name), inner))
        else:
            short = "in" if isinstance(value, list) else "eq"
            _check(str(key), short, value)
            found.append((str(key), short, value))
    return found


def is_number(value: Any) -> bool:
    """Whether it is one that can be more or less than another: true, NaN and infinity are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and _is_plain(value)


def _check(place: str, name: str, value: Any) -> None:
    """Raises ``ValueError`` for a value that no record's key can be compared with in this way."""
    if name in ("in", "not_in"):
        wanted, fits = "a list of texts, numbers, true or false", isinstance(value, list) and all(map(_is_plain, value))
    elif name in COMPARISONS:
        wanted, fits = "a number or text", isinstance(value, str) or is_number(value)
    else:
        wanted, fits = "a text, a number, true or false", _is_plain(value)
    if not fits:
        raise ValueError(f"{place} must be {wanted}; found {value!r}"[:200])


def _is_plain(value: Any) -> bool:
    return math.isfinite(value) if isinstance(value, float) else isinstance(value, str | int)
