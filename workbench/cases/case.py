"""One wrong item, with all that the rules ask of it."""

from __future__ import annotations

from functools import cached_property

from workbench.cases.corpus import Corpus
from workbench.cases.gold import Golds, excerpt
from workbench.cases.saved_run import SavedVisit
from workbench.cases.study import ItemRow, Study
from workbench.cases.tracing import Link, Stage, Trace, found_before, prompts_for, trace
from workbench.cases.verdict import Shown, Sure, Verdict, step_of


class Case:
    """Everything is worked out when it is first asked for."""

    def __init__(self, study: Study, row: ItemRow, corpus: Corpus | None) -> None:
        self.study, self.row, self.corpus = study, row, corpus
        self.item = row.item
        self.golds = Golds(row.golds)

    @cached_property
    def trace(self) -> Trace:
        return trace(self.study, self.item)

    @cached_property
    def prompts(self) -> list[Link]:
        return self.trace.of("prompt")

    @cached_property
    def answer(self) -> Link | None:
        """What the model said."""
        found = self.trace.of("generation")
        return found[-1] if found else None

    @cached_property
    def before_prompt(self) -> int:
        """The number of the visit before which passages count: the prompt's, else the answer's, else all."""
        made = self.prompts[:1] or ([self.answer] if self.answer is not None else [])
        return made[0].visit.number if made else self.study.roles.evaluated_by or self.study.end

    @cached_property
    def passages(self) -> tuple[Link, ...]:
        """What the prompt was given to read; without a known prompt the last passages of the item."""
        if self.trace.passages or (self.prompts and not self.study.flow.is_guessed):
            return self.trace.passages
        return tuple(self.everything_found[-1:])

    @cached_property
    def everything_found(self) -> list[Link]:
        return found_before(self.study.flow, self.item, self.before_prompt)

    @cached_property
    def every_prompt(self) -> list[Link]:
        """Every prompt that was made for the item, in order."""
        return prompts_for(self.study.flow, self.item)

    @cached_property
    def search(self) -> SavedVisit | None:
        """The last search for the item."""
        visits = [link.visit for link in reversed(self.everything_found)]
        return next((visit for visit in visits if self.is_search(visit)), visits[0] if visits else None)

    def is_search(self, visit: SavedVisit) -> bool:
        """Whether a visit that gives passages looked for them: one that reads passages only puts them together."""
        flow = self.study.flow
        reads = flow.reads(visit).values()
        return not any(flow.kind(v) == "search" for name in reads for v in flow.writers.get(name, ()))

    @property
    def is_telling(self) -> bool:
        """Whether finding the gold in a text says something: not where it is `yes`, a letter, or in the question."""
        return self.golds.are_telling and self.golds.found_in(self.row.question) is None

    def has_gold(self, link: Link) -> bool:
        return self.golds.found_in(link.text) is not None

    def verdict(
        self,
        stage: Stage,
        reason: str,
        sentence: str,
        *,
        at: SavedVisit | None,
        sure: Sure = "certain",
        expected: Shown | None = None,
        found: Shown | None = None,
    ) -> Verdict:
        """A verdict; without other texts it is the gold against the prediction."""
        step, name, visit = step_of(at)
        return Verdict(
            self.item,
            stage,
            reason,
            sentence,
            sure,
            expected or Shown("gold", " | ".join(self.row.golds)),
            found or Shown("prediction", excerpt(self.row.prediction)),
            step,
            name,
            visit,
        )

    def shown(self, link: Link, what: str, around: str | None = None) -> Shown:
        return Shown(f"{what} ({link.name})", excerpt(link.text, around), link.visit.number)
