"""A backend's part of ``backend_configs``, each setting taken for what it must be, or named."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from answer import GenerationError

from workbench.mcp.json_http import Retries

PARAMETER = "generation.backend_configs"


def part_of(backend_configs: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The part of a backend, or what holds for all. Raises ``GenerationError`` for what is no map."""
    part = backend_configs.get(name)
    if part is None:
        return {}
    if not isinstance(part, Mapping):
        raise GenerationError(f"{PARAMETER}.{name} is a map of settings, not {part!r}")
    return part


def positive(value: Any) -> float | None:
    """A finite number above 0, also one in quotation marks; None for anything else."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and number > 0 else None


class Served:
    """The settings of a model that is reached over HTTP. What is null or empty is as usual."""

    def __init__(self, backend: str, configs: Mapping[str, Any]) -> None:
        self.backend = backend
        self._configs = configs

    @property
    def model(self) -> str:
        """Raises ``GenerationError`` where none is named."""
        name = self._configs.get("model_name")
        if not name:
            raise GenerationError(f"the backend {self.backend} needs {PARAMETER}.{self.backend}.model_name")
        return str(name)

    @property
    def concurrency(self) -> int:
        return self.count("concurrency", 1)

    @property
    def timeout(self) -> float:
        """Seconds for a request."""
        value = self._given("timeout", 600)
        seconds = positive(value)
        if seconds is None:
            raise self._wrong("timeout", "seconds above 0", value)
        return seconds

    @property
    def retries(self) -> Retries:
        return Retries(self.count("retries", 3, least=0), self._delay())

    def count(self, name: str, usual: int, least: int = 1) -> int:
        """A whole number. Raises ``GenerationError``."""
        value = self._given(name, usual)
        number = 0.0 if value in (0, "0") and not isinstance(value, bool) else positive(value)
        if number is None or number != int(number) or number < 0:
            raise self._wrong(name, f"a whole number from {least} on", value)
        return max(least, int(number))

    def url(self, usual: str) -> str:
        """Raises ``GenerationError`` for what is no address."""
        value = self._given("base_url", usual)
        if not isinstance(value, str) or not _is_address(value):
            raise self._wrong("base_url", f"an address such as {usual}", value)
        return value

    def key(self, variable: str) -> str | None:
        """The key, or the one in the environment. Raises ``GenerationError`` for one that no header can hold."""
        key = self._configs.get("api_key") or os.environ.get(variable)
        if key and not (isinstance(key, str) and key.isascii() and key.isprintable()):
            place = f"{PARAMETER}.{self.backend}.api_key" if self._configs.get("api_key") else variable
            raise GenerationError(f"{place} is a key, in letters that a header can hold (ASCII, no line ends)")
        return key or None

    def _delay(self) -> float:
        value = self._given("base_delay", 1.0)
        seconds = 0.0 if value in (0, "0") and not isinstance(value, bool) else positive(value)
        if seconds is None:
            raise self._wrong("base_delay", "seconds from 0 on", value)
        return seconds

    def _given(self, name: str, usual: Any) -> Any:
        value = self._configs.get(name)
        return usual if value is None or value == "" else value

    def _wrong(self, name: str, what: str, value: Any) -> GenerationError:
        return GenerationError(f"{PARAMETER}.{self.backend}.{name} is {what}, not {value!r}")


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return bool(parts.scheme in ("http", "https") and parts.hostname and parts.port != 0) and text.split() == [text]
    except ValueError:
        return False
