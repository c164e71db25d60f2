"""What a model thinks aloud before it answers: no part of what it says, and never a choice or a score."""

from __future__ import annotations

import re

_THOUGHT = re.compile(r"^\s*<think(?:ing)?>(.*?)</think(?:ing)?>\s*", re.DOTALL | re.IGNORECASE)
_UNENDED = re.compile(r"^\s*<think(?:ing)?>(.*)$", re.DOTALL | re.IGNORECASE)
_UNBEGUN = re.compile(r"^(.*?)</think(?:ing)?>\s*", re.DOTALL | re.IGNORECASE)


def separated(text: str) -> tuple[str, str]:
    """``(answer, thinking)``. Thinking that was cut off leaves no answer; its first tag may be the prompt's."""
    for pattern in (_THOUGHT, _UNENDED, _UNBEGUN):
        found = pattern.match(text)
        if found is not None:
            return text[found.end() :], found[1].strip()
    return text, ""
