"""Prompts to read: their messages one after the other, and how long they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from workbench.engine.values import Message, count_of

_SHOWN = 50
_COUNTED = 100_000
"""Characters that are looked at for the number of tokens; what comes after them is taken to be alike."""
_WIDE = "[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]"  # compiled when needed: it takes milliseconds
_LETTERS_TO_A_TOKEN = 4


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
    tokens = _about_tokens("".join(texts[:_SHOWN])[:_COUNTED], count)
    each = f"{count_of(len(texts), 'message')}, " if len(texts) > 1 else ""
    return f"{each}{count:,} characters, about {tokens:,} tokens (guessed)"


def _about_tokens(sample: str, count: int) -> int:
    """One token to four letters, and one to each character of Chinese, Japanese or Korean; two digits are exact."""
    if not sample:
        return 0
    wide = 0 if sample.isascii() else len(re.findall(_WIDE, sample))
    tokens = (wide + (len(sample) - wide) / _LETTERS_TO_A_TOKEN) * count / len(sample)
    digits = max(0, len(str(int(tokens))) - 2)
    return max(1, int(round(tokens, -digits)))
