"""What was found, as text in columns and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict

from workbench.engine.visible import one_line

State = Literal["ok", "missing", "wrong"]
_MARKS = {"ok": "   ", "missing": " - ", "wrong": " ! "}


class Finding(Struct, frozen=True):
    """One thing that was looked at. ``missing``: it is not there and need not be; ``wrong``: nothing goes without it.

    ``value`` says what was found, ``advice`` what to do or what it is for; ``details`` are lines below it.
    """

    group: str
    name: str
    value: str
    state: State = "ok"
    advice: str = ""
    details: tuple[tuple[str, str], ...] = ()


def all_well(findings: Iterable[Finding]) -> bool:
    return not any(finding.state == "wrong" for finding in findings)


def as_text(findings: Sequence[Finding]) -> str:
    """A block of aligned lines for each group, safe to show, and what follows from it."""
    blocks = []
    for group, members in groupby(findings, key=lambda finding: finding.group):
        listed = list(members)
        width = max(len(finding.name) for finding in listed)
        blocks.append("\n".join([group, *(line for finding in listed for line in _lines(finding, width))]))
    wrong = [finding.name for finding in findings if finding.state == "wrong"]
    end = "All that is needed is there; what is marked - can be added."
    if wrong:
        end = f"Needed, and not in order (!): {', '.join(wrong)}"
    return "\n\n".join([*blocks, end])


def as_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """``{"ok": bool, "findings": [{"group", "name", "value", "state", "advice", "details"}]}``."""
    entries = [{**asdict(finding), "details": dict(finding.details)} for finding in findings]
    return {"ok": all_well(findings), "findings": entries}


def _lines(finding: Finding, width: int) -> list[str]:
    mark, indent = _MARKS[finding.state], " " * (width + 5)
    lines = [f"{mark}{one_line(finding.name):<{width}}  {one_line(finding.value)}".rstrip()]
    lines += [f"{indent}{one_line(finding.advice)}"] if finding.advice else []
    column = max((len(label) for label, _ in finding.details), default=0)
    return [*lines, *(f"{indent}{label:<{column}}  {one_line(text)}" for label, text in finding.details)]
