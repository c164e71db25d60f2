"""A survey that is being written, as its model is shown it: one line for each section."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fastmcp.exceptions import ToolError
from parts import unpadded

NO_SURVEY = "There is no survey."
_INDENT = "    "


def outline(text: str, position: int) -> str:
    """The survey in a JSON text (a section is ``{"title", "plan", "content", "sections"}``), or that there is none.

    Raises ``ToolError`` with the place where it is no JSON.
    """
    if not unpadded(text).strip():
        return NO_SURVEY
    try:
        survey = json.loads(text)
    except json.JSONDecodeError as error:
        raise ToolError(
            f"survey_ls[{position}] is no JSON: line {error.lineno}, column {error.colno}: {error.msg}"
        ) from None
    if not isinstance(survey, dict):
        raise ToolError(f"survey_ls[{position}]: a survey is a map, not {type(survey).__name__}")
    return "\n".join([f"# Title: {_title(survey)}".rstrip(), *_lines(survey, "")])


def on_one_line(section: dict[str, Any]) -> str:
    """What is written of a section, or else planned; nothing where there is neither."""
    for key, mark in (("content", "OK"), ("plan", "PLAN")):
        words = str(section.get(key) or "").split()
        if words:
            return f"[{mark}] {' '.join(words)}"
    return ""


def task(cursor: str | None) -> str:
    """What the model is to do next."""
    place = unpadded(cursor)
    return f"You need to update {place}" if place else ""


def _lines(section: dict[str, Any], path: str) -> Iterator[str]:
    below = section.get("sections") or section.get("subsections") or []
    parts = [part for part in below if isinstance(part, dict)] if isinstance(below, list) else []
    for number, part in enumerate(parts, 1):
        at = f"{path}.{number}" if path else str(number)
        yield f"{_INDENT * at.count('.')}# Section-{at} [{_title(part)}]: {on_one_line(part)}".rstrip()
        yield from _lines(part, at)


def _title(section: dict[str, Any]) -> str:
    return str(section.get("title") or section.get("name") or "")
