"""A model as judge: questions put to the client's model, and its JSON answers read."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from fastmcp import Context

from workbench.mcp.client_model import ClientModel, Unclear
from workbench.mcp.thinking import separated

MOST_TOKENS = 1024


class Unreadable(Unclear):
    """The judge's answer is not what was asked for; ``str()`` says what it was."""


class Judge:
    """Asks the client's model: in ragwb that of the pipeline's generation server. The traffic shows each question."""

    def __init__(self, ctx: Context) -> None:
        self._model = ClientModel(ctx, MOST_TOKENS)

    async def ask(self, prompt: str) -> Any:
        """The JSON of the answer. Raises ``Unreadable``, and what ``ClientModel.ask`` does."""
        return await self._model.ask(prompt, read_json)

    async def texts(self, prompt: str) -> list[str]:
        """The answer as a list of texts. Raises ``Unreadable``."""
        found = await self.ask(prompt)
        if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
            raise Unreadable(f"not a list of texts: {json.dumps(found, ensure_ascii=False)[:80]}")
        return [text.strip() for text in found if text.strip()]

    async def verdicts(self, prompt: str, count: int) -> list[bool]:
        """The answer as so many zeros and ones. Raises ``Unreadable``."""
        found = await self.ask(prompt)
        if not isinstance(found, list) or len(found) != count or any(verdict not in (0, 1) for verdict in found):
            raise Unreadable(f"not {count} times 0 or 1: {json.dumps(found, ensure_ascii=False)[:80]}")
        return [bool(verdict) for verdict in found]


def read_json(text: str) -> Any:
    """The last JSON list or map in a text; what a model thinks before it, and a fence around it, do not count."""
    said, _ = separated(text)
    decoder = json.JSONDecoder()
    found, position = None, 0
    while match := re.compile(r"[\[{]").search(said, position):
        try:
            value, position = decoder.raw_decode(said, match.start())
            found = [value]
        except ValueError:
            position = match.end()
    if found is None:
        raise Unreadable(f"no JSON in {said.strip()[:80]!r}")
    return found[0]


def numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))
