"""Prompts to read: their messages one after the other, and how long they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.engine.about_tokens import about_tokens
from workbench.engine.values import Message, count_of

_SHOWN = 50


def messages_in(value: Any) -> list[Message]:
    if isinstance(value, Message):
        return [value]
    return [entry for entry in value if isinstance(entry, Message)] if isinstance(value, list) else []


def prompt_text(messages: Sequence[Message]) -> str:
    parts = [f"── {n} · {message.get('role', '')}\n{message.text}" for n, message in enumerate(messages[:_SHOWN])]
    left = len(messages) - _SHOWN
    more = [f"── {left:,} more: pin an item (i) to read its own"] if left > 0 else []
    return "\n\n".join([*parts, *more])


def length_words(messages: Sequence[Message]) -> str:
    """How long prompts are. Tokens are a guess by their letters: which tokenizer a model has is not known here."""
    texts = [message.text for message in messages]
    count = sum(map(len, texts))
    tokens = about_tokens("".join(texts[:_SHOWN]), count)
    each = f"{count_of(len(texts), 'message')}, " if len(texts) > 1 else ""
    return f"{each}{count:,} characters, about {tokens:,} tokens (guessed)"
