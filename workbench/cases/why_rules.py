"""The rules. Each gives a verdict where its evidence is there, else None; the first that speaks is the verdict.

The order is that of what can be excluded: first what makes every later question pointless (no gold, nothing written),
then from the prediction back to the passages: where the gold was last seen, the next step lost it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from workbench.cases.answer_scores import em
from workbench.cases.case import Case
from workbench.cases.gold import Golds
from workbench.cases.saved_run import SavedVisit
from workbench.cases.verdict import Shown, Sure, Verdict
from workbench.cases.why_retrieval import control, found_elsewhere, lost_on_the_way, retrieval

_ERROR = re.compile(
    r"\s*[\[(<*]*(error|exception|traceback|toolerror|internal server error|http \d{3})\b", re.IGNORECASE
)
_OPEN_BOX = re.compile(r"\\boxed\s*\{[^{}]*$")
_NEIGHBOURS = 50
"""Items before and after one, whose questions are looked for in a prompt that lacks its own."""


def no_gold(case: Case) -> Verdict | None:
    if case.row.golds:
        return None
    return case.verdict("data", "no gold", "there is no gold answer to compare with", at=_writer(case, "gold"))


def no_question(case: Case) -> Verdict | None:
    if case.study.roles.question is None or case.row.question.strip():
        return None
    return case.verdict("data", "no question", "the question is empty", at=_writer(case, "question"))


def same_answer(case: Case) -> Verdict | None:
    """The prediction says the same as a gold."""
    evaluation = _evaluation(case)
    if em(case.row.prediction, case.row.golds):
        sentence = f"prediction and gold are equal in their normal form, yet {case.study.metric} is below 1"
        return case.verdict("evaluation", "scored wrong", sentence, at=evaluation)
    how = case.golds.same_as(case.row.prediction)
    if how is None:
        return None
    return case.verdict("evaluation", "same answer", f"prediction and gold are {how}", at=evaluation, sure="likely")


def never_written(case: Case) -> Verdict | None:
    name = case.trace.broken_at
    if name is None or case.trace.links:
        return None
    turns = case.row.path.turns
    if turns:
        last = turns[-1]
        sentence = f"no step wrote {name} for it: branch {last.step} sent it to `{last.state or '?'}`"
        return case.verdict("control", "no answer", sentence, at=_visit(case, last.visit))
    sentence = f"no step wrote {name} for it"
    return case.verdict("unknown", "no answer", sentence, at=case.trace.broken_reader, sure="possible")


def empty_or_error(case: Case) -> Verdict | None:
    """The first thing on its way that is empty, or the text of an error."""
    for number, link in enumerate(case.trace.links):
        before = case.trace.links[number - 1] if number else None
        given = case.shown(before, "given") if before is not None else None
        if not link.text.strip():
            if link.stage == "retrieval":
                return None
            sentence = f"{link.name} is empty from here on"
            return case.verdict(
                link.stage, "empty", sentence, at=link.visit, expected=given, found=case.shown(link, "written")
            )
        if link.stage != "retrieval" and _ERROR.match(link.text):
            sentence = f"{link.name} is the text of an error from here on"
            return case.verdict(
                link.stage, "error", sentence, at=link.visit, expected=given, found=case.shown(link, "written")
            )
    return None


def other_variable(case: Case) -> Verdict | None:
    """The right answer stands in a variable that was written on the way, and that nobody scored."""
    flow = case.study.flow
    names = {link.name for link in case.trace.links} | {case.study.roles.gold, case.study.roles.question}
    model = case.answer.visit.number if case.answer is not None else None
    for visit in reversed(case.study.run.visits[: (case.study.roles.evaluated_by or case.study.end) - 1]):
        if visit.number <= case.before_prompt or flow.kind(visit) in ("search", "prompt", "evaluation"):
            continue
        for name in visit.saved:
            entry = flow.entry(name, case.study.end, case.item) if name not in names else None
            if not isinstance(entry, str) or not _says(case, visit, entry):
                continue
            there = Shown(f"in {name}", entry, visit.number)
            extractions = case.trace.of("extraction")
            if flow.kind(visit) == "generation" and extractions:
                link, read = extractions[0], case.answer.name if case.answer is not None else "another variable"
                sentence = f"it reads {read}, and the right answer is in {name}"
                return case.verdict("extraction", "other variable", sentence, at=link.visit, expected=there)
            if model is not None and visit.number > model:
                sentence = f"it scores {case.study.roles.prediction}, and the right answer is in {name}"
                return case.verdict("evaluation", "other variable", sentence, at=_evaluation(case), expected=there)
    return None


def more_words(case: Case) -> Verdict | None:
    gold = case.golds.found_in(case.row.prediction) if case.golds.are_telling else None
    if gold is None:
        return None
    sentence = f"the prediction holds `{gold}` among other words, and {case.study.metric} asks for it alone"
    return case.verdict("evaluation", "more words", sentence, at=_evaluation(case), sure="likely")


def lost_in_extraction(case: Case) -> Verdict | None:
    links = [link for link in case.trace.links if link.stage in ("generation", "extraction")]
    for before, link in pairwise(links):
        gold = case.golds.found_in(before.text)
        if gold is not None and not case.has_gold(link) and case.golds.are_telling:
            sentence = f"the model's answer holds `{gold}`, {link.name} does not"
            return case.verdict(
                "extraction",
                "lost",
                sentence,
                at=link.visit,
                expected=case.shown(before, "answer", gold),
                found=case.shown(link, "taken out"),
            )
    return None


def other_item(case: Case) -> Verdict | None:
    """The prompt asks the question of another item: from some step on the entries are shifted."""
    own = Golds([case.row.question])
    before: str | None = None
    for link in case.prompts:
        if own.found_in(link.text) is None:
            other = _asked_instead(case, link.text)
            if other is not None:
                expected = Shown("question", before or case.row.question)
                sentence = f"{link.name} of this item asks the question of item [{other}]"
                return case.verdict(
                    "prompt", "other item", sentence, at=link.visit, expected=expected, found=case.shown(link, "prompt")
                )
            return None
        before = link.text
    return None


def other_script(case: Case) -> Verdict | None:
    texts = [case.row.prediction, *(link.text for link in case.passages)]
    found = case.golds.in_other_script(*texts)
    if found is None:
        return None
    sentence = f"the gold is written in {found[0]} letters, the passages and the answer in {found[1]}: nothing matches"
    return case.verdict("evaluation", "other script", sentence, at=_evaluation(case), sure="likely")


def not_answered(case: Case) -> Verdict | None:
    """The gold stood in the prompt, and not in the answer."""
    if case.answer is None or not case.prompts:
        return None
    prompt = case.prompts[-1]
    gold = case.golds.found_in(prompt.text)
    if gold is None and case.golds.are_telling:
        return None
    reason = "not answered"
    sure: Sure = "certain" if case.is_telling else "possible"
    sentence = f"the prompt holds `{gold}`, the answer does not"
    if not case.is_telling:
        sentence = "the answer is not the gold; a gold like this is found in any text, so no more can be said"
    elif _OPEN_BOX.search(case.answer.text) or case.golds.missing_part(case.answer.text) is not None:
        reason, sentence = "cut off", f"the prompt holds `{gold}`; the answer ends in the middle"
    return case.verdict(
        "generation",
        reason,
        sentence,
        at=case.answer.visit,
        sure=sure,
        expected=case.shown(prompt, "prompt", gold),
        found=case.shown(case.answer, "answer"),
    )


def lost_in_prompt(case: Case) -> Verdict | None:
    """The gold is in the passages that a prompt was made of, and not in the prompt."""
    source = next((link for link in case.passages if case.has_gold(link)), None)
    if source is None or not case.prompts:
        return None
    gold = case.golds.found_in(source.text)
    lost = next((link for link in case.prompts if not case.has_gold(link)), None)
    if lost is None:
        return None
    is_cut = any(start[:20] in lost.text for start in source.starts)
    reason = "cut off" if is_cut else "dropped"
    how = "it has the passages only in part" if is_cut else "it has none of the passages"
    return case.verdict(
        "prompt",
        reason,
        f"the passages hold `{gold}`, {lost.name} does not: {how}",
        at=lost.visit,
        expected=case.shown(source, "passages", gold),
        found=case.shown(lost, "prompt"),
    )


def nothing_known(case: Case) -> Verdict:
    """The file does not hold enough to say more."""
    if case.answer is not None:
        sentence = "the answer is not the gold; prompt and passages are not in the file, so no more can be said"
        return case.verdict("generation", "not answered", sentence, at=case.answer.visit, sure="possible")
    sentence = "the file does not hold how the prediction came about"
    links = case.trace.links
    return case.verdict("unknown", "not known", sentence, at=links[-1].visit if links else None, sure="possible")


RULES: tuple[Callable[[Case], Verdict | None], ...] = (
    no_gold,
    no_question,
    same_answer,
    never_written,
    empty_or_error,
    other_variable,
    more_words,
    lost_in_extraction,
    other_item,
    other_script,
    not_answered,
    lost_in_prompt,
    found_elsewhere,
    lost_on_the_way,
    control,
    retrieval,
    nothing_known,
)


def _says(case: Case, visit: SavedVisit, entry: str) -> bool:
    """Whether an entry is the right answer: the gold itself, or for what a model said, a text with the gold."""
    if em(entry, case.row.golds):
        return True
    is_model = case.study.flow.kind(visit) == "generation"
    return is_model and case.golds.are_telling and case.golds.found_in(entry) is not None


def _asked_instead(case: Case, prompt: str) -> int | None:
    rows = case.study.rows
    for row in (*rows[max(0, case.item - _NEIGHBOURS) : case.item + _NEIGHBOURS + 1], rows[0], rows[-1]):
        if row.item != case.item and row.question and row.question in prompt:
            return row.item
    return None


def _evaluation(case: Case) -> SavedVisit | None:
    return _visit(case, case.study.roles.evaluated_by)


def _visit(case: Case, number: int | None) -> SavedVisit | None:
    return case.study.run.visits[number - 1] if number is not None else None


def _writer(case: Case, role: str) -> SavedVisit | None:
    name = getattr(case.study.roles, role)
    visits = case.study.flow.writers.get(name, [])
    return visits[0] if visits else None
