"""What the comparison of two runs is shown in: items, steps side by side, and scores."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.cases.compare import Comparison, ItemPair, Parting
from workbench.cases.saved_run import SavedVisit
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import column

SIGNS = {
    "better": ("▲", "good"),
    "worse": ("▼", "bad"),
    "changed": ("≠", "warning"),
    "same": ("=", "dim"),
    "unknown": ("?", "dim"),
}


class Pairs(RowsView):
    """A line for each question that both runs have."""

    BORDER_TITLE = "Items"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.pairs: Sequence[ItemPair] = ()
        self._empty = "comparing"

    @property
    def pair(self) -> ItemPair | None:
        """The one at the cursor."""
        return self.pairs[self.cursor] if self.cursor < len(self.pairs) else None

    def show(self, pairs: Sequence[ItemPair], empty: str) -> None:
        self.pairs, self._empty = pairs, empty
        self.rows_changed()

    def row_count(self) -> int:
        return len(self.pairs) or 1

    def row(self, index: int) -> Row:
        if not self.pairs:
            return Row((Part(f" {self._empty}", "dim"),))
        pair = self.pairs[index]
        sign, look = SIGNS[pair.outcome]
        width = self.row_width
        parts = (
            Part(f"{sign} ", look),
            Part(column(pair.outcome, 8), look),
            Part(column(f"[{pair.first.item}]", 7), "present"),
            Part(column(pair.first.question, max(12, width * 3 // 10)) + " "),
        )
        return Row((*parts, Part(where_they_part(pair.parting) if pair.parting is not None else "", "dim")))

    def row_text(self, index: int) -> str:
        if not self.pairs:
            return ""
        pair = self.pairs[index]
        return f"[{pair.first.item}] {pair.outcome} {pair.first.question} {pair.second.prediction}"


class StepsBeside(RowsView):
    """The visits of both runs, those side by side that are of the same step, round and branch."""

    BORDER_TITLE = "Steps"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._aligned: Sequence[tuple[SavedVisit | None, SavedVisit | None]] = ()
        self.marked: Parting | None = None
        """Where the item at the cursor parts."""

    @property
    def visits(self) -> tuple[SavedVisit | None, SavedVisit | None]:
        """Those at the cursor."""
        return self._aligned[self.cursor] if self.cursor < len(self._aligned) else (None, None)

    def show(self, comparison: Comparison) -> None:
        self._aligned = comparison.aligned
        self.rows_changed()

    def mark(self, parting: Parting | None) -> None:
        self.marked = parting
        self.refresh()

    def row_count(self) -> int:
        return len(self._aligned) or 1

    def row(self, index: int) -> Row:
        if not self._aligned:
            return Row((Part(" no visits", "dim"),))
        one, other = self._aligned[index]
        is_here = self.marked is not None and (one, other) == (self.marked.first, self.marked.second)
        width = max(10, (self.row_width - 4) // 2)
        look = "warning" if one is None or other is None else "name"
        return Row(
            (
                Part("▸ " if is_here else "  ", "mark"),
                Part(column(_visit(one), width) + " ", look),
                Part(column(_visit(other), width), look),
            )
        )


def _visit(visit: SavedVisit | None) -> str:
    return f"{visit.number:>3} {visit.place_text} {visit.step}".replace("  ", " ") if visit is not None else "    –"


class Scores(RowsView):
    """A line for each metric that both runs have, with the significance of the difference."""

    BORDER_TITLE = "Scores"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._comparison: Comparison | None = None

    def show(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self.rows_changed()

    def row_count(self) -> int:
        scores = self._comparison.scores if self._comparison is not None else ()
        return len(scores) + 2 if scores else 1

    def row(self, index: int) -> Row:
        scores = self._comparison.scores if self._comparison is not None else ()
        if not scores:
            has_items = self._comparison is None or bool(self._comparison.items)
            return Row((Part(" no score that both have" if has_items else " no item in common", "dim"),))
        if not index:
            return Row((Part(f" {'':<10}{'A':>8}{'B':>8}{'B - A':>9}{'p':>8}", "dim"),))
        if index > len(scores):
            tested = scores[0].tested
            text = f" p: paired permutation test, {tested.resamples:,} resamples, seed {tested.seed}"
            return Row((Part(text, "dim"),))
        score = scores[index - 1]
        change = score.second - score.first
        look = "good" if change > 0 else "bad" if change < 0 else "dim"
        numbers = f"{score.first:>8.4f}{score.second:>8.4f}"
        return Row(
            (
                Part(f" {column(score.name, 10)}", "name"),
                Part(numbers, "value"),
                Part(f"{change:>+9.4f}", look),
                Part(f"{score.tested.p:>8.4f}", "present" if score.tested.p < 0.05 else "dim"),
            )
        )


def where_they_part(parting: Parting) -> str:
    """``5.3 retriever.search: ret_psg``; or which of both runs alone made it."""
    visit = parting.first or parting.second
    if visit is None:
        return parting.name
    alone = (
        ""
        if parting.first is not None and parting.second is not None
        else (" (only A)", " (only B)")[parting.first is None]
    )
    return f"{visit.place_text} {visit.step}: {parting.name}{alone}".strip()
