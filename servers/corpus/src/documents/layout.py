"""Blocks of a page in the order in which they are read, and their lines as paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Before a capital the hyphen is the word's own: Anglo-Saxon.
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010]\n(?=[a-z\u00df-\u00ff])")
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uff00-\uffef\u3000-\u303f"
_CJK_LINE_END = re.compile(rf"(?<=[{_CJK}])\s*\n\s*(?=[{_CJK}])")
_WIDE = 0.6
"""Share of the page's width from which a block belongs to no column."""


@dataclass(frozen=True)
class Block:
    """Lines that stand together, where they stand on the page, in points from its upper left corner."""

    left: float
    top: float
    right: float
    bottom: float
    text: str


def in_reading_order(blocks: Sequence[Block], width: float) -> list[Block]:
    """Column by column between the blocks that go across the page, each from top to bottom."""
    ordered: list[Block] = []
    group: list[Block] = []
    for block in sorted(blocks, key=lambda block: (block.top, block.left)):
        if block.right - block.left >= _WIDE * width:
            ordered += [*_columns(group), block]
            group = []
        else:
            group.append(block)
    return [*ordered, *_columns(group)]


def _columns(blocks: Sequence[Block]) -> list[Block]:
    """Parted at the first gap from left to right that no block reaches into, if both sides are running text."""
    by_left = sorted(blocks, key=lambda block: block.left)
    reach = 0.0
    for n, block in enumerate(by_left):
        if n and block.left > reach and is_running_text(by_left[:n]) and is_running_text(by_left[n:]):
            left, right = by_left[:n], by_left[n:]
            if _overlap(left, right):
                return [*_down(left), *_columns(right)]
        reach = max(reach, block.right)
    return _down(blocks)


def _down(blocks: Sequence[Block]) -> list[Block]:
    return sorted(blocks, key=lambda block: (round(block.top), block.left))


def is_running_text(blocks: Sequence[Block]) -> bool:
    """Running text, not the numbers of a table: several words a block on average."""
    return sum(len(block.text.split()) + _cjk(block.text) for block in blocks) >= 3 * len(blocks)


def one_block(lines: Sequence[Block]) -> Block:
    """Lines as the block that holds them."""
    return Block(
        min(line.left for line in lines),
        min(line.top for line in lines),
        max(line.right for line in lines),
        max(line.bottom for line in lines),
        "\n".join(line.text for line in lines),
    )


def _cjk(text: str) -> int:
    return sum("\u3040" <= letter <= "\u9fff" for letter in text) // 2


def _overlap(left: Sequence[Block], right: Sequence[Block]) -> bool:
    """Whether they stand beside each other, not one above the other."""
    top = max(min(block.top for block in left), min(block.top for block in right))
    bottom = min(max(block.bottom for block in left), max(block.bottom for block in right))
    return bottom > top


def paragraph(text: str) -> str:
    """The lines of a block as one: words that were cut at a line's end are whole again."""
    text = _HYPHEN.sub("", text.strip())
    text = _CJK_LINE_END.sub("", text)
    return " ".join(text.split())


def joined(paragraphs: Iterable[str]) -> str:
    """Set apart by empty lines."""
    return "\n\n".join(text for text in paragraphs if text)
