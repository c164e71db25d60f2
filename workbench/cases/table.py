"""The table of items: which of them to show, and in which order.

A filter is an expression as breakpoints take them (a Jinja2 sandbox): ``f1 < 0.5 and rounds > 1``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from workbench.cases.study import ItemRow
from workbench.cases.verdict import Verdict
from workbench.engine.expressions import ExpressionError, evaluate
from workbench.engine.pool import VariablePool
from workbench.pipeline.problems import nearest


class TableError(Exception):
    """A filter or a column that can't be used; ``str()`` says why."""


class TableRow(Struct, frozen=True):
    """An item, with the verdict on it if it is wrong."""

    row: ItemRow
    verdict: Verdict | None = None

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
        }


def table(rows: Iterable[ItemRow], verdicts: Iterable[Verdict]) -> list[TableRow]:
    by_item: Mapping[int, Verdict] = {verdict.item: verdict for verdict in verdicts}
    return [TableRow(row, by_item.get(row.item)) for row in rows]


def filtered(rows: Sequence[TableRow], where: str) -> list[TableRow]:
    """The rows for which an expression over the columns holds. Raises ``TableError``."""
    pool = VariablePool()
    try:
        return [row for row in rows if evaluate(where, pool, row.columns())]
    except ExpressionError as error:
        names = ", ".join(rows[0].columns())
        raise TableError(f"--where: {error}; the columns are {names}") from None


def ordered(rows: Sequence[TableRow], column: str) -> list[TableRow]:
    """The rows by a column, smallest first; with ``-`` before its name, largest first. Raises ``TableError``."""
    name = column.removeprefix("-")
    known = rows[0].columns() if rows else {name: None}
    if name not in known:
        raise TableError(f"--sort {column}: there is no such column{nearest(name, known)}")

    def key(row: TableRow) -> tuple[str, Any]:
        value = row.columns()[name]
        return ("", value) if isinstance(value, int | float) else (type(value).__name__, str(value))

    return sorted(rows, key=key, reverse=column.startswith("-"))
