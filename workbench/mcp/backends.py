"""A registry of backends for a server: name -> where its class is, loaded when it is first asked for.

Adding a backend is one file and one line in such a registry.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from fastmcp.exceptions import ToolError


class Backends:
    """``Backends("retriever.backend", {"openai": "embedders.openai_endpoint:OpenAIEndpoint"})``."""

    def __init__(self, parameter: str, places: Mapping[str, str]) -> None:
        """``parameter`` is what the user sets; ``places`` are ``module:Class``."""
        self.parameter = parameter
        self.places = dict(places)

    def __contains__(self, name: str) -> bool:
        return name in self.places

    def load(self, name: str) -> Any:
        """The class. Raises ``ToolError`` that names what there is."""
        place = self.places.get(name)
        if place is None:
            near = get_close_matches(str(name), self.places, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ToolError(f"unknown {self.parameter} {name!r}; known are {', '.join(self.places)}{hint}")
        module, _, attribute = place.partition(":")
        return getattr(importlib.import_module(module), attribute)


def need(module: str, what: str, package: str = "") -> Any:
    """An optional library. Raises ``ToolError`` that says how to get it: ``need("rjieba", ..., "ragwb[chinese]")``."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != module.partition(".")[0]:
            raise ToolError(f"{what} can't be loaded: {module} is installed, but {error}") from error
        raise ToolError(f"{what} is not installed: pip install '{package or module}'") from error


def part_of(parameter: str, configs: Mapping[str, Any] | None, backend: str) -> Mapping[str, Any]:
    """A backend's own part of configs; empty where it is missing or null. Raises ``ToolError`` for what is no map."""
    whole = {} if configs is None else configs
    part = whole.get(backend) if isinstance(whole, Mapping) else None
    for name, value in ((parameter, whole), (f"{parameter}.{backend}", {} if part is None else part)):
        if not isinstance(value, Mapping):
            raise ToolError(f"{name} must be a map of settings; found {value!r}")
    return part or {}


def checked_count(parameter: str, given: Any) -> int:
    """A whole number, e.g. of texts that a model gets at once. Raises ``ToolError`` for less than one."""
    try:
        count = 0 if isinstance(given, bool) else int(given)
    except (TypeError, ValueError, OverflowError):
        count = 0
    if count < 1:
        raise ToolError(f"{parameter} must be a whole number from 1 on; found {given!r}")
    return count


def unread(parameter: str, configs: Mapping[str, Any], known: Collection[str] | None) -> list[str]:
    """A warning, where a backend is given settings that it does not read. ``known`` None: it hands all of them on."""
    unknown = [] if known is None else sorted(name for name in configs if name not in known)
    if not unknown:
        return []
    read = f"it reads {', '.join(sorted(known or ()))}" if known else "it reads none"
    return [f"{parameter}: {', '.join(unknown)} {'are' if len(unknown) > 1 else 'is'} not read here; {read}"]


@cache
def word_llama(what: str) -> Any:
    """WordLlama's static word vectors, loaded once in a process. Raises ``ToolError`` where they are not installed."""
    wordllama = need("wordllama", what, "wordllama")
    # Without cache_dir it looks for its tokenizer where the wheel does not put it, then on the network.
    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)


def is_installed(module: str) -> bool:
    """Whether a library could be imported; it is not."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
