"""What is put into templates: passages, choices, histories, made text for one item each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from string import ascii_uppercase
from typing import Any

from fastmcp.exceptions import ToolError

PAD = "<PAD>"
"""Stands in lists where there is nothing yet. It is never put into a prompt."""
IMAGE = "<image>"
_FIRST, _LAST = 1, 3
"""Of a long chain of reasoning, how many steps are shown from its start and its end."""


def joined(passages: Any, most: int | None = None) -> str:
    """The passages of one item, one a line; at most so many."""
    if passages is None:
        return ""
    if isinstance(passages, list):
        return "\n".join(str(passage) for passage in given(passages)[:most])
    return str(passages)


def given(values: Sequence[Any]) -> list[Any]:
    """The values without those that stand for nothing."""
    return [value for value in values if value is not None and value != PAD]


def unpadded(text: str | None) -> str:
    return "" if text is None or text.strip() == PAD else text


def lettered(choices: Sequence[str]) -> str:
    """``A: first``, ``B: second`` ... one a line; at most 26."""
    if len(choices) > len(ascii_uppercase):
        raise ToolError(f"a question has {len(choices)} choices; letters are there for {len(ascii_uppercase)}")
    return "\n".join(f"{letter}: {choice}" for letter, choice in zip(ascii_uppercase, choices, strict=False))


def text_of(prompt: Any) -> str:
    """The text of an earlier prompt: text, or a message ``{"role", "content"}``."""
    content = prompt.get("content", "") if isinstance(prompt, dict) else getattr(prompt, "content", prompt)
    if isinstance(content, dict):
        content = content.get("text", "")
    return str(getattr(content, "text", content))


def steps(reasons: Sequence[str]) -> str:
    """A chain of reasoning, ``Step 1: ...`` and so on; of a long one its first step and the last three."""
    known = given(reasons)
    shown = known if len(known) <= _LAST else [*known[:_FIRST], *known[-_LAST:]]
    return "\n\n".join(f"Step {number}: {reason}" for number, reason in enumerate(shown, 1))


def found_so_far(queries: Sequence[str], results: Sequence[str]) -> str:
    """What a Search-o1 model asked for and got, in its own tags; pairs that stand for nothing are left out."""
    pairs = zip_longest(queries, results, fillvalue=PAD)
    return "".join(
        f"<|begin_search_query|>{query}<|end_search_query|>\n<|begin_search_result|>{unpadded(result)}<|end_search_result|>"
        for query, result in pairs
        if query not in (PAD, None, "")
    )


def with_images(text: str, images: Any) -> str:
    """A text in which each ``<image>`` stands once for every image of the item."""
    count = len(given(images)) if isinstance(images, list) else 1
    return text.replace(IMAGE, IMAGE * count)


def ircot_items(
    questions: Sequence[Sequence[str | None]], passages: Sequence[Sequence[Any] | None]
) -> Iterator[tuple[str, str, str]]:
    """Of memory lists (saves x items), for each item its question, all its passages, and what it has reasoned so far.

    The first save of the questions holds the question itself, each further one a sentence of the reasoning. An item
    that the first save did not write is left out.
    """
    first, *later = questions or [[]]
    for item, question in enumerate(first):
        if question is None:
            continue
        rounds = [save[item] for save in passages if isinstance(save, list) and item < len(save)]
        sentences = [save[item] for save in later if item < len(save)]
        documents = [joined(found) for found in rounds if found is not None]
        yield question, "\n".join(filter(None, documents)), " ".join(given(sentences))
