"""Items, verdicts and ways as plain data: what ``--json`` prints and exports hold."""

from __future__ import annotations

from typing import Any

from workbench.cases.saved_run import SavedVisit, whole
from workbench.cases.study import Study
from workbench.cases.table import TableRow
from workbench.cases.verdict import Shown, Verdict, totals


def study_data(study: Study, rows: list[TableRow]) -> dict[str, Any]:
    """One object: the run, its roles, notes, totals and items."""
    roles = study.roles
    known = study.opened.pipeline
    return {
        "file": str(study.run.file),
        "pipeline": str(known.pipeline.file) if known is not None else None,
        "items": study.run.count,
        "metric": study.metric,
        "roles": {role: getattr(roles, role) for role in ("question", "gold", "prediction", "passages")},
        "notes": list(study.notes),
        "totals": totals(row.verdict for row in rows if row.verdict is not None),
        "rows": [row_data(row) for row in rows],
    }


def export_data(study: Study, rows: list[TableRow]) -> dict[str, Any]:
    """All that an export holds: the study, and each item's way. Secrets are not masked yet."""
    data = study_data(study, rows)
    for row in data["rows"]:
        row["way"] = way_of(study, row["item"])
    return data


def row_data(table_row: TableRow) -> dict[str, Any]:
    row = table_row.row
    return {
        "item": row.item,
        "question": row.question,
        "golds": list(row.golds),
        "prediction": row.prediction,
        "scores": dict(row.scores),
        "right": row.is_right,
        "branch": str(row.path) or None,
        "rounds": row.path.rounds,
        "marked": table_row.note.is_marked,
        "note": table_row.note.text or None,
        "verdict": verdict_data(table_row.verdict) if table_row.verdict is not None else None,
    }


def verdict_data(verdict: Verdict) -> dict[str, Any]:
    return {
        "stage": verdict.stage,
        "reason": verdict.reason,
        "step": verdict.step,
        "name": verdict.name,
        "visit": verdict.visit,
        "sure": verdict.sure,
        "why": verdict.sentence,
        "expected": _shown(verdict.expected),
        "found": _shown(verdict.found),
    }


def _shown(shown: Shown) -> dict[str, Any]:
    return {"what": shown.what, "visit": shown.visit, "text": shown.text}


def way_of(study: Study, item: int) -> list[dict[str, Any]]:
    """An item's way through the run: every visit that worked on it, with what it was given and wrote for the item."""
    return [_step(study, visit, item) for visit in study.run.visits if _worked_on(study, visit, item)]


def _worked_on(study: Study, visit: SavedVisit, item: int) -> bool:
    items = study.flow.items_of(visit)
    return items is None or item in items


def _step(study: Study, visit: SavedVisit, item: int) -> dict[str, Any]:
    recorded = visit.recorded
    data: dict[str, Any] = {"visit": visit.number, "step": visit.place_text or None, "name": visit.step}
    if recorded is not None:
        items = recorded.items
        place = items.index(item) if items is not None and item in items else item
        count = len(items) if items is not None else study.run.count
        data["seconds"] = round(recorded.seconds, 6)
        data["inputs"] = {
            name: value[place] if isinstance(value, list) and len(value) == count else value
            for name, value in recorded.inputs.items()
        }
    data["wrote"] = {name: whole(study.run.of_item(value, item, name)) for name, value in visit.saved.items()}
    return data
