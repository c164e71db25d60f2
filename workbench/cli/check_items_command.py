"""``ragwb check-items FILE``: whether every prompt of a saved run holds its own item's texts and nobody else's."""

from __future__ import annotations

import argparse
from typing import Any

from workbench.cases.item_check import ItemCheck, ItemFault, check_items
from workbench.cases.study import Study
from workbench.cli.exits import Exit
from workbench.cli.opened import WrongUse, opened_runs, say_notes, study_of
from workbench.cli.printing import print_json, print_text
from workbench.cli.report import say
from workbench.engine.values import count_of, numbered
from workbench.engine.visible import one_line
from workbench.record.redaction import Redactor

_LONG = 200


def check_items_of(options: argparse.Namespace) -> int:
    try:
        study = study_of(opened_runs(options.file, options.pipeline)[0], options)
    except WrongUse as error:
        if str(error):
            say(f"ragwb check-items: {error}")
        return Exit.WRONG
    found = check_items(study)
    redactor = study.opened.redactor()
    code = Exit.FAILED if found.faults else Exit.WELL
    if options.json:
        print_json(redactor.value(_data(study, found)))
        return code
    say_notes((*study.notes, *found.notes))
    print_text("\n".join([*(_line(fault, redactor) for fault in found.faults), _summary(study, found)]))
    return code


def _line(fault: ItemFault, redactor: Redactor) -> str:
    """``[1] visit 5, 4 prompt.qa (prompt_ls): holds the question of [3], given by visit 1: "..."``."""
    at = " ".join(part for part in (fault.visit.place_text, fault.visit.step) if part)
    text = one_line(redactor.text(fault.text), _LONG)
    given = f", given by visit {fault.given}" if fault.given is not None else ""
    what = f"the {fault.what}" if fault.what in ("question", "passage") else fault.what
    said = f"lacks its own {fault.what}" if fault.kind == "lacking" else f"holds {what} of {numbered(fault.of)}"
    return f'[{fault.item}] visit {fault.visit.number}, {at} ({fault.variable}): {said}{given}: "{text}"'


def _summary(study: Study, found: ItemCheck) -> str:
    if not found.prompts:
        reason = "it has no items" if not study.run.count else "no step of it made prompts for its items"
        return f"nothing could be checked in {study.run.file}: {reason}"
    prompts = count_of(found.prompts, "prompt")
    visits, steps = count_of(found.visits, "visit"), count_of(found.steps, "step")
    checked = f"{prompts} of {count_of(found.items, 'item')}, in {visits} of {steps}"
    if found.faults:
        return f"{count_of(len(found.faults), 'fault')} in {found.faulty} of {checked}"
    if found.items == 1:
        return f"{checked}: there is no other item whose texts could be in them"
    return f"{checked}: each holds its own item's texts and nobody else's"


def _data(study: Study, found: ItemCheck) -> dict[str, Any]:
    known = study.opened.pipeline
    return {
        "file": str(study.run.file),
        "pipeline": str(known.pipeline.file) if known is not None else None,
        "checked": {"prompts": found.prompts, "items": found.items, "visits": found.visits, "steps": found.steps},
        "notes": [*study.notes, *found.notes],
        "faults": [
            {
                "item": fault.item,
                "kind": fault.kind,
                "visit": fault.visit.number,
                "step": fault.visit.place_text or None,
                "name": fault.visit.step,
                "variable": fault.variable,
                "what": fault.what,
                "of": list(fault.of),
                "given": fault.given,
                "text": fault.text,
            }
            for fault in found.faults
        ],
    }
