"""What every backend is: a model that answers one conversation at a time."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from answer import Answer

from workbench.mcp.half_pairs import loaded

Messages = list[dict[str, Any]]
"""A conversation: ``{"role": ..., "content": ...}``; the content is text, or a list of OpenAI's parts with images."""

OnToken = Callable[[str], Awaitable[None]]
OnProgress = Callable[[float, float, str], Awaitable[None]]
"""Done, of how much, and in words."""

Schema = Mapping[str, Any]
"""A JSON schema that the answer must follow."""


@dataclass(frozen=True)
class Tool:
    """A tool that a model is offered. ``parameters`` is a JSON schema; a plain one takes one text, its ``input``."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    is_plain: bool

    def described(self) -> dict[str, Any]:
        """For a template: a plain tool has no ``parameters`` to tell of."""
        parameters = None if self.is_plain else self.parameters
        return {"name": self.name, "description": self.description, "parameters": parameters}

    def offered(self) -> dict[str, Any]:
        """As OpenAI's protocol has it, and Ollama's."""
        about = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": about}

    def read(self, arguments: str) -> Any:
        """The input in what a model wrote: a map, of a plain tool the text. Raises ``ValueError`` for the model."""
        try:
            given = loaded(arguments)
        except ValueError:
            given = None
        if self.is_plain:
            text = given.get("input") if isinstance(given, dict) else given
            if not isinstance(text, str):
                raise ValueError(f'{self.name} takes one text: {{"input": "..."}}')
            return text
        if not isinstance(given, dict):
            raise ValueError(f"{self.name} takes a JSON object: {json.dumps(self.parameters, ensure_ascii=False)}")
        return given


@dataclass(frozen=True)
class Wish:
    """What is wished of an answer besides that it goes on with the conversation."""

    schema: Schema | None = None
    tools: tuple[Tool, ...] = ()
    """Offered to the model; only where ``Backend.takes_tools``."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the request, before those of ``sampling_params``: ``max_tokens``, ``temperature``."""


class Backend(ABC):
    """Made with its own part of ``backend_configs`` and the fields of every request; slow, so in a thread."""

    concurrency = 1
    """How many conversations may be under way at once."""
    takes_images = False
    takes_tools = False
    """Whether it offers tools to the model in its own way."""
    holds_model = False
    """Whether the model is in this process, and its memory with it."""
    identity = ""
    """Names the model and where it is: answers of another one are other answers."""

    context_tokens: int | None = None
    """How many tokens prompt and answer have together, of a model that counts them itself."""
    warnings: Sequence[str] = ()
    """What the user should know of the settings that it was made with."""

    async def prepare(self, on_progress: OnProgress) -> None:  # noqa: B027 - most need nothing
        """Get ready for the first conversation. Raises ``GenerationError``."""

    @abstractmethod
    async def answer(self, messages: Messages, label: str, wish: Wish, on_token: OnToken | None) -> Answer:
        """The whole answer; where ``on_token`` is there, each piece of it goes there as it comes.
        ``label`` names the item, for stderr. Raises ``GenerationError``. Cancelling stops the model.
        """

    async def close(self) -> None:  # noqa: B027
        """Free what the model holds. It is not asked again."""
