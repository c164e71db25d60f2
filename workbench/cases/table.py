"""The table of items: which of them to show, and in which order.

A filter is an expression as breakpoints take them (a Jinja2 sandbox): ``f1 < 0.5 and rounds > 1``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from workbench.cases.notes import NOTHING, Note
from workbench.cases.study import ItemRow
from workbench.cases.verdict import Verdict
from workbench.engine.expressions import ExpressionError, check_expression, evaluate
from workbench.engine.pool import VariablePool
from workbench.pipeline.problems import nearest


class TableError(Exception):
    """A filter or a column that can't be used; ``str()`` says why."""


class TableRow(Struct, frozen=True):
    """An item, with the verdict on it if it is wrong, and what a reader left at it."""

    row: ItemRow
    verdict: Verdict | None = None
    note: Note = NOTHING

    def columns(self) -> dict[str, Any]:
        """Every column by its name, as filters know it. ``rounds`` is left out where the file does not tell."""
        row, verdict = self.row, self.verdict
        scores = {name.replace("-", "_"): score for name, score in row.scores.items()}
        return {
            "item": row.item,
            "question": row.question,
            "gold": " | ".join(row.golds),
            "prediction": row.prediction,
            **scores,
            "right": row.is_right,
            "branch": str(row.path),
            **({"rounds": row.path.rounds} if row.path.rounds is not None else {}),
            "stage": verdict.stage if verdict is not None else "",
            "reason": verdict.reason if verdict is not None else "",
            "step": verdict.at if verdict is not None else "",
            "sure": verdict.sure if verdict is not None else "",
            "marked": self.note.is_marked,
            "note": self.note.text,
        }


def table(
    rows: Iterable[ItemRow], verdicts: Iterable[Verdict], notes: Mapping[int, Note] | None = None
) -> list[TableRow]:
    by_item: Mapping[int, Verdict] = {verdict.item: verdict for verdict in verdicts}
    notes = notes or {}
    return [TableRow(row, by_item.get(row.item), notes.get(row.item, NOTHING)) for row in rows]


def filtered(rows: Sequence[TableRow], where: str) -> list[TableRow]:
    """The rows for which an expression over the columns holds.

    A row that lacks what the expression names (a score where there is no gold) is left out. Raises ``TableError``
    where the expression can't be read, or be worked out for any row.
    """
    pool = VariablePool()
    found: list[TableRow] = []
    failed: list[ExpressionError] = []
    try:
        check_expression(where)
    except ExpressionError as error:
        raise TableError(str(error)) from None
    for row in rows:
        try:
            if evaluate(where, pool, row.columns()):
                found.append(row)
        except ExpressionError as error:
            failed.append(error)
    if failed and len(failed) == len(rows):
        raise TableError(f"{failed[0]}; the columns are {', '.join(rows[0].columns())}")
    return found


def ordered(rows: Sequence[TableRow], column: str) -> list[TableRow]:
    """The rows by a column, smallest first; with ``-`` before its name, largest first. Raises ``TableError``."""
    name = column.removeprefix("-")
    known = rows[0].columns() if rows else {name: None}
    if name not in known:
        raise TableError(f"there is no column {name}{nearest(name, known)}")

    def key(row: TableRow) -> tuple[str, Any]:
        value = row.columns()[name]
        return ("", value) if isinstance(value, int | float) else (type(value).__name__, str(value))

    return sorted(rows, key=key, reverse=column.startswith("-"))
