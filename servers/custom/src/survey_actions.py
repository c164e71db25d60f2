"""What a model decided while it writes a survey: its answer read, and held against the rules of the method.

An answer is ``<thought>...</thought><action>...</action>``. The action is JSON with a ``name`` (``search``,
``init-plan``, ``extend-plan``, ``write``, ``nop``); what is written may also be plain text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from survey import Section, cited, section_at, sections_of

MOST_KEYWORDS, MOST_CITES, LEAST_CHARACTERS = 5, 12, 50
SECTIONS, SUBSECTIONS = range(3, 13), range(2, 8)
"""How many sections a plan may have, and how many parts a section may be split into."""
_ACTION = re.compile(r"<action>(.*?)(?:</action>|$)", re.DOTALL)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_KEY = re.compile(r"textid\d+")


class BadAction(Exception):
    """The answer is not what the step asked for; ``str()`` says why."""


def keywords(answer: str, *, is_strict: bool) -> list[str]:
    """What to search for. Raises ``BadAction``."""
    action = _json(answer, "search")
    words = action.get("keywords")
    if not isinstance(words, list) or not words or not all(isinstance(word, str) and word.strip() for word in words):
        raise BadAction("`keywords` must be a list of texts, none of them empty")
    if is_strict and len(words) > MOST_KEYWORDS:
        raise BadAction(f"{len(words)} keywords; at most {MOST_KEYWORDS} are allowed")
    return [word.strip() for word in words]


def plan(answer: str, instruction: str, *, is_strict: bool) -> Section:
    """The first outline: a title and sections, none of them written yet. Raises ``BadAction``."""
    action = _json(answer, "init-plan")
    if not str(action.get("title") or "").strip():
        raise BadAction("the plan has no title")
    sections = _planned(action.get("sections"), SECTIONS if is_strict else None)
    if is_strict:
        _check_language(" ".join(section["title"] for section in sections), instruction)
    return {"title": str(action["title"]).strip(), "sections": sections}


def extension(
    answer: str, survey: Section, cursor: str | None, instruction: str, *, is_strict: bool
) -> tuple[str, list[Section]] | None:
    """The place of a section and the parts it is to have; None where nothing is to be added. Raises ``BadAction``."""
    action = _json(answer, "extend-plan", "nop")
    if _name(action) == "nop":
        return None
    place = str(action.get("position") or "")
    section = section_at(survey, place)
    if section is None:
        raise BadAction(f"there is no place `{place}` in the survey")
    if cursor is not None and place != cursor:
        raise BadAction(f"it extends {place}, and {cursor} is at hand")
    if place.count(".") > 1:
        raise BadAction(f"{place} is too deep: parts of parts are not split again")
    if sections_of(section):
        raise BadAction(f"{place} has parts already")
    parts = _planned(action.get("subsections") or action.get("sections"), SUBSECTIONS if is_strict else None)
    if is_strict:
        _check_language(" ".join(part["title"] for part in parts), instruction)
    return place, parts


def text(answer: str, instruction: str, known: str, *, is_strict: bool) -> str:
    """What was written. ``known`` is what was retrieved, with the keys that may be cited. Raises ``BadAction``."""
    found = _content(answer)
    if not found:
        raise BadAction("nothing was written")
    if not is_strict:
        return found
    for mark, what in (("#", "a heading"), ("bibkey", "the word bibkey")):
        if mark in found:
            raise BadAction(f"the text has {what} in it (`{mark}`)")
    if len(found) <= LEAST_CHARACTERS:
        raise BadAction(f"the text has {len(found)} characters; more than {LEAST_CHARACTERS} are asked for")
    cites = cited(found)
    if len(cites) > MOST_CITES:
        raise BadAction(f"the text cites {len(cites)} times; at most {MOST_CITES} are allowed")
    unknown = sorted({key for keys in cites for key in keys} - set(_KEY.findall(known)))
    if unknown:
        raise BadAction(f"the text cites what was not retrieved: {', '.join(unknown)}")
    _check_language(found, instruction)
    return found


def _content(answer: str) -> str:
    """Of a write: the text of its JSON, or all that stands between the tags."""
    body = _body(answer)
    try:
        action = json.loads(body)
    except ValueError:
        return body
    return str(action.get("content") or "").strip() if isinstance(action, dict) else body


def _planned(sections: Any, allowed: range | None) -> list[Section]:
    if not isinstance(sections, list) or not sections:
        raise BadAction("the plan has no sections")
    planned = []
    for section in sections:
        if not isinstance(section, Mapping) or not str(section.get("title") or "").strip():
            raise BadAction("each section needs a `title`, and a `plan` of what is to stand in it")
        if not str(section.get("plan") or "").strip():
            raise BadAction(f"the section `{section['title']}` has no `plan`")
        planned.append({"title": str(section["title"]).strip(), "plan": str(section["plan"]).strip(), "content": ""})
    if allowed is not None and len(planned) not in allowed:
        raise BadAction(f"{len(planned)} sections; {allowed.start} to {allowed.stop - 1} are allowed")
    return planned


def _check_language(text: str, instruction: str) -> None:
    wanted, is_there = (_is_chinese(one) for one in (instruction, text))
    if wanted != is_there:
        raise BadAction("it is not in the language of the instruction")


def _is_chinese(text: str) -> bool:
    """Whether more than a fifth of a text is Chinese."""
    letters = sum(character.isalpha() for character in text)
    return letters > 0 and len(_CHINESE.findall(text)) > letters / 5


def _json(answer: str, *names: str) -> dict[str, Any]:
    body = _body(answer)
    try:
        action = json.loads(body)
    except json.JSONDecodeError as error:
        raise BadAction(
            f"the action is no JSON (line {error.lineno}, column {error.colno}: {error.msg}): {body[:60]!r}"
        ) from None
    if not isinstance(action, dict) or _name(action) not in names:
        raise BadAction(f"the action is not {' or '.join(names)}: {body[:60]!r}")
    return action


def _name(action: Mapping[str, Any]) -> str:
    return str(action.get("name") or "").replace("_", "-")


def _body(answer: str) -> str:
    found = _ACTION.search(answer)
    if found is None:
        raise BadAction("there is no <action> in the answer")
    return found[1].strip()
