"""How large each pane is: moved by key or by mouse, and remembered for each class of width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from textual.widget import Widget

from workbench.tui.remembered import remember, remembered

NARROWEST, LOWEST = 14, 4


class Edge(Struct, frozen=True):
    """The edge between two neighbours: those of a row of panes, or the two rows. ``sizes`` are those it began with."""

    row: Sequence[Widget]
    before: int
    is_level: bool
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, row: Sequence[Widget], before: int, *, is_level: bool) -> Edge | None:
        """None where the two are not both seen."""
        sizes = tuple(one.outer_size.height if is_level else one.outer_size.width for one in row)
        seen = before >= 0 and before + 1 < len(row) and all(one.is_on_screen for one in row[before : before + 2])
        return cls(row, before, is_level, sizes) if seen and all(sizes) else None

    def move(self, by: int) -> None:
        """Move it from where it began; neither neighbour gets too small to be seen."""
        smallest = LOWEST if self.is_level else NARROWEST
        first, second = self.sizes[self.before : self.before + 2]
        by = max(min(0, smallest - first), min(by, max(0, second - smallest)))
        sizes = [*self.sizes[: self.before], first + by, second - by, *self.sizes[self.before + 2 :]]
        resize(self.row, sizes, is_level=self.is_level)


def resize(row: Sequence[Widget], sizes: Sequence[int] | None, *, is_level: bool) -> None:
    """Sizes in proportion to each other; None for those of the style sheet."""
    rule = "height" if is_level else "width"
    for number, one in enumerate(row):
        setattr(one.styles, rule, f"{sizes[number]}fr" if sizes is not None else None)


def sizes_of(row: Sequence[Widget], *, is_level: bool) -> list[int] | None:
    """The sizes that were set; None where none were."""
    set_sizes = [one.styles.inline.height if is_level else one.styles.inline.width for one in row]
    return [int(size.value) for size in set_sizes if size is not None] or None


def kept_sizes(name: str) -> dict[str, list[int] | None]:
    """What was remembered of a layout, by the name of the row."""
    layouts = remembered("layouts")
    found = layouts.get(name) if isinstance(layouts, dict) else None
    return found if isinstance(found, dict) else {}


def keep_sizes(name: str, sizes: dict[str, list[int] | None]) -> None:
    layouts = remembered("layouts")
    remember("layouts", {**(layouts if isinstance(layouts, dict) else {}), name: sizes})


def are_sizes(found: Any, count: int) -> bool:
    """Whether something that was remembered fits so many panes."""
    return isinstance(found, list) and len(found) == count and all(type(one) is int and 0 < one < 5000 for one in found)
