"""The looks that parts of a line can have, in the colours of the theme."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from rich.style import Style
from textual.app import App
from textual.color import Color

Looks = Mapping[str, Style]
_COLOURS = ("foreground", "background", "primary", "secondary", "success", "warning", "error", "accent", "panel")


def looks_of(app: App[Any]) -> Looks:
    """Look -> style. Made once a theme: component classes of each widget would be matched anew at every focus."""
    variables = app.theme_variables
    is_plain = app.no_color or app.current_theme.ansi
    return _looks(tuple(variables[name] for name in _COLOURS), is_plain)


@lru_cache(maxsize=8)
def _looks(colours: tuple[str, ...], is_plain: bool) -> Looks:
    """``is_plain``: the terminal's own colours or none, which can't be mixed: what is in front is reversed."""
    made = _mixed(colours)
    return {**made, **_PLAIN} if is_plain else made


_PLAIN = {
    "dim": Style(dim=True),
    "front": Style(reverse=True, bold=True),
    "found": Style(reverse=True, underline=True),
    "cursor": Style(reverse=True),
    "resting": Style(underline=True),
}


def _mixed(colours: tuple[str, ...]) -> Looks:
    foreground, background, primary, secondary, success, warning, error, accent, panel = map(Color.parse, colours)
    return {
        "": Style(),
        "dim": _style(background.blend(foreground, 0.6)),
        "name": _style(primary, bold=True),
        "value": _style(secondary),
        "key": _style(accent, bold=True),
        "good": _style(success),
        "bad": _style(error, bold=True),
        "warning": _style(warning),
        "mark": _style(warning, bold=True),
        "present": _style(accent, bold=True),
        "front": _style(background, primary, bold=True),
        "found": _style(background, warning),
        "cursor": Style(bgcolor=background.blend(primary, 0.4).rich_color),
        "resting": Style(bgcolor=panel.rich_color),
    }


def _style(colour: Color, behind: Color | None = None, *, bold: bool | None = None) -> Style:
    return Style(color=colour.rich_color, bgcolor=behind.rich_color if behind is not None else None, bold=bold)
