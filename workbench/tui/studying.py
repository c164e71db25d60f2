"""A saved run with what is worked out of it: the rows of its items and the verdicts, away from the screen's thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace
from textual.app import App

from workbench.cases.notes import NOTHING, Note, Notes, NotesUnreadable
from workbench.cases.opening import OpenedRun
from workbench.cases.roles import RoleError
from workbench.cases.saved_run import SavedRun
from workbench.cases.study import ItemRow, Study
from workbench.cases.table import TableError, TableRow, filtered, ordered, table
from workbench.cases.verdict import Verdict
from workbench.cases.why import judged

TELL_SECONDS = 0.1


class Studied:
    """One run. ``study`` is None and ``rows`` are empty until they are worked out; ``shown`` are those of the filter.

    ``listen`` is called on the screen's thread whenever there is more to see.
    """

    def __init__(self, opened: OpenedRun, named: Mapping[str, str] | None = None, metric: str | None = None) -> None:
        self.opened = opened
        self.named = dict(named or {})
        self.metric = metric
        self.study: Study | None = None
        self.rows: list[TableRow] = []
        self.shown: list[TableRow] = []
        self.where = ""
        self.sort = ""
        self.place = 0
        """The row that was looked at last."""
        self.progress: tuple[str, int, int] | None = None
        """What is being worked out, how much of it is, and how much it is in all."""
        self.trouble: str | None = None
        self.notes: Notes | None = None
        self.listen: Callable[[], None] = lambda: None
        self._number = 0

    @property
    def run(self) -> SavedRun:
        return self.opened.run

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left to be worked out."""
        return self.study is not None and self.progress is None

    def begin(self, app: App[Any]) -> None:
        """Work out everything, or anew after ``named`` or the run have changed; what was under way before is void."""
        self._number += 1
        self.study, self.rows, self.shown = None, [], []
        self.progress = ("items", 0, self.run.count)
        try:
            self.notes = Notes(self.run)
        except NotesUnreadable as error:
            self.notes, self.trouble = None, str(error)
        number = self._number
        app.run_worker(lambda: self._work(app, number), thread=True, group="looking at items", exit_on_error=False)

    def _work(self, app: App[Any], number: int) -> None:
        """On a thread of its own: only ``call_from_thread`` touches anything."""

        def told(what: str) -> Callable[[int, int], None]:
            last = time.monotonic()

            def tell(done: int, total: int) -> None:
                nonlocal last
                if number != self._number or not app.is_running:
                    raise _Void
                if time.monotonic() - last > TELL_SECONDS:
                    last = time.monotonic()
                    app.call_from_thread(self._take, number, progress=(what, done, total))

            return tell

        try:
            study = Study(self.opened, self.named, self.metric)
            rows = self._table(study.work_out(told("items")), ())
            wrong = sum(row.row.is_right is False for row in rows)
            shown = self._arranged(rows)
            app.call_from_thread(
                self._take, number, study=study, rows=rows, shown=shown, progress=("verdicts", 0, wrong)
            )
            tell = told("verdicts")
            found: list[Verdict] = []
            for verdict in judged(study):
                found.append(verdict)
                tell(len(found), wrong)
            rows = self._table(study.rows, found)
            app.call_from_thread(self._take, number, rows=rows, shown=self._arranged(rows))
        except _Void:
            pass
        except RoleError as error:
            app.call_from_thread(self._fail, number, str(error))

    def _table(self, rows: Sequence[ItemRow], verdicts: Sequence[Verdict]) -> list[TableRow]:
        return table(rows, verdicts, self.notes.by_item if self.notes is not None else None)

    def _arranged(self, rows: list[TableRow]) -> tuple[str, str, list[TableRow]]:
        """The filter and the order that are wished by now, and what they leave; nothing of them where they fail."""
        where, sort = self.where, self.sort
        try:
            return where, sort, arranged(rows, where, sort)
        except TableError:
            return "", "", rows

    def _fail(self, number: int, trouble: str) -> None:
        if number == self._number:
            self.trouble, self.progress = trouble, None
            self.listen()

    def _take(
        self,
        number: int,
        *,
        study: Study | None = None,
        rows: list[TableRow] | None = None,
        shown: tuple[str, str, list[TableRow]] | None = None,
        progress: tuple[str, int, int] | None = None,
    ) -> None:
        if number != self._number:
            return
        self.progress = progress
        self.study = study or self.study
        if rows is not None and shown is not None:
            self.rows = rows
            is_wished = shown[:2] in ((self.where, self.sort), ("", ""))
            self.where, self.sort, self.shown = shown if is_wished else self._arranged(rows)
        self.listen()

    # ---- the table

    def show(self, rows: list[TableRow], where: str, sort: str) -> None:
        self.shown, self.where, self.sort = rows, where, sort

    # ---- notes

    def note_of(self, item: int) -> Note:
        return self.notes.of(item) if self.notes is not None else NOTHING

    def keep_note(self, item: int, *, is_marked: bool | None = None, text: str | None = None) -> None:
        """Mark an item, or write a note at it. Raises ``OSError``, ``NotesUnreadable``."""
        if self.notes is None:
            raise NotesUnreadable(self.trouble or "the notes can't be kept")
        if is_marked is not None:
            self.notes.mark(item, is_marked)
        if text is not None:
            self.notes.write(item, text)
        note = self.notes.of(item)
        for rows in (self.rows, self.shown) if self.shown is not self.rows else (self.rows,):
            for place in _places(rows, item):
                rows[place] = replace(rows[place], note=note)


def arranged(rows: list[TableRow], where: str, sort: str) -> list[TableRow]:
    """The rows of a filter, in the order of a column. Raises ``TableError``."""
    rows = filtered(rows, where) if where and rows else rows
    return ordered(rows, sort) if sort and rows else rows


class _Void(Exception):
    """Nobody waits for the result any more."""


def _places(rows: list[TableRow], item: int) -> list[int]:
    if item < len(rows) and rows[item].row.item == item:
        return [item]
    return [place for place, row in enumerate(rows) if row.row.item == item]
