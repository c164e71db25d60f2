"""From a template and its variables to one message per item."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from workbench.mcp.kit import Message
from workbench.mcp.templates import render_items


def own(prompt: str) -> str:
    """The template that ragwb ships for a prompt, where no other is asked for."""
    return f"pipelines/prompts/{prompt}.jinja"


def messages(template: str, **columns: Sequence[Any]) -> list[Message]:
    """One user message per item; ``columns`` are the template's variables, one entry per item each."""
    return [Message(text) for text in render_items(template, **columns)]


def render_any(
    template: str, variables: Mapping[str, Any], item_lists: Collection[str] | None, count: int | None
) -> list[str]:
    """One prompt per item, of whatever variables a step gives.

    ``item_lists`` names those that have one entry per item; all others are whole, the same in every prompt. Where that
    is not known, lists as long as the first one are taken for item lists. ``count`` is the number of items, where that
    is known; without items there is one prompt.
    """
    if item_lists is None:
        lists = {name: len(value) for name, value in variables.items() if isinstance(value, list)}
        count = next(iter(lists.values()), 1) if count is None else count
        item_lists = {name for name, length in lists.items() if length == count}
    whole = {name: value for name, value in variables.items() if name not in item_lists}
    per_item = {name: variables[name] for name in variables if name in item_lists}
    if count is None:
        count = max(map(len, per_item.values()), default=1)
    return render_items(template, **per_item, **{name: [value] * count for name, value in whole.items()})
