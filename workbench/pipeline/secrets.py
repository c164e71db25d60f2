"""Which texts are secrets: found by the names they go under."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

_SECRET_NAME = re.compile(
    r"(^|[_\-. ])(api_?-?key|access_?key|secret_?key|secret|password|passwd|(auth|access|bearer)_?token|token|"
    r"authorization|credentials?)$",
    re.IGNORECASE,
)
_PASSWORD_IN_URL = re.compile(r"\w://[^/\s:@]*:([^/\s@]+)@")
_SCHEME = re.compile(r"^(?:Bearer|Basic|Token) ", re.IGNORECASE)
_SHORTEST = 6
"""Shorter values would be found everywhere by accident."""
_SHORTEST_OF_ENVIRONMENT = 12


def is_secret_name(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def secrets_in(name: str, value: Any) -> Iterator[str]:
    """The secrets in the value that goes under a name, at any depth."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from secrets_in(str(key), inner)
    elif isinstance(value, list):
        for inner in value:
            yield from secrets_in(name, inner)
    elif isinstance(value, str):
        if len(value) >= _SHORTEST and is_secret_name(name):
            yield bare(value)
        yield from (password for password in _PASSWORD_IN_URL.findall(value) if len(password) >= _SHORTEST)


def secrets_of_environment() -> Iterator[str]:
    """Those of ragwb's own environment, which its servers share."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_OF_ENVIRONMENT and is_secret_name(name):
            yield value


def bare(value: str) -> str:
    """The secret in the value of a header: without `Bearer` and the like."""
    return _SCHEME.sub("", value, count=1)


def long_enough(value: str) -> bool:
    return len(value) >= _SHORTEST
