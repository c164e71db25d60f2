"""What every backend is: a model that answers one conversation at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from answer import Answer

Messages = list[dict[str, Any]]
"""A conversation: ``{"role": ..., "content": ...}``; the content is text, or a list of OpenAI's parts with images."""

OnToken = Callable[[str], Awaitable[None]]
OnProgress = Callable[[float, float, str], Awaitable[None]]
"""Done, of how much, and in words."""

Schema = Mapping[str, Any]
"""A JSON schema that the answer must follow."""


class Backend(ABC):
    """Made with its own part of ``backend_configs`` and the fields of every request; slow, so in a thread."""

    concurrency = 1
    """How many conversations may be under way at once."""
    takes_images = False
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
    async def answer(self, messages: Messages, label: str, schema: Schema | None, on_token: OnToken | None) -> Answer:
        """The whole answer; where ``on_token`` is there, each piece of it goes there as it comes.

        ``label`` names the item, for stderr. Raises ``GenerationError``. Cancelling stops the model.
        """

    async def close(self) -> None:  # noqa: B027
        """Free what the model holds. It is not asked again."""
