"""``${NAME}`` in parameter files and server entries: the environment, then a ``.env`` in the project folder."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_PLACEHOLDER = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Environment:
    """Where the values of ``${NAME}`` come from; ``.env`` is read when it is first needed."""

    def __init__(self, project: Path) -> None:
        self._file = project / ".env"
        self._names: Mapping[str, str | None] | None = None

    def expanded(self, value: Any) -> tuple[Any, tuple[str, ...]]:
        """The value with every ``${NAME}`` replaced, and the names that are not set."""
        missing: list[str] = []
        return self._expanded(value, missing), tuple(missing)

    def named_in(self, text: str) -> dict[str, str]:
        """The names in a text that are set, with their values."""
        names = {match[1] for match in _PLACEHOLDER.finditer(text) if match[1]}
        return {name: value for name in names if (value := self._value(name)) is not None}

    def _expanded(self, value: Any, missing: list[str]) -> Any:
        if isinstance(value, str):
            return _PLACEHOLDER.sub(lambda match: self._replacement(match, missing), value) if "$" in value else value
        if isinstance(value, list):
            return [self._expanded(entry, missing) for entry in value]
        if isinstance(value, dict):
            return {key: self._expanded(entry, missing) for key, entry in value.items()}
        return value

    def _replacement(self, match: re.Match[str], missing: list[str]) -> str:
        name = match[1]
        if name is None:
            return "$"
        found = self._value(name)
        if found is None:
            missing.append(name)
            return match[0]
        return found

    def _value(self, name: str) -> str | None:
        found = os.environ.get(name)
        return found if found is not None else self._from_file().get(name)

    def _from_file(self) -> Mapping[str, str | None]:
        if self._names is None:
            from dotenv import dotenv_values

            self._names = dotenv_values(self._file, interpolate=False) if self._file.is_file() else {}
        return self._names
