"""A run as Markdown for an issue: a table of items, and below it what is wrong with which."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.engine.values import count_of
from workbench.engine.visible import one_line, visible

_CELL = 80
_BLOCK = 2000
"""Characters of a text in the table, and in a block."""
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&@])")


def markdown_page(data: Mapping[str, Any]) -> str:
    """The page of an exported run (see ``export_data``). Nothing in it is taken for markup."""
    totals = ", ".join(f"{count} {stage}" for stage, count in data["totals"].items()) or "none"
    lines = [
        f"### {_inline(data['file'])}",
        "",
        f"{_count(data['rows'])}, judged by {_inline(data['metric'])}; wrong: {totals}",
        *(f"- {_inline(note)}" for note in data["notes"]),
        "",
        *_table(data["rows"]),
    ]
    for row in data["rows"]:
        lines += ["", *_item(row)]
    return "\n".join(lines) + "\n"


def _count(rows: Sequence[Mapping[str, Any]]) -> str:
    right = sum(row["right"] is True for row in rows)
    return f"{count_of(len(rows), 'item')}, {right} right"


def _table(rows: list[Mapping[str, Any]]) -> list[str]:
    scores = list(rows[0]["scores"]) if rows else []
    head = ["item", "question", "gold", "prediction", *scores, "why"]
    lines = [_line(map(_inline, head)), _line("---" for _ in head)]
    for row in rows:
        verdict = row["verdict"]
        numbers = [f"{row['scores'][name]:.2f}" if name in row["scores"] else "" for name in scores]
        reason = f"{verdict['stage']}: {verdict['reason']}" if verdict is not None else ""
        texts = (row["question"], " | ".join(row["golds"]), row["prediction"])
        lines.append(_line([str(row["item"]), *map(_inline, texts), *numbers, _inline(reason)]))
    return lines


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _item(row: Mapping[str, Any]) -> list[str]:
    verdict = row["verdict"]
    lines = [f"#### Item {row['item']}", ""]
    if row["note"]:
        lines += [f"Note: {_inline(row['note'])}", ""]
    if verdict is not None:
        at = " ".join(part for part in (verdict["step"], verdict["name"]) if part)
        lines += [f"**{verdict['stage']}** ({verdict['sure']}) at {_inline(at)}: {_inline(verdict['why'])}", ""]
        for side in ("expected", "found"):
            lines += [f"{_inline(verdict[side]['what'])}:", *_block(verdict[side]["text"]), ""]
    for visit in row["way"]:
        at = " ".join(str(part) for part in (visit["visit"], visit["step"], visit["name"]) if part)
        lines += [f"<details><summary>{_inline(at)}</summary>", ""]
        for name, value in visit["wrote"].items():
            lines += [f"{_inline(name)}:", *_block(value), ""]
        lines += ["</details>", ""]
    return lines


def _inline(text: str) -> str:
    """A text on one line in which nothing is markup."""
    return _SPECIAL.sub(r"\\\1", one_line(text, _CELL * 4)[: _CELL * 4])


def _block(value: Any) -> list[str]:
    """A block whose fence is longer than every row of backticks in it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1, default=str)
    text = visible(text if len(text) <= _BLOCK else f"{text[:_BLOCK]}… ({len(text):,} characters)")
    longest = max((len(found) for found in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", text, fence]
