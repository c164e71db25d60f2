"""The rules for golds that the prompt was never given: found and lost again, not looked for, or not found."""

from __future__ import annotations

import json

from msgspec.structs import replace

from workbench.cases.case import Case
from workbench.cases.gold import excerpt
from workbench.cases.paths import Turn
from workbench.cases.saved_run import SavedVisit
from workbench.cases.tracing import Link
from workbench.cases.verdict import Shown, Sure, Verdict
from workbench.engine.values import count_of
from workbench.pipeline.model import BranchStep, FromParameter, FromVariable, LoopStep, walk

_FILTER = "search_filter"
"""The input of a search that narrows it."""


def found_elsewhere(case: Case) -> Verdict | None:
    """A search gave a passage with the gold, and the prompt was not made of it."""
    holding = [link for link in case.everything_found if case.has_gold(link)]
    if not holding or not case.golds.are_telling or any(case.has_gold(link) for link in case.passages):
        return None
    last, read = holding[-1], case.passages[-1] if case.passages else None
    gold = case.golds.found_in(last.text)
    expected = case.shown(last, "found", gold)
    found = case.shown(read, "read") if read is not None else None
    replaced = _replaced_by(case, last)
    if replaced is not None and (read is None or read.name == last.name):
        sentence = f"visit {last.visit.number} had found `{gold}` in {last.name}; here that was replaced"
        return case.verdict("retrieval", "replaced", sentence, at=replaced, expected=expected, found=found)
    prompt = case.prompts[0].visit if case.prompts else None
    if read is not None and read.visit.number < last.visit.number:
        sentence = f"it found `{gold}` in {last.name}, which the prompt does not read: it reads {read.name}"
        return case.verdict("retrieval", "not merged", sentence, at=last.visit, expected=expected, found=found)
    its = read.name if read is not None else "no passages"
    sentence = f"it reads {its}; `{gold}` is in {last.name}"
    return case.verdict("prompt", "other variable", sentence, at=prompt, expected=expected, found=found)


def lost_on_the_way(case: Case) -> Verdict | None:
    """In a loop, what a search found was never read by a later prompt: the next search could not build on it."""
    prompts = case.every_prompt
    for link in case.everything_found:
        if not (link.visit.places and link.visit.places[0].round and case.is_search(link.visit)):
            continue
        later = [prompt for prompt in prompts if prompt.visit.number > link.visit.number]
        seen = [prompt for prompt in prompts if prompt.visit.number < link.visit.number]
        new = [start for start in link.starts if not any(start in prompt.text for prompt in seen)]
        if not new or not later or any(start in prompt.text for start in new for prompt in later):
            continue
        carrier = next((o for o in _after(case, link) if o.name != link.name and _holds(o, new)), None)
        replaced = _replaced_by(case, carrier) if carrier is not None else None
        expected, found = case.shown(link, "found"), case.shown(later[0], "next prompt")
        if replaced is not None and carrier is not None:
            sentence = (
                f"it wrote over {carrier.name} what visit {link.visit.number} had found; no prompt ever read that"
            )
            return case.verdict("retrieval", "replaced", sentence, at=replaced, expected=expected, found=found)
        sentence = f"what it found in {link.name} is in no later prompt: nothing merged it"
        return case.verdict("retrieval", "not merged", sentence, at=link.visit, expected=expected, found=found)
    return None


def control(case: Case) -> Verdict | None:
    """The gold is in no passage, and the item was kept from the search that was still to come."""
    known = case.study.opened.pipeline
    if known is None or not case.golds.are_telling or not case.row.path.turns:
        return None
    steps = {step.path: step for step in walk(known.pipeline.steps)}
    last = case.row.path.turns[-1]
    branch = steps.get(last.step)
    if not isinstance(branch, BranchStep) or not _searches(branch) or _is_nowhere(case):
        return None
    loop = steps.get(last.step.rpartition(".")[0])
    if not last.does_nothing and isinstance(loop, LoopStep) and last.round and last.round[-1] >= loop.times:
        return _ended_early(case, loop, last)
    return _sent_wrong(case, last) if last.does_nothing else None


def retrieval(case: Case) -> Verdict | None:
    """The gold is in nothing that was found."""
    if not case.golds.are_telling or (case.search is None and not case.passages):
        return None
    read = case.passages[-1] if case.passages else None
    got = len(read.starts) if read is not None else 0
    nothing = "no passage was found" if not got else f"none of the {count_of(got, 'passage')} holds the gold"
    reason, more = "not found", ""
    sure: Sure = "likely"
    expected = None
    where = case.corpus.look_for(case.golds, _query(case)) if case.corpus is not None else None
    narrowed = _filter(case)
    if narrowed and (where is None or where.passage is not None):
        reason, more = "filtered out", f"; the search was narrowed by {narrowed}"
        passage = where.passage if where is not None else None
        if passage is not None:
            expected = Shown("in the corpus", excerpt(passage, case.golds.found_in(passage)))
    elif where is not None and where.passage is None:
        reason, more, sure = "not in the corpus", "; no passage of the corpus does", "certain"
    elif where is not None and where.passage is not None:
        reason, more = _by_rank(where.rank, got)
        expected = Shown("in the corpus", excerpt(where.passage, case.golds.found_in(where.passage)))
        sure = "certain"
    found = case.shown(read, "passages") if read is not None else None
    return case.verdict("retrieval", reason, nothing + more, at=case.search, sure=sure, expected=expected, found=found)


def _filter(case: Case) -> str:
    """The conditions on metadata that the search had for the item; empty without any."""
    visit, known = case.search, case.study.opened.pipeline
    binding = case.study.flow.binding(visit) if visit is not None else None
    source = binding.inputs.get(_FILTER) if binding is not None else None
    value = None
    if visit is not None and isinstance(source, FromVariable):
        value = case.study.flow.entry(source.name, visit.number, case.row.item)
    elif binding is not None and known is not None and isinstance(source, FromParameter):
        given = known.parameters.of(binding.step.alias).get(source.name)
        value = given.value if given is not None else None
    return json.dumps(value, ensure_ascii=False) if value else ""


def _by_rank(rank: int | None, got: int) -> tuple[str, str]:
    if rank is None:
        return "not found", "; a passage of the corpus does, which shares no word with the query"
    if rank <= got:
        return "not in the index", f"; in the corpus one does, at rank {rank} by words: the index may be an old one"
    return "ranked too low", f"; in the corpus one does, at rank {rank} by words, and {got} were taken"


def _replaced_by(case: Case, link: Link) -> SavedVisit | None:
    """The visit that wrote the variable of ``link`` next for the item, without the gold."""
    return next((later.visit for later in _after(case, link) if later.name == link.name), None)


def _after(case: Case, link: Link) -> list[Link]:
    return [other for other in case.everything_found if other.visit.number > link.visit.number]


def _holds(link: Link, starts: list[str]) -> bool:
    return any(start in link.text for start in starts)


def _ended_early(case: Case, loop: LoopStep, last: Turn) -> Verdict:
    sentence = (
        f"loop {loop.path} ended after its {count_of(loop.times, 'round')}, while it was still sent to "
        f"`{last.state}`; the gold is in none of its passages yet"
    )
    verdict = case.verdict("control", "loop ended", sentence, at=_visit(case, last.visit), sure="likely")
    return replace(verdict, step=loop.path, name=loop.name)


def _sent_wrong(case: Case, last: Turn) -> Verdict:
    sentence = f"it was sent to `{last.state}`, where nothing is done, with the gold in none of its passages"
    found = case.shown(case.passages[-1], "passages") if case.passages else None
    return case.verdict("control", "wrong side", sentence, at=_visit(case, last.visit), sure="likely", found=found)


def _is_nowhere(case: Case) -> bool:
    """Whether the corpus is known not to hold the gold: no further search would have found it."""
    where = case.corpus.look_for(case.golds, case.row.question) if case.corpus is not None else None
    return where is not None and where.passage is None


def _searches(branch: BranchStep) -> bool:
    """Whether some side of a branch searches: a step of it is named so."""
    inside = (step for body in branch.branches.values() for step in walk(body))
    return any("search" in step.name or "retriev" in step.name for step in inside)


def _query(case: Case) -> str:
    """What the last search was asked for the item."""
    if case.search is None:
        return case.row.question
    flow = case.study.flow
    names = [name for name in flow.reads(case.search).values() if name in flow.writers]
    entry = flow.entry(names[0], case.search.number, case.item) if names else None
    return entry if isinstance(entry, str) else case.row.question


def _visit(case: Case, number: int) -> SavedVisit:
    return case.study.run.visits[number - 1]
