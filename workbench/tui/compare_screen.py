"""Two runs side by side: which items got better or worse, where each parts, the scores, the texts word by word."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import Any, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType

from workbench.cases.compare import Comparison, ItemPair, entries_of
from workbench.cases.study import Study
from workbench.tui.actions import COMPARE
from workbench.tui.bars import Bar
from workbench.tui.compare_rows import SIGNS, Pairs, Scores, StepsBeside, where_they_part
from workbench.tui.desk import Desk, run_name
from workbench.tui.dialogs import Choose
from workbench.tui.diff_view import DiffLine, DiffView, diff_lines, heading
from workbench.tui.diff_viewer import DiffViewer
from workbench.tui.differences import Difference
from workbench.tui.panes import PaneArea
from workbench.tui.rows import Part, RowsView
from workbench.tui.study_screen import ScreenOverWalk
from workbench.tui.studying import Studied
from workbench.tui.text import fit, one_line

_PARTINGS = 12
"""Variables of an item whose differences are shown."""
_ALL, _DIFFERENT = "all items", "those that differ"


class CompareScreen(ScreenOverWalk):
    """``first`` is A, ``second`` is B."""

    ACTIONS = COMPARE
    SIGNS = tuple((sign, outcome) for outcome, (sign, _) in SIGNS.items())
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "restore", show=False)]

    def __init__(self, desk: Desk, first: Studied, second: Studied) -> None:
        self._pairs = Pairs(id="items")
        self._difference = DiffView(id="difference")
        self._steps = StepsBeside(id="steps")
        self._scores = Scores(id="scores")
        super().__init__(desk, PaneArea([self._pairs, self._difference], [self._steps, self._scores]))
        self._sides = (first, second)
        self._comparison: Comparison | None = None
        self._shown = _ALL

    def on_mount(self) -> None:
        self._difference.border_title = "Difference: [-only A-] {+only B+}".replace("[", "\\[")
        self._pairs.focus()
        self.show_run()

    # ---- comparing

    def show_run(self) -> None:
        self._show_status()
        self._compare()

    @work(group="looking at two runs", exclusive=True, exit_on_error=False)
    async def _compare(self) -> None:
        self._comparison = await asyncio.to_thread(self._compared)
        self._steps.show(self._comparison)
        self._scores.show(self._comparison)
        self._show_pairs()

    def _compared(self) -> Comparison:
        ones, others = (side.study or Study(side.opened, side.named, side.metric) for side in self._sides)
        comparison = Comparison(ones, others)
        _ = comparison.items, comparison.scores
        return comparison

    def _show_pairs(self) -> None:
        assert self._comparison is not None
        pairs = [pair for pair in self._comparison.items if self._is_shown(pair)]
        self._pairs.show(pairs, "no item of this kind" if self._comparison.items else "they have no item in common")
        self._show_status()
        self._show_pair()

    def _is_shown(self, pair: ItemPair) -> bool:
        if self._shown == _DIFFERENT:
            return pair.parting is not None or pair.outcome != "same"
        return self._shown in (_ALL, pair.outcome)

    def _show_status(self) -> None:
        room = max(8, (self.app.size.width - len(self._shown) - 34) // 2)
        ones, others = (fit(one_line(run_name(side.run)), room) for side in self._sides)
        names = (Part(" ragwb compare  ", "key"), Part(f"A {ones}", "bad"))
        place = [*names, Part("  against  ", "dim"), Part(f"B {others}", "good")]
        self.query_one("#place", Bar).show(place, [Part(f"{self._shown} ", "front" if self._shown != _ALL else "dim")])
        self.query_one("#reason", Bar).show(self._reason())

    def _reason(self) -> list[Part]:
        if self._comparison is None:
            return [Part(" comparing", "present")]
        parts = [Part(f" {len(self._comparison.items):,} items in both:  ")]
        for outcome, count in self._comparison.outcomes.items():
            sign, look = SIGNS[outcome]
            parts.append(Part(f"{sign} {count:,} {outcome}  ", look if count else "dim"))
        for items, name in zip(self._comparison.lonely, "AB", strict=True):
            if items:
                parts.append(Part(f"only in {name}: {len(items):,}  ", "warning"))
        return parts

    # ---- one item

    @on(RowsView.Highlighted, "#items")
    def _moved(self) -> None:
        self._show_pair()

    @work(group="looking at a difference", exclusive=True, exit_on_error=False)
    async def _show_pair(self) -> None:
        pair = self._pairs.pair
        self._steps.mark(pair.parting if pair is not None else None)
        self._difference.show(await asyncio.to_thread(self._lines, pair) if pair is not None else [])

    def _lines(self, pair: ItemPair) -> list[DiffLine]:
        assert self._comparison is not None
        lines = [heading(f"[{pair.first.item}] {pair.first.question}", pair.outcome)]
        if pair.first.prediction != pair.second.prediction:
            lines += [heading("prediction")]
            lines += _texts_compared(pair.first.prediction, pair.second.prediction)
        partings = list(islice(self._comparison.partings(pair.first.item, pair.second.item), _PARTINGS))
        for number, parting in enumerate(partings):
            lines.append(heading(where_they_part(parting), "here they part" if not number else ""))
            lines += _texts_compared(*parting.texts)
        if not partings:
            lines.append(heading("", "every step gave the same"))
        return lines

    @on(RowsView.Chosen, "#items")
    def _pair_chosen(self) -> None:
        self.action_walk()

    @on(RowsView.Chosen, "#steps")
    def _step_chosen(self) -> None:
        """What both visits gave for the item at the cursor."""
        comparison, pair, visits = self._comparison, self._pairs.pair, self._steps.visits
        if comparison is None or pair is None:
            return
        sides = zip((comparison.first, comparison.second), visits, (pair.first, pair.second), "AB", strict=True)
        shown: list[tuple[str, Any]] = [
            (f"{name} {visit.number} {visit.step}" if visit is not None else f"{name}: no visit",
             entries_of(study, visit, row.item))
            for study, visit, row, name in sides
        ]  # fmt: skip
        self.app.push_screen(DiffViewer(shown[0], shown[1]))

    def value_at_cursor(self) -> tuple[str, Any] | None:
        rows, pair = self.rows_in_front(), self._pairs.pair
        if rows is self._pairs:
            return (f"item {pair.first.item}", pair.first.question) if pair is not None else None
        return rows.id or "", "\n".join(rows.row_text(number).rstrip() for number in range(rows.row_count()))

    # ---- the lens is on the item at the cursor

    @property
    def lens(self) -> int | None:
        pair = self._pairs.pair
        return pair.first.item if pair is not None else None

    def item_count(self) -> int:
        return len(self._pairs.pairs)

    def pin(self, item: int | None) -> None:
        place = next((n for n, pair in enumerate(self._pairs.pairs) if pair.first.item == item), None)
        if place is not None:
            self._pairs.move_cursor(place)
            self._show_pair()

    # ---- commands

    def action_walk(self) -> None:
        """Walk run A where the item parts."""
        pair = self._pairs.pair
        if pair is not None:
            visit = pair.parting.first if pair.parting is not None else None
            self._desk.number = self._desk.studies.index(self._sides[0])
            while len(self.app.screen_stack) > 1:
                self.app.pop_screen()
            self._desk.walk(pair.first.item, visit.number if visit is not None else None)

    def action_swap(self) -> None:
        """A becomes B, and B becomes A."""
        self._sides = (self._sides[1], self._sides[0])
        self.show_run()

    @work
    async def action_filter_outcomes(self) -> None:
        chosen = await self.app.push_screen_wait(Choose("Show which items?", [_ALL, _DIFFERENT, *SIGNS]))
        if chosen is not None and self._comparison is not None:
            self._shown = chosen
            self._show_pairs()


def _texts_compared(old: str, new: str) -> list[DiffLine]:
    """Two texts word by word; they stand below a heading that says what they are."""
    return diff_lines([Difference("", old, new)])[1:]
