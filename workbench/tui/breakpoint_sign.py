"""How a breakpoint is marked beside its step, in the tree and in the source."""

from __future__ import annotations

from workbench.engine.breakpoints import Breakpoint
from workbench.tui.rows import Part


def breakpoint_sign(found: Breakpoint | None) -> Part:
    if found is None:
        return Part(" ")
    if not found.is_enabled:
        return Part("○", "dim")
    return Part("◆" if found.condition is not None else "●", "bad")
