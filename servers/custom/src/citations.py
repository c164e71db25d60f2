"""Passages with the numbers by which an answer cites them."""

from __future__ import annotations

from collections.abc import Sequence


def numbered(passages: Sequence[str]) -> list[str]:
    """``[1] text``, ``[2] text``, ... for one item."""
    return [f"[{number}] {passage}" for number, passage in enumerate(passages, 1)]


class CitationRegistry:
    """The numbers of one run: for each item, a passage keeps the number it had when it was first seen.

    Items are known by their number in the run, so that an item in a branch goes on with its own.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, dict[str, int]] = {}

    def begin(self) -> None:
        """Forget all: a run begins."""
        self._numbers.clear()

    def number_of(self, item: int, passage: str) -> int:
        """A text that differs in blanks at its ends is the same passage."""
        numbers = self._numbers.setdefault(item, {})
        return numbers.setdefault(passage.strip(), len(numbers) + 1)

    def numbered(self, item: int, passages: Sequence[str]) -> list[str]:
        """The passages of an item with their numbers."""
        return [f"[{self.number_of(item, passage)}] {passage}" for passage in passages]
