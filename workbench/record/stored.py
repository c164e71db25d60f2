"""Visits, variables and edits as rows of the session file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from workbench.engine.cursor import Cursor, Frame
from workbench.engine.pool import Variable, all_items
from workbench.engine.ports import Edit
from workbench.engine.timeline import Moment
from workbench.record.values import pack, unpack


def visit_content(moment: Moment, saved: Mapping[str, int]) -> bytes:
    """A visit; ``saved`` are the versions of variables that it wrote."""
    visit = moment.visit
    return pack(
        {
            "cursor": cursor_content(moment.before.cursor),
            "before_routes": list((moment.before.routes or {}).items()),
            "step": visit.step,
            "name": visit.name,
            "attempt": visit.attempt,
            "round": visit.round,
            "branch": visit.branch,
            "items": _items_content(visit.items),
            "saved": dict(saved),
            "edits": [_plain_edit(edit) for edit in moment.before.edits],
            "skipped": moment.before.skipped,
            "edited_inputs": dict(visit.edited_inputs),
            "parameters": dict(visit.parameters),
            "extra": dict(visit.extra),
            "routes": list(visit.routes.items()),
            "failures": list(visit.failures.items()),
            "warnings": visit.warnings,
            "started": visit.started,
            "seconds": visit.seconds,
            "timing": [visit.timing.waiting, visit.timing.server, visit.timing.transport] if visit.timing else None,
            "provenance": visit.provenance,
            "is_stateful": visit.is_stateful,
            "count": moment.after.count,
            "counted_by": moment.after.counted_by,
        }
    )


def _items_content(items: tuple[int, ...] | None) -> int | tuple[int, ...] | None:
    """Item numbers; all of them as their count."""
    return len(items) if items is not None and items == all_items(len(items)) else items


def read_items(content: int | list[int] | None) -> tuple[int, ...] | None:
    if content is None:
        return None
    return all_items(content) if isinstance(content, int) else tuple(content)


def variable_content(variable: Variable, places: list[int] | None) -> bytes:
    """What is known of a version besides its value; ``places`` are the entries that differ from its base."""
    return pack(
        {
            "visit": variable.visit,
            "is_list": isinstance(variable.value, list),
            "written": variable.written,
            "is_whole": variable.is_whole,
            "computed_for": variable.computed_for,
            "is_edited": variable.is_edited,
            "follows_edit": variable.follows_edit,
            "places": places,
        }
    )


def cursor_content(cursor: Cursor) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(frame) for frame in cursor.frames]


def read_cursor(content: list[dict[str, Any]]) -> Cursor:
    return Cursor(tuple(msgspec.convert(frame, Frame) for frame in content))


def edit_content(edit: Edit) -> bytes:
    return pack(_plain_edit(edit))


def _plain_edit(edit: Edit) -> dict[str, Any]:
    return {
        "what": edit.what,
        "name": edit.name,
        "value": edit.value,
        "item": edit.item,
        "alias": edit.alias,
        "after_visit": edit.after_visit,
        "origin": edit.origin,
    }


def read_edit(content: bytes) -> Edit:
    return Edit(**unpack(content))
