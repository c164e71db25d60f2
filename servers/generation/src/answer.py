"""What a model gives for one conversation, and how it fails to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LARGEST = 16_000_000
"""Characters of an answer, and of a line or a whole response that it comes in: more is a server that has no end."""


@dataclass(frozen=True)
class ToolCall:
    """A tool that a model wishes to have called; its arguments are as the model wrote them, JSON if all is well."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Answer:
    """One answer. ``seconds`` is the time it took, with retries; tokens are as the model counted them."""

    text: str
    thinking: str = ""
    """What the model thought before it answered, where that is separate from the answer."""
    finish_reason: str | None = None
    """Why it ended: ``stop``, or ``length`` where it was cut off."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0
    is_cached: bool = False
    shortened: str = ""
    """What was taken out of the prompt so that it fits, in words."""
    calls: tuple[ToolCall, ...] = ()
    """The tools that it calls, where it was offered some."""

    def usage(self) -> dict[str, Any]:
        """What is known of it beside its text, for the output ``usage_ls``."""
        about = {
            "finish_reason": self.finish_reason,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "seconds": round(self.seconds, 4),
            "thinking": self.thinking or None,
            "shortened": self.shortened or None,
            "cached": self.is_cached or None,
        }
        return {name: value for name, value in about.items() if value is not None}


class GenerationError(Exception):
    """No answer. ``str()`` names what the model or server said, and the way out.

    With ``stops_all`` it would be the same for every item: a wrong key, no credit, no server.
    """

    def __init__(self, message: str, *, stops_all: bool = False) -> None:
        super().__init__(message)
        self.stops_all = stops_all


class TooLong(GenerationError):
    """The prompt does not fit into the model's context: its tokens and those that fit, where the model says so."""

    def __init__(self, message: str, tokens: int | None = None, fitting: int | None = None) -> None:
        super().__init__(message)
        self.tokens = tokens
        self.fitting = fitting
