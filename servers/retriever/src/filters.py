"""Filters on metadata: which passages a search may find, by the other keys of their records."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastmcp.exceptions import ToolError

COMPARISONS = {"gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le}
OPERATORS = ("eq", "ne", "in", "not_in", *COMPARISONS)


@dataclass(frozen=True)
class Condition:
    """``year gte 1990``. ``in`` and ``not_in`` have a tuple of values."""

    key: str
    operator: str
    value: Any

    def holds(self, record: Mapping[str, Any]) -> bool:
        """Whether a record meets it; a key that is missing meets only ``ne`` and ``not_in``.

        A key that holds a list meets ``eq`` and ``in`` if one of its entries does.
        """
        own = record.get(self.key)
        owns = own if isinstance(own, list) else [own]
        match self.operator:
            case "eq":
                return self.value in owns
            case "ne":
                return self.value not in owns
            case "in":
                return any(one in self.value for one in owns)
            case "not_in":
                return not any(one in self.value for one in owns)
        return any(self._compares(one) for one in owns)

    def _compares(self, own: Any) -> bool:
        both_numbers = _is_number(own) and _is_number(self.value)
        if not both_numbers and not (isinstance(own, str) and isinstance(self.value, str)):
            return False
        return bool(COMPARISONS[self.operator](own, self.value))


Where = tuple[Condition, ...]
"""All of them must hold; none: every passage."""


def read_filter(given: Mapping[str, Any] | None) -> Where:
    """``{"lang": "en", "kind": ["a", "b"], "year": {"gte": 1990, "lt": 2000}}``. Raises ``ToolError``."""
    conditions: list[Condition] = []
    for key, value in (given or {}).items():
        if isinstance(value, Mapping):
            for name, inner in value.items():
                if name not in OPERATORS:
                    raise ToolError(
                        f"retriever.search_filter.{key}: unknown operator {name!r}; use {', '.join(OPERATORS)}"
                    )
                _check(f"{key}.{name}", name, inner)
                conditions.append(Condition(str(key), str(name), _fixed(inner)))
        else:
            short = "in" if isinstance(value, list) else "eq"
            _check(str(key), short, value)
            conditions.append(Condition(str(key), short, _fixed(value)))
    return tuple(conditions)


def matches(record: Mapping[str, Any], where: Sequence[Condition]) -> bool:
    """Whether a record meets all conditions."""
    return all(condition.holds(record) for condition in where)


def _check(place: str, name: str, value: Any) -> None:
    """Raises ``ToolError`` for a value that no record's key can be compared with in this way."""
    if name in ("in", "not_in"):
        wanted, fits = "a list of texts, numbers, true or false", isinstance(value, list) and all(map(_is_plain, value))
    elif name in COMPARISONS:
        wanted, fits = "a number or text", isinstance(value, str) or _is_number(value)
    else:
        wanted, fits = "a text, a number, true or false", _is_plain(value)
    if not fits:
        raise ToolError(f"retriever.search_filter.{place} must be {wanted}; found {value!r}")


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _fixed(value: Any) -> Any:
    """Conditions are keys of a cache."""
    return tuple(value) if isinstance(value, list) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
