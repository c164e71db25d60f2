"""Whose a text is: what the steps of a run gave to each item, and where such texts stand in a prompt.

Texts are compared without regard to blanks, line breaks and HTML entities. A text is known in a prompt by how it
begins, so one pass over a prompt finds all of them, however many items there are.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from workbench.cases.saved_run import is_unset
from workbench.engine.values import is_list

NOTHING = "<PAD>"
"""Stands in the dialect's lists where there is nothing yet."""
SHORT, LONG = 6, 24
"""Letters by which short and long texts are looked up."""
LEAST = 10
"""A text that weighs less may stand anywhere by chance."""
LEAST_MADE, LEAST_WORDS = 16, 3
"""The same for what a model or a tool made, which repeats itself more."""
START = 60
"""Letters by which a passage is known that was cut on its way into the prompt."""
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def plain(text: str) -> str:
    """A text as it is compared."""
    for _ in range(3):  # a history may have been escaped once a round
        unescaped = html.unescape(text)
        if unescaped == text:
            break
        text = unescaped
    return " ".join(text.split())


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a value: of a list, of a map, of a chat message or its parts; none for what is not set."""
    if isinstance(value, str):
        if value.strip() and not is_unset(value) and value.strip() != NOTHING:
            yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if not (key in ("role", "type", "name") and isinstance(inner, str)):
                yield from texts_in(inner)
    elif is_list(value):
        for inner in value:
            yield from texts_in(inner)


def weight(text: str) -> int:
    """Letters; a character of a script without blanks says as much as three."""
    return len(text) + 2 * len(_WIDE.findall(text))


class Origin(Struct, frozen=True):
    """Where an item's text came from: the variable, the visit that wrote it, and what it is to the item."""

    name: str
    visit: int
    what: str


class Found(Struct, frozen=True):
    """A text of some items that stands in a prompt; ``shown`` is the whole of it where the prompt has its beginning."""

    text: str
    shown: str
    owners: Mapping[int, Origin]


class ItemTexts:
    """The texts of each item as they come; ``common`` are those that are nobody's."""

    def __init__(self, count: int) -> None:
        self.own: list[dict[str, Origin]] = [{} for _ in range(count)]
        self.common: dict[str, None] = {}
        self._owners: dict[str, dict[int, Origin]] = {}
        self._whole: dict[str, str] = {}
        self._short: dict[str, dict[str, None]] = {}
        self._long: dict[str, dict[str, dict[str, None]]] = {}

    def is_known(self, text: str) -> bool:
        """Whether it is somebody's already."""
        return plain(text) in self._owners

    def give(self, item: int, text: str, origin: Origin, *, is_sought: bool, is_passage: bool = False) -> None:
        """A text of an item. One that is sought is looked for in the prompts of the others."""
        text = plain(text)
        if not text or text in self.own[item]:
            return
        self.own[item][text] = origin
        if is_sought:
            self._seek(item, text, text, origin)
            if is_passage and len(text) > START + LONG:
                self._seek(item, text[:START], text, origin)

    def holds(self, item: int, text: str) -> bool:
        """Whether a text stands in one of the item's own, or in one that is nobody's."""
        return any(text in own for own in self.own[item]) or any(text in common for common in self.common)

    def find(self, prompt: str) -> Iterator[Found]:
        """The texts that stand in a prompt (``plain``), whoever's they are; each of them once."""
        seen = set()
        for place in range(len(prompt) - SHORT + 1):
            start = prompt[place : place + SHORT]
            candidates = [*self._short.get(start, ())]
            if start in self._long:
                candidates += self._long[start].get(prompt[place : place + LONG], ())
            for text in candidates:
                if text not in seen and prompt.startswith(text, place):
                    seen.add(text)
                    yield Found(text, self._whole[text], self._owners[text])

    def _seek(self, item: int, text: str, whole: str, origin: Origin) -> None:
        self._owners.setdefault(text, {}).setdefault(item, origin)
        self._whole.setdefault(text, whole)
        if len(text) < LONG:
            self._short.setdefault(text[:SHORT], {})[text] = None
        else:
            self._long.setdefault(text[:SHORT], {}).setdefault(text[:LONG], {})[text] = None


def is_telling(text: str, *, is_made: bool) -> bool:
    """Whether finding a text in another item's prompt says something."""
    text = plain(text)
    if is_made and not _WIDE.search(text):
        return weight(text) >= LEAST_MADE and len(text.split()) >= LEAST_WORDS
    return weight(text) >= (LEAST_MADE if is_made else LEAST) and len(text) >= SHORT


def joined(texts: Iterable[str]) -> str:
    return plain("\n".join(texts))
