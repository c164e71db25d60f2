"""Parts of a line in rows of a width."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len, chop_cells

from workbench.tui.rows import Part
from workbench.tui.text import visible

_WORD = re.compile(r"\n|[^\S\n]+|\S+[^\S\n]*")


def flowed(parts: Sequence[Part], width: int) -> list[tuple[Part, ...]]:
    """The rows that parts fill, broken at their newlines, and after words where that is possible."""
    rows: list[list[Part]] = [[]]
    room = width
    for text, look in parts:
        for word in _WORD.findall(visible(text).expandtabs(4)):
            if word == "\n":
                rows.append([])
                room = width
                continue
            if cell_len(word.rstrip()) > room and rows[-1]:
                rows.append([])
                room = width
            for number, piece in enumerate(chop_cells(word, width) if cell_len(word) > width else [word]):
                if number:
                    rows.append([])
                    room = width
                rows[-1].append(Part(piece, look))
                room -= cell_len(piece)
    return [tuple(row) for row in rows]
