"""Where the writing of a survey stands, and what comes next.

::

    search -> analyst-init_plan -> search -> write -> search -> write ... -> analyst-extend_plan -> search ... -> done

What is next is decided by the cursor: at the outline a plan is made, at a section it is written, and where all is
written the plan is extended, until nothing is to be added or a limit is reached.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from survey import OUTLINE

SEARCH, PLAN, WRITE, EXTEND, DONE = "search", "analyst-init_plan", "write", "analyst-extend_plan", "done"
NOTHING = "nop"
"""The result of an extension that adds nothing."""


@dataclass(frozen=True)
class SurveyState:
    """One item's. ``cursor`` is the place that is worked at; None where all is written."""

    state: str
    cursor: str | None
    extend_time: int
    extend_result: str
    step: int
    parsed: bool

    def following(self, *, max_step: int, max_extend_step: int) -> SurveyState:
        """The state after this step; one whose answer could not be read is tried again."""
        now = replace(self, step=self.step + 1)
        if self.state == DONE or now.step >= max_step:
            return replace(now, state=DONE)
        if self.state == EXTEND:
            return now._after_extension(max_extend_step)
        if not self.parsed:
            return now
        if self.state == SEARCH:
            return replace(now, state=PLAN if self.cursor == OUTLINE else WRITE)
        return replace(now, state=SEARCH if self.cursor is not None else EXTEND)

    def _after_extension(self, max_extend_step: int) -> SurveyState:
        counted = replace(self, extend_time=self.extend_time + 1)
        if counted.extend_time >= max_extend_step or (self.parsed and self.extend_result == NOTHING):
            return replace(counted, state=DONE)
        return replace(counted, state=SEARCH) if self.parsed else counted
