r"""A survey that is being written: a tree of sections, kept as JSON between steps.

A section is ``{"title", "plan", "content", "sections"}``. Its place is written ``section-2.1``: the first subsection
of the second section.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

OUTLINE = "outline"
"""The place of the survey as a whole, before it has sections."""
NONE_YET = "<PAD>"
"""Stands where there is no survey yet."""
_NUMBERING = re.compile(
    r"^\s*(?:(?:chapter|section|part)\s+[\dIVX]+[.:、]?|第[\d一二三四五六七八九十]+[章节部分]+|[\dIVX]+(?:\.\d+)*[.、:)])\s*",
    re.IGNORECASE,
)
_CITE = re.compile(r"\\cite[pt]?\{([^}]*)\}")

Section = dict[str, Any]


class SurveyUnreadable(Exception):
    """A survey is not JSON, or not a map; ``str()`` says where."""


def read_survey(text: str) -> Section | None:
    """The survey in a text; None where there is none yet. Raises ``SurveyUnreadable``."""
    if text.strip() in ("", NONE_YET):
        return None
    try:
        survey = json.loads(text)
    except json.JSONDecodeError as error:
        raise SurveyUnreadable(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    if not isinstance(survey, dict):
        raise SurveyUnreadable(f"a survey is a map, not {type(survey).__name__}")
    return survey


def written(survey: Section) -> str:
    return json.dumps(survey, ensure_ascii=False)


def title_of(section: Section) -> str:
    return str(section.get("title") or section.get("name") or "")


def sections_of(section: Section) -> list[Section]:
    """The sections right below, whatever they are called."""
    below = section.get("sections") or section.get("subsections") or []
    return [one for one in below if isinstance(one, dict)] if isinstance(below, list) else []


def placed(survey: Section) -> Iterator[tuple[str, Section]]:
    """Every section with its place, in reading order."""

    def below(section: Section, numbers: tuple[int, ...]) -> Iterator[tuple[str, Section]]:
        for number, one in enumerate(sections_of(section), 1):
            path = (*numbers, number)
            yield f"section-{'.'.join(map(str, path))}", one
            yield from below(one, path)

    return below(survey, ())


def section_at(survey: Section, place: str) -> Section | None:
    return next((section for at, section in placed(survey) if at == place), None)


def next_unwritten(survey: Section) -> str | None:
    """The place of the first section without content; None where all is written."""
    return next((place for place, section in placed(survey) if not str(section.get("content") or "").strip()), None)


def clean_title(title: str) -> str:
    """A title without the number that a model put before it."""
    return _NUMBERING.sub("", title.strip()) or title.strip()


def markdown(survey: Section) -> str:
    r"""The survey as a document: numbered headings, and ``\cite{textid3,textid4}`` as ``[3][4]``."""
    lines = [f"# {clean_title(title_of(survey))}"]
    for place, section in placed(survey):
        number = place.removeprefix("section-")
        lines.append(f"{'#' * (number.count('.') + 2)} {number} {clean_title(title_of(section))}")
        content = str(section.get("content") or "").strip()
        if content:
            lines.append(_CITE.sub(_as_numbers, content))
    return "\n\n".join(lines)


def cited(text: str) -> list[list[str]]:
    r"""The keys of every ``\cite``, one list for each."""
    return [[key.strip() for key in keys.split(",") if key.strip()] for keys in _CITE.findall(text)]


def _as_numbers(cite: re.Match[str]) -> str:
    keys = [key.strip() for key in cite[1].split(",") if key.strip()]
    return "".join(f"[{key.removeprefix('textid')}]" for key in keys)
