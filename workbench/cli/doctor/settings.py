"""Every key of the configuration files, and what is set."""

from __future__ import annotations

import re
import textwrap
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from workbench.engine.visible import visible
from workbench.pipeline.config import KEYS, PROJECT_FILE, Configuration, Key, user_file

_WIDTH = 100


def as_text(project: Path, config: Configuration) -> str:
    """The two files, then for each key its meaning, what counts without it, and its values here."""
    files = (("the project's", project / PROJECT_FILE), ("the user's", user_file()))
    places = "\n".join(f"{whose:<13}  {file}{'' if file.is_file() else '  (not there)'}" for whose, file in files)
    parts = [f"Configuration files are YAML; where both have a key, the project's counts.\n\n{places}"]
    return visible("\n\n".join([*parts, *(_described(key, config) for key in KEYS)]))


def as_json(project: Path, config: Configuration) -> dict[str, Any]:
    """``{"files": {...}, "keys": [{"name", "meaning", "default", "places", "set"}]}``."""
    return {
        "files": {"project": str(project / PROJECT_FILE), "user": str(user_file())},
        "keys": [
            {
                "name": key.name,
                "meaning": key.meaning,
                "default": key.default,
                "places": list(key.places),
                "set": [{"name": name, "value": value, "where": where} for name, value, where in _set(key, config)],
            }
            for key in KEYS
        ],
    }


def _described(key: Key, config: Configuration) -> str:
    only = "" if "user" in key.places else "  (in the project's file only)"
    lines = [f"{key.name}{only}", _wrapped(key.meaning), _wrapped(f"without it: {key.default}")]
    values = [f"    set: {name}: {_shown(value)}  ({where})" for name, value, where in _set(key, config)]
    return "\n".join([*lines, *values])


def _set(key: Key, config: Configuration) -> list[tuple[str, Any, str]]:
    """The settings of a key: name, value, and the place in its file."""
    pattern = re.sub("<.*?>", "*", key.name)
    return [
        (name, setting.value, f"{setting.file}:{setting.position.line}")
        for name, setting in config.settings.items()
        if fnmatchcase(name, pattern)
    ]


def _shown(value: Any) -> str:
    return ", ".join(value) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else str(value)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent="    ", subsequent_indent="    ")
