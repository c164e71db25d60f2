"""Prompts to answers through some backend: order kept, so many at once, the first failure ends all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

Messages = list[dict[str, str]]
"""A conversation: ``{"role": ..., "content": ...}``."""

OnToken = Callable[[str], Awaitable[None]]


class GenerationError(Exception):
    """No answer. ``str()`` names the item, what the model or server said, and the way out."""


class Backend(Protocol):
    """A model that answers one conversation at a time."""

    concurrency: int
    """How many conversations may be under way at once."""

    async def answer(self, messages: Messages, label: str, on_token: OnToken) -> str:
        """The whole answer; each piece of it goes to ``on_token`` as it comes. ``label`` names the item.

        Raises ``GenerationError``. Cancelling stops the model.
        """


async def answer_all(
    backend: Backend, prompts: Sequence[str], labels: Sequence[str], system_prompt: str, on_token: OnToken
) -> list[str]:
    """One answer per prompt, in order."""
    gate = asyncio.Semaphore(backend.concurrency)

    async def answer(prompt: str, label: str) -> str:
        async with gate:
            return await backend.answer(conversation(prompt, system_prompt), label, on_token)

    tasks = [asyncio.create_task(answer(*pair)) for pair in zip(prompts, labels, strict=True)]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def conversation(prompt: str, system_prompt: str) -> Messages:
    """The prompt as the user's message, after the system's if there is one."""
    system = [{"role": "system", "content": system_prompt}] if system_prompt.strip() else []
    return [*system, {"role": "user", "content": prompt}]


def prompt_text(prompt: Any, label: str) -> str:
    """The stripped text of a prompt: text, ``{"text"}``, ``{"content": str}`` or ``{"content": {"text"}}``.

    Raises ``GenerationError`` for anything else.
    """
    content = prompt
    if isinstance(content, dict):
        content = content.get("content", content.get("text"))
    if isinstance(content, dict):
        content = content.get("text")
    if not isinstance(content, str):
        raise GenerationError(
            f"item {label}: a prompt must be text or a message {{role, content: {{type: text, text}}}}; "
            f"found {str(prompt)[:80]}"
        )
    return content.strip()
