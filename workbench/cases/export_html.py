"""A run as one web page that needs nothing besides itself: no script, no picture, no request.

Whatever a run holds is escaped, and the page's own policy forbids scripts and every address, should an escape fail.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from workbench.engine.visible import visible

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #2a7d3f; --bad: #b3372f; --mark: #d9a44133; }
@media (prefers-color-scheme: dark) { :root { --good: #6fcf88; --bad: #f08c84; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
td { min-width: 2.4em; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font: 13px/1.45 ui-monospace, monospace; }
details { border: 1px solid var(--line); border-radius: .4rem; padding: .3rem .8rem; margin: .4rem 0; }
summary { cursor: pointer; } dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dt { opacity: .7; } dd { margin: 0; min-width: 0; } .right { color: var(--good); } .wrong { color: var(--bad); }
.why { background: var(--mark); padding: .4rem .8rem; border-radius: .4rem; }
"""


def html_page(data: Mapping[str, Any]) -> str:
    """The page of an exported run (see ``export_data``)."""
    title = f"ragwb: {data['file']}"
    head = "".join(
        (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="referrer" content="no-referrer">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{_text(title)}</title><style>{_STYLE}</style></head><body>",
        )
    )
    return "\n".join([head, *_summary(data), *_table(data["rows"]), *map(_item, data["rows"]), "</body></html>\n"])


def _text(value: Any) -> str:
    """Any value as inert text."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1, default=str)
    return escape(visible(text))


def _summary(data: Mapping[str, Any]) -> list[str]:
    totals = ", ".join(f"{count} {stage}" for stage, count in data["totals"].items()) or "none"
    facts = {
        "file": data["file"],
        "pipeline": data["pipeline"] or "not known",
        "items": str(data["items"]),
        "right by": data["metric"],
        "wrong": totals,
        "notes": "; ".join(data["notes"]) or "none",
    }
    return [f"<h1>{_text(data['file'])}</h1>", _list(facts.items())]


def _list(pairs: Iterable[tuple[str, Any]]) -> str:
    rows = "".join(f"<dt>{_text(name)}</dt><dd><pre>{_text(value)}</pre></dd>" for name, value in pairs)
    return f"<dl>{rows}</dl>"


def _table(rows: list[Mapping[str, Any]]) -> list[str]:
    scores = list(rows[0]["scores"]) if rows else []
    head = "".join(f"<th>{_text(name)}</th>" for name in ("item", "question", "gold", "prediction", *scores, "why"))
    lines = [f"<h2>Items</h2><table><thead><tr>{head}</tr></thead><tbody>"]
    for row in rows:
        verdict = row["verdict"]
        reason = f"{verdict['stage']}: {verdict['reason']}" if verdict is not None else ""
        cells = [row["question"], " | ".join(row["golds"]), row["prediction"]]
        cells += [f"{row['scores'][name]:.2f}" if name in row["scores"] else "-" for name in scores]
        link = f'<td><a href="#item-{int(row["item"])}">[{int(row["item"])}]</a></td>'
        lines.append(f"<tr>{link}{''.join(f'<td>{_text(cell)}</td>' for cell in [*cells, reason])}</tr>")
    return [*lines, "</tbody></table>"]


def _item(row: Mapping[str, Any]) -> str:
    number = int(row["item"])
    state = {True: "right", False: "wrong"}.get(row["right"], "not scored")
    name = "" if state == "not scored" else f' class="{state}"'
    parts = [f'<h2 id="item-{number}">Item [{number}] <span{name}>{state}</span></h2>']
    facts = [("question", row["question"]), ("gold", " | ".join(row["golds"])), ("prediction", row["prediction"])]
    facts += [(name, row[name]) for name in ("branch", "note") if row[name]]
    parts.append(_list(facts))
    verdict = row["verdict"]
    if verdict is not None:
        at = " ".join(part for part in (verdict["step"], verdict["name"]) if part)
        head = f"{verdict['stage']} ({verdict['sure']}): {verdict['why']}"
        shown = [(verdict[side]["what"], verdict[side]["text"]) for side in ("expected", "found")]
        parts.append(f'<div class="why"><strong>{_text(head)}</strong>{_list([("at", at), *shown])}</div>')
    return "\n".join([*parts, *map(_visit, row["way"])])


def _visit(visit: Mapping[str, Any]) -> str:
    at = " ".join(str(part) for part in (visit["visit"], visit["step"], visit["name"]) if part)
    seconds = f" ({visit['seconds']:.3f} s)" if "seconds" in visit else ""
    given = [(f"in: {name}", value) for name, value in visit.get("inputs", {}).items()]
    wrote = list(visit["wrote"].items()) or [("wrote", "nothing")]
    return f"<details><summary>{_text(at + seconds)}</summary>{_list([*given, *wrote])}</details>"
