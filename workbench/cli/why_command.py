"""``ragwb why FILE``: each item of a saved run, right or wrong, and the step at fault."""

from __future__ import annotations

import argparse

from workbench.cases.as_data import study_data
from workbench.cases.study import Study
from workbench.cases.table import TableError, TableRow, filtered, ordered, table
from workbench.cases.verdict import Verdict, totals_text
from workbench.cases.why import verdicts
from workbench.cli.exits import Exit
from workbench.cli.opened import WrongUse, notes_of, opened_runs, read_items, say_notes, study_of
from workbench.cli.printing import print_json, print_text
from workbench.cli.report import say
from workbench.engine.values import count_of
from workbench.engine.visible import one_line
from workbench.record.redaction import Redactor

_SHORT, _LONG = 36, 400
"""Characters of a text in the table, and below an item that was asked for."""


def why(options: argparse.Namespace) -> int:
    try:
        opened = opened_runs(options.file, options.pipeline)[0]
        study = study_of(opened, options)
        items = read_items(options.items, study.run.count)
        rows = _rows(study, items, options)
    except WrongUse as error:
        if str(error):
            say(f"ragwb why: {error}")
        return Exit.WRONG
    redactor = opened.redactor()
    if options.json:
        print_json(redactor.value(study_data(study, rows)))
        return Exit.WELL
    say_notes(study.notes)
    print_text(_text(study, rows, redactor, in_full=items is not None))
    return Exit.WELL


def _rows(study: Study, items: list[int] | None, options: argparse.Namespace) -> list[TableRow]:
    chosen = [row for row in study.rows if items is None or row.item in items]
    rows = table(chosen, verdicts(study, items), notes_of(study.opened))
    try:
        rows = filtered(rows, options.where) if options.where and rows else rows
    except TableError as error:
        raise WrongUse(f"--where: {error}") from None
    try:
        return ordered(rows, options.sort) if options.sort else rows
    except TableError as error:
        raise WrongUse(f"--sort {options.sort}: {error}") from None


def _text(study: Study, rows: list[TableRow], redactor: Redactor, *, in_full: bool) -> str:
    """The table, and below it the totals; with ``in_full`` the evidence of each item instead."""
    found = [row.verdict for row in rows if row.verdict is not None]
    if in_full:
        parts = [_item(row, redactor) for row in rows]
    elif rows:
        parts = [_table(study, rows, redactor)]
    else:
        parts = []
    return "\n\n".join([*parts, _totals(study, rows, found)])


def _totals(study: Study, rows: list[TableRow], found: list[Verdict]) -> str:
    right = sum(row.row.is_right is True for row in rows)
    unknown = sum(row.row.is_right is None for row in rows)
    rest = f", {unknown} without a prediction or a gold" if unknown else ""
    counted = f"{count_of(len(rows), 'item')}, {right} right by {study.metric}{rest}"
    return f"{counted}; {totals_text(found)}{_other_metrics(study)}"


def _other_metrics(study: Study) -> str:
    """Where not one item is right, the prediction may hold more than the answer: what else the run was scored by."""
    better = study.kinder_metric
    return f"\nby {better} some are right: --metric {better}" if better is not None else ""


def _table(study: Study, rows: list[TableRow], redactor: Redactor) -> str:
    scores = list(rows[0].row.scores)
    has_paths = any(row.row.path.turns for row in rows)
    head = ["item", "question", "gold", "prediction", *scores, *(["branch"] if has_paths else []), "why"]
    lines = [head, *([*_cells(row, scores, redactor, has_paths=has_paths)] for row in rows)]
    if any(row.note for row in rows):
        noted = ["note", *(f"{'*' * row.note.is_marked} {_short(row.note.text, redactor)}".strip() for row in rows)]
        lines = [[*line[:-1], note, line[-1]] for line, note in zip(lines, noted, strict=True)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(lines[0]) - 1)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[-1]]).rstrip()
        for line in lines
    )


def _cells(table_row: TableRow, scores: list[str], redactor: Redactor, *, has_paths: bool) -> list[str]:
    row, verdict = table_row.row, table_row.verdict

    numbers = [f"{row.scores[name]:.2f}" if name in row.scores else "-" for name in scores]
    reason = f"{verdict.stage}: {verdict.reason} ({verdict.at or '?'})" if verdict is not None else ""
    paths = [_short(str(row.path), redactor)] if has_paths else []
    return [
        f"[{row.item}]",
        *(_short(text, redactor) for text in (row.question, " | ".join(row.golds), row.prediction)),
        *numbers,
        *paths,
        reason,
    ]


def _short(text: str, redactor: Redactor) -> str:
    """A text in the table."""
    plain = one_line(redactor.text(text))
    return plain if len(plain) <= _SHORT else f"{plain[: _SHORT - 1]}…"


def _item(table_row: TableRow, redactor: Redactor) -> str:
    row, verdict = table_row.row, table_row.verdict
    state = {True: "right", False: "wrong", None: "not scored"}[row.is_right]
    scores = "  ".join(f"{name} {score:.3f}" for name, score in row.scores.items())
    lines = [("item", f"[{row.item}] {state}  {scores}".rstrip()), ("question", row.question)]
    lines += [("gold", " | ".join(row.golds)), ("prediction", row.prediction)]
    if table_row.note:
        mark = "marked" if table_row.note.is_marked else ""
        lines.append(("note", "; ".join(part for part in (mark, table_row.note.text) if part)))
    if str(row.path):
        lines.append(("branch", f"{row.path} (rounds: {row.path.rounds})"))
    if verdict is not None:
        lines.append(("why", f"{verdict.stage}, {verdict.reason}, {verdict.sure}: {verdict.sentence}"))
        lines.append(("at", f"{verdict.at or 'a step that is not known'}{_visit(verdict.visit)}"))
        for shown in (verdict.expected, verdict.found):
            lines.append((shown.what, f"{shown.text}{_visit(shown.visit)}"))
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:<{width}}  {one_line(redactor.text(text), _LONG)}" for name, text in lines)


def _visit(number: int | None) -> str:
    return f" (visit {number})" if number is not None else ""
