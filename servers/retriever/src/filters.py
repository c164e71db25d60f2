"""Filters on metadata: which passages a search may find, by the other keys of their records."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastmcp.exceptions import ToolError

from workbench.mcp.search_filters import conditions_of, is_number

COMPARISONS = {"gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le}


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
        both_numbers = is_number(own) and is_number(self.value)
        if not both_numbers and not (isinstance(own, str) and isinstance(self.value, str)):
            return False
        return bool(COMPARISONS[self.operator](own, self.value))


Where = tuple[Condition, ...]
"""All of them must hold; none: every passage."""


def read_filter(given: Mapping[str, Any] | None) -> Where:
    """``{"lang": "en", "kind": ["a", "b"], "year": {"gte": 1990, "lt": 2000}}``. Raises ``ToolError``."""
    try:
        return tuple(Condition(key, name, _fixed(value)) for key, name, value in conditions_of(given or {}))
    except ValueError as error:
        raise ToolError(f"retriever.search_filter.{error}") from error


def matches(record: Mapping[str, Any], where: Sequence[Condition]) -> bool:
    """Whether a record meets all conditions."""
    return all(condition.holds(record) for condition in where)


def _fixed(value: Any) -> Any:
    """Conditions are keys of a cache."""
    return tuple(value) if isinstance(value, list) else value
