"""Which variables hold questions, golds, predictions and passages: what the pipeline's steps take them for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from workbench.cases.flow import Flow
from workbench.cases.saved_run import SavedRun
from workbench.pipeline.problems import nearest

ROLES = ("question", "gold", "prediction", "passages")
_NAMES = {
    "question": ("q_ls",),
    "gold": ("gt_ls",),
    "prediction": ("pred_ls", "ans_ls"),
    "passages": ("ret_psg",),
}
_ARGUMENTS = {"question": "q_ls", "gold": "gt_ls", "prediction": "pred_ls", "passages": "ret_psg"}


class RoleError(Exception):
    """A role that the user named is none, or no variable of the run; ``str()`` says which there are."""


class Roles(Struct, frozen=True):
    """Role -> variable; None where the run has no such variable."""

    question: str | None = None
    gold: str | None = None
    prediction: str | None = None
    passages: str | None = None
    evaluated_by: int | None = None
    """The visit that scored the predictions."""


def read_role(text: str) -> tuple[str, str]:
    """``prediction=final_ls`` as role and variable. Raises ``RoleError``."""
    role, _, variable = text.partition("=")
    if role not in ROLES or not variable:
        raise RoleError(f"--role {text}: write ROLE=VARIABLE, where ROLE is one of {', '.join(ROLES)}")
    return role, variable


def find_roles(flow: Flow, named: Mapping[str, str]) -> Roles:
    """The roles that are named; the rest by what evaluation and prompt steps bind, else by the usual names.

    Raises ``RoleError`` where a variable that is named is none of the run.
    """
    for role, variable in named.items():
        if variable not in flow.writers:
            raise RoleError(
                f"--role {role}={variable}: the run wrote no such variable{nearest(variable, flow.writers)}"
            )
    evaluation = next((v for v in reversed(flow.run.visits) if flow.kind(v) == "evaluation"), None)
    scored = flow.reads(evaluation) if evaluation is not None else {}
    prompts = [visit for visit in flow.run.visits if flow.kind(visit) == "prompt"]
    asked = flow.reads(prompts[-1]) if prompts else {}
    found: dict[str, Any] = {}
    for role in ROLES:
        bound = (scored if role in ("gold", "prediction") else asked).get(_ARGUMENTS[role])
        usual = next((name for name in _NAMES[role] if name in flow.writers), None)
        found[role] = named.get(role) or (bound if bound in flow.writers else usual)
    return Roles(**found, evaluated_by=evaluation.number if evaluation is not None else None)


def evaluated(run: SavedRun) -> dict[str, list[float]]:
    """Metric -> scores by item, of the last evaluation of the run that scored all items; empty without one."""
    for visit in reversed(run.visits):
        for value in visit.saved.values():
            if isinstance(value, Mapping):
                found = {name: list(scores) for name, scores in value.items() if _is_scores(run, value, name, scores)}
                if found:
                    return found
    return {}


def _is_scores(run: SavedRun, whole: Mapping[str, Any], name: str, scores: Any) -> bool:
    return (
        f"avg_{name}" in whole
        and isinstance(scores, list)
        and len(scores) == run.count
        and all(isinstance(score, int | float) for score in scores)
    )
