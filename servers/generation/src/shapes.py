"""The parts of a served model's message, taken for what they must be: what came in another shape is refused, quoted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from answer import LARGEST, Answer, ToolCall
from refusals import Refused

from workbench.mcp.half_pairs import whole
from workbench.mcp.json_http import quoted


def map_in(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A map; null and none are an empty one. Raises ``Refused``."""
    return _as_map(holder.get(name), name)


def maps_in(holder: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """A list of maps; null and none are an empty one. Raises ``Refused``."""
    value = holder.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise odd(name, value)
    return [_as_map(entry, name) for entry in value]


def text_in(holder: Mapping[str, Any], name: str) -> str:
    """A text, put together where it came as a list of text parts; null and none are empty. Raises ``Refused``."""
    value = holder.get(name)
    if isinstance(value, list):
        return "".join(_text_part(part, name, value) for part in value)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise odd(name, value)
    return value


def arguments_in(function: Mapping[str, Any]) -> str:
    """What a tool is called with, as JSON; some servers send it decoded."""
    value = function.get("arguments")
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def count_in(holder: Mapping[str, Any], name: str) -> int | None:
    """A number of tokens; None where there is none, for the answer is one without it."""
    value = holder.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def answer_of(text: str, thinking: str, reason: str | None, counts: tuple[int | None, int | None],
              calls: tuple[ToolCall, ...]) -> Answer:  # fmt: skip
    """The answer, its texts such as can be sent on."""
    sound = tuple(ToolCall(whole(call.id), whole(call.name), whole(call.arguments)) for call in calls)
    return Answer(whole(text), whole(thinking), whole(reason) if reason else None, *counts, calls=sound)


class Gathered:
    """The texts of an answer that comes in pieces."""

    def __init__(self) -> None:
        self.characters = 0
        self._tokens: list[str] = []
        self._thoughts: list[str] = []

    def add(self, token: str, thought: str = "", beside: str = "") -> None:
        """``beside`` is what counts and is kept elsewhere. Raises ``Refused`` once it is too much for an answer."""
        self._tokens.append(token)
        self._thoughts.append(thought)
        self.characters += len(token) + len(thought) + len(beside)
        if self.characters > LARGEST:
            raise too_large()

    @property
    def text(self) -> str:
        return "".join(self._tokens)

    @property
    def thinking(self) -> str:
        return "".join(self._thoughts)

    def broken_off(self) -> Refused:
        return Refused(f"the stream ended after {len(self.text)} characters, without a word of its end")


def odd(name: str, value: Any) -> Refused:
    """An answer that can't be read: the server would send the like again."""
    return Refused(f"`{name}` of its answer is {quoted(json.dumps(value))}", status=200)


def too_large() -> Refused:
    """An answer without end."""
    return Refused(f"its answer was given up at {LARGEST // 1_000_000} million characters", status=200)


def _as_map(value: Any, name: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise odd(name, value)
    return value


def _text_part(part: Any, name: str, whole_value: Any) -> str:
    if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    raise odd(name, whole_value)
