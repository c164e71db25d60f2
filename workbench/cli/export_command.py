"""``ragwb export FILE``: a run as a web page, Markdown or JSON; one visit as a test; secrets masked."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from workbench.cases.as_data import export_data
from workbench.cases.opening import OpenedRun
from workbench.cases.table import table
from workbench.cases.why import verdicts
from workbench.cli.exits import Exit
from workbench.cli.opened import WrongUse, notes_of, opened_runs, read_items, say_notes, study_of
from workbench.cli.printing import print_json, print_text
from workbench.cli.report import say


def export(options: argparse.Namespace) -> int:
    try:
        opened = opened_runs(options.file, options.pipeline)[0]
        if options.test is not None:
            return _test(opened, options)
        data = _data(opened, options)
    except WrongUse as error:
        if str(error):
            say(f"ragwb export: {error}")
        return Exit.WRONG
    say_notes(data["notes"])
    if options.html is not None:
        from workbench.cases.export_html import html_page

        _give(html_page(data), str(options.html))
    elif options.markdown is not None:
        from workbench.cases.export_markdown import markdown_page

        _give(markdown_page(data), options.markdown)
    elif options.json == "-":
        print_json(data)
    else:
        _give(json.dumps(data, ensure_ascii=False, indent=2, default=str) + "\n", options.json)
    return Exit.WELL


def _data(opened: OpenedRun, options: argparse.Namespace) -> Any:
    """Everything that an export holds, masked. Raises ``WrongUse``."""
    study = study_of(opened, options)
    items = read_items(options.items, study.run.count)
    chosen = [row for row in study.rows if items is None or row.item in items]
    rows = table(chosen, verdicts(study, items), notes_of(opened))
    return opened.redactor().value(export_data(study, rows))


def _test(opened: OpenedRun, options: argparse.Namespace) -> int:
    from workbench.cases.export_test import NoTest, test_of_visit

    try:
        text = test_of_visit(opened, options.test)
    except NoTest as error:
        raise WrongUse(str(error)) from None
    redactor = opened.redactor()
    if redactor.text(text) != text:
        say("note: secrets in it are masked: put them back from the environment before you run the test")
    print_text(redactor.text(text).rstrip("\n"))
    return Exit.WELL


def _give(text: str, place: str) -> None:
    """Print a text, or write it to a file, which is said."""
    if place == "-":
        print_text(text.rstrip("\n"))
        return
    Path(place).write_text(text, encoding="utf-8", errors="backslashreplace")
    say(f"written: {place}")
