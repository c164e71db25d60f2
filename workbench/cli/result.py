"""The result of a run, for people and for machines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from typing import Any

from workbench.cli.exits import Exit
from workbench.cli.stops import what_is_there
from workbench.engine.debugger import Debugger
from workbench.engine.visible import visible
from workbench.record.memory_file import plain
from workbench.record.redaction import Redactor

_SHOWN = 20
"""Entries of a list that are shown."""
_SYSTEMS = ("old", "new", "difference")


def as_json(debugger: Debugger, code: int, redactor: Redactor) -> Any:
    """One object: the memory file's path, what the last visit wrote, the evaluation, warnings and the error.

    ``stopped`` says where and why a breakpoint or a watch stopped the run, with the step's inputs and all variables.
    """
    stop = debugger.state.stop
    content = {
        "pipeline": str(debugger.prepared.pipeline.file),
        "exit_code": code,
        "memory": debugger.state.memory,
        "visits": len(debugger.visits),
        "result": plain(last_result(debugger)),
        "evaluation": (evaluation(debugger) or None) if _answers_without_gold(debugger) is None else None,
        "warnings": [warning for visit in debugger.visits for warning in visit.warnings],
        "error": stop.why if stop is not None and stop.reason == "failed" else None,
        "stopped": what_is_there(debugger, stop).body() if stop is not None and code == Exit.STOPPED else None,
    }
    return redactor.value(content)


def as_text(debugger: Debugger, redactor: Redactor) -> str:
    """The evaluation as a table if there is one, else what the last visit wrote; without golds, the answers."""
    answers = _answers_without_gold(debugger)
    if answers is not None:
        text = str(answers[0]) if len(answers) == 1 else _shown("answers", answers)
        return visible(redactor.text(text))
    scores = evaluation(debugger)
    if scores:
        width = max(map(len, scores))
        return "\n".join(f"{name:<{width}}  {score:.4f}" for name, score in scores.items())
    compared = comparison(debugger)
    if compared:
        return visible(redactor.text("\n".join(_table(compared))))
    parts = [_shown(name, plain(value)) for name, value in last_result(debugger).items()]
    return visible(redactor.text("\n".join(parts)))


def _answers_without_gold(debugger: Debugger) -> list[Any] | None:
    """The answers of a run whose questions have no gold answers, as typed ones have: scores say nothing there."""
    pool = debugger.state.pool
    golds = pool.get("gt_ls")
    if golds is None or not isinstance(golds.value, list) or not golds.value or any(golds.value):
        return None
    found = [pool.get(name) for name in ("pred_ls", "ans_ls")]
    values = [plain(variable.value) for variable in found if variable is not None]
    return next((value for value in values if isinstance(value, list) and value), None)


def last_result(debugger: Debugger) -> dict[str, Any]:
    """The variables that the last visit with outputs wrote; of a run without any, what its last tools said."""
    for visit in reversed(debugger.visits):
        if visit.saved:
            return {name: variable.value for name, variable in visit.saved.items()}
    return {f"{visit.step} {visit.name}": dict(visit.extra) for visit in debugger.visits if visit.extra}


def evaluation(debugger: Debugger) -> dict[str, float]:
    """The averages (``avg_em`` as ``em``) of the last evaluation of the run; empty without one."""
    for visit in reversed(debugger.visits):
        for variable in visit.saved.values():
            if isinstance(variable.value, Mapping):
                scores = {k[4:]: float(v) for k, v in variable.value.items() if _is_average(k, v)}
                if scores:
                    return scores
    return {}


def comparison(debugger: Debugger) -> dict[str, Mapping[str, Any]]:
    """What the last visit found of two systems, by metric: ``old``, ``new``, ``difference``, ``p``, ``intervals``."""
    found: dict[str, Mapping[str, Any]] = {}
    for value in last_result(debugger).values():
        if isinstance(value, Mapping):
            found |= {str(name): one for name, one in value.items() if _compares(one)}
    return found


def _compares(value: Any) -> bool:
    """Whether a value is one metric of two systems; a tool of somebody's own may use the same words for others."""
    if not isinstance(value, Mapping) or not all(_is_number(value.get(key)) for key in (*_SYSTEMS, "p")):
        return False
    ends = value.get("intervals") or {}
    return isinstance(ends, Mapping) and all(
        isinstance(pair, list) and len(pair) == 2 and all(map(_is_number, pair))
        for pair in (ends[key] for key in _SYSTEMS if key in ends)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _table(compared: Mapping[str, Mapping[str, Any]]) -> list[str]:
    rows = [["", *_SYSTEMS, "p"]]
    for name, one in compared.items():
        ends = one.get("intervals") or {}
        between = {key: " [{:.3f}, {:.3f}]".format(*ends[key]) if key in ends else "" for key in _SYSTEMS}
        rows.append([name, *(f"{one[key]:.3f}{between[key]}" for key in _SYSTEMS), f"{one['p']:.3f}"])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    return [line.rstrip() for line in lines]


def _is_average(name: Any, value: Any) -> bool:
    return isinstance(name, str) and name.startswith("avg_") and _is_number(value)


def _shown(name: str, value: Any) -> str:
    if isinstance(value, str):
        return f"{name}: {value}"
    if isinstance(value, list):
        entries = (entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False) for entry in value)
        more = [f"  and {len(value) - _SHOWN} more, in the memory file"] if len(value) > _SHOWN else []
        return "\n".join([f"{name}:", *(f"  [{n}] {entry}" for n, entry in enumerate(islice(entries, _SHOWN))), *more])
    return f"{name}: {json.dumps(value, ensure_ascii=False, indent=2, default=str)}"
