"""Why items are wrong: rules, tried in order, each of which names a step only for what can be checked in the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.cases.case import Case
from workbench.cases.corpus import corpus_of
from workbench.cases.study import Study, wrong
from workbench.cases.verdict import Verdict
from workbench.cases.why_rules import RULES


def verdicts(study: Study, items: Sequence[int] | None = None) -> list[Verdict]:
    """A verdict for each wrong item, or for those of ``items`` that are wrong, in the order of the items."""
    return list(judged(study, items))


def judged(study: Study, items: Sequence[int] | None = None) -> Iterator[Verdict]:
    """``verdicts`` one by one, for those who show how far they have come."""
    corpus = corpus_of(study.opened.pipeline)
    for row in wrong(study.rows):
        if items is None or row.item in items:
            yield _judged(Case(study, row, corpus))


def _judged(case: Case) -> Verdict:
    found = (verdict for rule in RULES if (verdict := rule(case)) is not None)
    return next(found)  # the last rule always speaks
