"""Colour themes, one YAML file each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml
from textual.color import Color, ColorParseError
from textual.theme import Theme

from workbench.pipeline.config import user_file
from workbench.pipeline.project import shipped_folder

_COLOURS = frozenset(
    {
        "primary",
        "secondary",
        "warning",
        "error",
        "success",
        "accent",
        "foreground",
        "background",
        "surface",
        "panel",
        "boost",
    }
)
_FIELDS = {"name", "dark", "ansi", "variables", *_COLOURS} & {field.name for field in fields(Theme)}
FIRST_THEME, PLAIN_THEME = "ragwb-dark", "ragwb-terminal"
"""The theme that counts until another is chosen; and the one where colours are not wanted (NO_COLOR)."""


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Themes are read before the first picture; libyaml takes a fraction of the time."""


class ThemeUnreadable(Exception):
    """The file is no theme; ``str()`` says what is wrong and where."""


def all_themes() -> tuple[list[Theme], list[str]]:
    """The themes that are shipped, then those in the folder ``themes`` beside the user's configuration."""
    shipped, complaints = load_themes(shipped_folder() / "themes")
    own, more = load_themes(user_file().parent / "themes")
    return [*shipped, *own], [*complaints, *more]


def load_themes(folder: Path) -> tuple[list[Theme], list[str]]:
    """The themes of a folder, and what is wrong with the others."""
    themes, complaints = [], []
    for file in sorted(folder.glob("*.yaml")):
        try:
            themes.append(read_theme(file))
        except ThemeUnreadable as error:
            complaints.append(str(error))
    return themes, complaints


def read_theme(file: Path) -> Theme:
    """Raises ``ThemeUnreadable``."""
    try:
        data = yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ThemeUnreadable(f"{file}: can't be read: {' '.join(str(error).split())}") from None
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str) or "primary" not in data:
        raise ThemeUnreadable(f"{file}: a theme is a map with name, primary and other colours")
    unknown = sorted(str(key) for key in data if key not in _FIELDS)
    if unknown:
        raise ThemeUnreadable(f"{file}: no theme has {', '.join(unknown)}; there are {', '.join(sorted(_FIELDS))}")
    _check(file, data)
    return Theme(**data)


def _check(file: Path, data: Mapping[str, Any]) -> None:
    for key in sorted(_COLOURS & data.keys()):
        try:
            Color.parse(data[key])
        except (ColorParseError, TypeError):
            raise ThemeUnreadable(f"{file}: {key} is no colour: {data[key]!r}") from None
    for key in ("dark", "ansi"):
        if not isinstance(data.get(key, True), bool):
            raise ThemeUnreadable(f"{file}: {key} must be true or false")
    variables = data.get("variables", {})
    if not isinstance(variables, Mapping) or not all(isinstance(value, str) for value in variables.values()):
        raise ThemeUnreadable(f"{file}: variables must be a map of names to text")
