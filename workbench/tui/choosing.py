"""What is in this folder, to choose from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from textual import on, work
from textual.app import ComposeResult

from workbench.tui.action_screen import ActionScreen
from workbench.tui.actions import CHOOSING
from workbench.tui.bars import Bar
from workbench.tui.rows import Part, Row, RowsView


class Offer(Struct, frozen=True):
    """A file to open. ``about`` looks into it for what is to be known of it, which may take a moment."""

    kind: str
    file: Path
    date: str
    about: Callable[[Path], str]


class Offers(RowsView):
    """The files by kind, the newest first."""

    def __init__(self, offers: Sequence[Offer]) -> None:
        super().__init__()
        self._offers = offers
        self.about: dict[Path, str] = {}
        self._rows: list[Offer | str] = []
        for offer in offers:
            if offer.kind not in self._rows:
                self._rows += ["", offer.kind] if self._rows else [offer.kind]
            self._rows.append(offer)
        self._width = max((len(str(offer.file)) for offer in offers), default=0)

    @property
    def offer(self) -> Offer | None:
        row = self._rows[self.cursor] if self._rows else None
        return row if isinstance(row, Offer) else None

    def row_count(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Row:
        row = self._rows[index]
        if isinstance(row, str):
            return Row((Part(row, "name"),))
        about = self.about.get(row.file, "")
        return Row((Part(f"  {row.date}  ", "dim"), Part(f"{row.file!s:<{self._width}}  "), Part(about, "dim")))


class ChoosingScreen(ActionScreen[None]):
    """The app ends with the file that was chosen."""

    ACTIONS = CHOOSING

    def __init__(self, title: str, offers: Sequence[Offer]) -> None:
        super().__init__()
        self._title = title
        self._offers = offers
        self._rows = Offers(offers)

    def compose(self) -> ComposeResult:
        yield Bar(id="place")
        yield self._rows
        yield from self.compose_foot()

    def on_mount(self) -> None:
        self.query_one("#place", Bar).show([Part(f" {self._title}  ", "key"), Part("Enter opens", "dim")])
        self._rows.focus()
        self._rows.move_cursor(1)
        self._look_into_files()

    @work(exit_on_error=False)
    async def _look_into_files(self) -> None:
        for offer in self._offers:
            self._rows.about[offer.file] = await asyncio.to_thread(offer.about, offer.file)
            self._rows.refresh()

    @on(RowsView.Chosen)
    def action_open(self) -> None:
        if self._rows.offer is not None:
            self.app.exit(self._rows.offer.file)

    def rows_in_front(self) -> RowsView:
        return self._rows

    def value_at_cursor(self) -> tuple[str, Any] | None:
        offer = self._rows.offer
        return ("path", str(offer.file)) if offer is not None else None
