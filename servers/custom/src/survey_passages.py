"""What was found for a survey, chosen and numbered for the prompt."""

from __future__ import annotations

from collections.abc import Sequence

from citations import CitationRegistry

FOR_THE_PLAN, FOR_A_SECTION = 20, 10
"""How many passages a prompt gets: before there is a survey, and for one section of it."""


def chosen(found: Sequence[Sequence[str]], most: int) -> list[str]:
    """Of queries x passages at most so many, shared out evenly among the queries, each passage once.

    What queries with few passages leave is filled up with further ones of the others, in their order.
    """
    share = max(1, most // max(1, len(found)))
    first = [passage for passages in found for passage in passages[:share]]
    rest = [passage for passages in found for passage in passages[share:]]
    return list(dict.fromkeys(passage.strip() for passage in (*first, *rest) if passage.strip()))[:most]


def listed(passages: Sequence[str]) -> str:
    """The passages one below the other."""
    return "\n\n".join(passages)


def with_keys(passages: Sequence[str], item: int, registry: CitationRegistry) -> list[str]:
    """Each with the key by which the text may cite it."""
    return [f"bibkey: textid{registry.number_of(item, passage)}\n{passage}" for passage in passages]
