"""A run, or some of its items, on its way out: as a web page, as Markdown, as JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.app import App

from workbench.cases.as_data import export_data
from workbench.cases.export_html import html_page
from workbench.cases.export_markdown import markdown_page
from workbench.engine.values import count_of
from workbench.tui.dialogs import Choose
from workbench.tui.studying import Studied
from workbench.tui.values_out import save_text

_FORMS: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], str]]] = {
    "a web page that needs nothing besides itself": (".html", html_page),
    "Markdown, for an issue": (".md", markdown_page),
    "JSON, for machines": (".json", lambda data: json.dumps(data, ensure_ascii=False, indent=2, default=str) + "\n"),
}


async def share(app: App[Any], studied: Studied, items: Sequence[int] | None) -> Path | None:
    """Ask for form and file, and write items (all: None) with their verdicts and ways; secrets are masked."""
    what = f"the {count_of(len(items), 'marked item')}" if items is not None else "all items (Space in the table marks)"
    chosen = await app.push_screen_wait(Choose(f"Export {what} as", list(_FORMS)))
    if chosen is None:
        return None
    suffix, form = _FORMS[chosen]
    text = await asyncio.to_thread(_text, studied, items, form)
    return await save_text(app, what, f"{studied.run.file.stem}_items{suffix}", text)


def _text(studied: Studied, items: Sequence[int] | None, form: Callable[[Mapping[str, Any]], str]) -> str:
    assert studied.study is not None
    rows = [row for row in studied.rows if items is None or row.row.item in items]
    return form(studied.opened.redactor().value(export_data(studied.study, rows)))
