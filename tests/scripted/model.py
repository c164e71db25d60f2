"""The good model: an answer to each of the shipped templates, worked out from the texts in the prompt.

A method of a further pipeline is one function here, named after its template with ``@answers``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from tests.scripted.knowledge import UNKNOWN, Known, asked_in, passages, plain, records
from tests.scripted.templates import recognise

Mood = Literal["good", "never", "always", "silent", "nonsense", "foreign"]
"""How the model is disposed: it never comes to an end, always at once, says nothing, broken JSON, Chinese."""
BAD_MOODS: tuple[Mood, ...] = ("never", "always", "silent", "nonsense", "foreign")
_SAID: dict[Mood, str] = {
    "silent": "",
    "nonsense": '{"name": "search", "keywords": [unquoted, {]',
    "foreign": "我不知道答案，请您再查一查别的资料。",
}

Slots = dict[str, str]
_ANSWERS: dict[str, Callable[[Slots, Mood], str]] = {}


class NotRecognised(Exception):
    """No shipped template fits the prompt, or none that the model knows how to answer."""


def answers(*templates: str) -> Callable[[Callable[[Slots, Mood], str]], Callable[[Slots, Mood], str]]:
    """Register what the model says to prompts of these templates; it gets what stands in the template's places."""

    def register(function: Callable[[Slots, Mood], str]) -> Callable[[Slots, Mood], str]:
        _ANSWERS.update(dict.fromkeys(templates, function))
        return function

    return register


def answer(prompt: str, mood: Mood = "good", seen: str = "", later: str = "") -> tuple[str, str]:
    """The template of a prompt, and what the model says; ``seen`` is what its pictures show, ``later`` what was said to
    it since.

    Raises ``NotRecognised``.
    """
    found = recognise(prompt)
    if found is None or found.template not in _ANSWERS:
        raise NotRecognised(f"{found.template if found else 'no template'}: {prompt[:200]!r}")
    if mood in _SAID:
        return found.template, _SAID[mood]
    about = {"prompt": prompt, "template": found.template, "seen": seen, "later": later}
    return found.template, _ANSWERS[found.template]({**found.slots, **about}, mood)


class View:
    """What the model thinks of a question, given some text: as its mood has it."""

    def __init__(self, question: str, text: str, mood: Mood) -> None:
        self.known: Known | None = asked_in(question)
        self.text, self.mood = text, mood

    @property
    def is_done(self) -> bool:
        if self.mood != "good":
            return self.mood == "always"
        return self.known is not None and self.known.answered_by(self.text)

    @property
    def answer(self) -> str:
        return self.known.answer if self.known is not None and self.known.answered_by(self.text) else UNKNOWN

    @property
    def query(self) -> str:
        return self.known.next_query(self.text) if self.known is not None else "What else is known?"

    @property
    def boxed(self) -> str:
        return f"It is \\boxed{{{self.answer}}}."


def view(slots: Slots, mood: Mood, *texts: str) -> View:
    """Of the slot ``question``, and of the slots that hold texts."""
    return View(slots.get("question", ""), "\n".join(slots.get(name, "") for name in texts), mood)


# ---- questions and answers


@answers("qa_boxed", "qa_rag_boxed", "qa_with_memory", "qa_rag_with_memory")
def qa(slots: Slots, mood: Mood) -> str:
    return view(slots, mood, "documents", "global_memory", "project_memory").boxed


@answers("qa_boxed_multiple_choice", "qa_rag_boxed_multiple_choice")
def multiple_choice(slots: Slots, mood: Mood) -> str:
    """Without the passage that tells, the first choice."""
    seen = view(slots, mood, "documents")
    return f"\\boxed{{{seen.answer if seen.answer != UNKNOWN else 'A'}}}"


# ---- rounds of search


@answers("check_passages_outright")
def check_passages(slots: Slots, mood: Mood) -> str:
    seen = view(slots, mood, "documents")
    return seen.answer if seen.is_done else "<search>"


@answers("gen_subq")
def gen_subq(slots: Slots, mood: Mood) -> str:
    return view(slots, mood, "documents").query


@answers("ircot")
def ircot(slots: Slots, mood: Mood) -> str:
    """One fact a turn, and in the same sentence what it leads to; with the last of them the answer."""
    seen = view(slots, mood, "documents")
    if mood == "always" or seen.known is None:
        return f"So the answer is: {seen.answer}."
    if mood == "never":
        return f"{seen.query} That must be found out first."
    facts, said = seen.known.facts, slots.get("cur_answer") or ""
    stated = sum(_first_sentence(fact.contents) in said for fact in facts)
    if stated >= seen.known.told(seen.text):
        return seen.query
    fact = _first_sentence(facts[stated].contents)
    if stated + 1 == len(facts):
        return f"{fact}. So the answer is: {seen.known.answer}."
    return f"{fact}, so: {facts[stated + 1].asked_by}"


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".")


@answers("iterretgen")
def iterretgen(slots: Slots, mood: Mood) -> str:
    """The facts that stand in the passages, and the answer where it is among them."""
    seen = view(slots, mood, "documents")
    there = [fact.contents for fact in seen.known.facts if fact.contents in plain(seen.text)] if seen.known else []
    return " ".join([*there, f"\\boxed{{{seen.answer}}}"])


@answers("rankcot_kr")
def rankcot_kr(slots: Slots, mood: Mood) -> str:
    return iterretgen(slots, mood)


@answers("rankcot_qa")
def rankcot_qa(slots: Slots, mood: Mood) -> str:
    return view(slots, mood, "CoT").boxed


@answers("search_r1", "search_r1_gen")
def search_r1(slots: Slots, mood: Mood) -> str:
    seen = View(slots["prompt"], slots["prompt"], mood)
    if seen.is_done:
        return f"<think>Now I know.</think>\n<answer> {seen.answer} </answer>"
    return f"<think>I do not know enough.</think>\n<search> {seen.query} </search>"


@answers("r1_searcher", "r1_searcher_gen")
def r1_searcher(slots: Slots, mood: Mood) -> str:
    seen = View(slots["prompt"], slots["prompt"], mood)
    if seen.is_done:
        return f"Now I know.</think>\n<answer>{seen.answer}</answer>"
    return f"I do not know enough. <|begin_of_query|> {seen.query} <|end_of_query|>"


@answers("search_o1_reasoning")
def search_o1(slots: Slots, mood: Mood) -> str:
    """What was found so far stands behind the template, and so in its last place."""
    seen = View(slots["question"], slots["question"], mood)
    if seen.is_done:
        return f"Now I know. {seen.boxed}"
    return f"I lack a fact. <|begin_search_query|>{seen.query}<|end_search_query|>"


@answers("search_o1_refine")
def search_o1_refine(slots: Slots, mood: Mood) -> str:
    """The passages about what was searched for, word for word."""
    lines = slots["document"].splitlines()
    about = [p.contents for p in passages().values() if p.title and p.title in slots["search_query"]]
    told = " ".join(line for line in lines if plain(line) in about)
    return f"I read what was found.\n**Final Information**\n{told or 'No helpful information found.'}"


# ---- pages of notes

TO_FILL = "to be filled"


@answers("webnote_gen_plan")
def gen_plan(slots: Slots, mood: Mood) -> str:
    """A line for each fact that leads to the answer, without saying what it will be."""
    seen = view(slots, mood)
    count = len(seen.known.facts) if seen.known is not None else 1
    return "\n".join(f"{number}. Find out fact {number} of {count}." for number in range(1, count + 1))


@answers("webnote_init_page")
def init_page(slots: Slots, mood: Mood) -> str:
    fill = "unknown" if mood == "always" else TO_FILL
    return "\n\n".join(f"## {line}\n{fill}" for line in slots["plan"].splitlines() if line.strip())


@answers("webnote_gen_subq")
def webnote_gen_subq(slots: Slots, mood: Mood) -> str:
    return view(slots, mood, "page").query


@answers("webnote_fill_page", "light_research_fill_page")
def fill_page(slots: Slots, mood: Mood) -> str:
    """Each fact that was found takes the place of the words that stood for it, with the number of its passage."""
    page, known = slots["page"], view(slots, mood).known
    if mood == "always":
        return page.replace(TO_FILL, "unknown")
    if mood == "never" or known is None:
        return page
    lines = {plain(line.partition("] ")[2] or line): plain(line) for line in slots["docs_text"].splitlines()}
    for fact in known.facts[known.told(page) :]:
        if fact.contents not in lines:
            break
        number = lines[fact.contents].removesuffix(fact.contents).strip()
        page = page.replace(TO_FILL, f"{fact.contents} {number}".strip(), 1)
    return page


@answers("webnote_gen_answer")
def webnote_gen_answer(slots: Slots, mood: Mood) -> str:
    return view(slots, mood, "page").boxed


@answers("light_research_report")
def report(slots: Slots, mood: Mood) -> str:
    """The notes as running text, with their numbers, and what they come to."""
    notes = [line for line in slots["page"].splitlines() if line.strip() and not line.startswith("#")]
    return f"{' '.join(notes)} So it is {view(slots, mood, 'page').answer}."


# ---- surveys


class Plan(Struct, frozen=True):
    """What the model has in mind for a survey: how many sections, and into how many parts it splits the first."""

    topic: str
    sections: int
    parts: int


def plan_of(instruction: str) -> Plan:
    """By the number of the instruction in its file: three, four or five sections; every other one gets two parts."""
    rows = records("surveys.jsonl")
    number = next((n for n, row in enumerate(rows) if row["instruction"] in instruction), 0)
    return Plan(rows[number]["topic"], 3 + number % 3, 2 * (number % 2))


def act(action: dict[str, Any] | str) -> str:
    said = action if isinstance(action, str) else json.dumps(action, ensure_ascii=False)
    return f"<thought>As it was asked.</thought><action>{said}</action>"


@answers("surveycpm_search", "surveycpm_init_plan", "surveycpm_write", "surveycpm_extend_plan")
def survey(slots: Slots, mood: Mood) -> str:
    """Never: it only ever searches. Always: there is nothing to be done, whatever was asked."""
    plan = plan_of(slots["instruction"])
    action = _survey_action(slots, plan)
    if mood == "always":
        action = {"name": "nop"}
    elif mood == "never":
        action = {"name": "search", "keywords": [plan.topic]}
    return act(action)


def _survey_action(slots: Slots, plan: Plan) -> dict[str, Any] | str:
    match slots["template"].removeprefix("surveycpm_"):
        case "search":
            return {"name": "search", "keywords": [plan.topic, f"what is known of {plan.topic}"]}
        case "init_plan":
            return {"name": "init-plan", "title": f"On {plan.topic}", "sections": _sections(plan, plan.sections)}
        case "write":
            key = re.search(r"textid\d+", slots["information"])
            cite = f" \\cite{{{key[0]}}}" if key else ""
            return f"What the sources tell about {plan.topic} at this place is put down here in one sentence{cite}."
        case _:
            if not plan.parts or "# Section-1.1" in slots["survey"]:
                return {"name": "nop"}
            return {"name": "extend-plan", "position": "section-1", "subsections": _sections(plan, plan.parts)}


def _sections(plan: Plan, count: int) -> list[dict[str, str]]:
    return [{"title": f"{plan.topic}, side {n}", "plan": f"side {n} of {plan.topic}"} for n in range(1, count + 1)]


# ---- pictures, dialogues


@answers("visrag")
def visrag(slots: Slots, mood: Mood) -> str:
    return view(slots, mood, "seen").boxed


@answers("evisrag_vqa")
def evisrag(slots: Slots, mood: Mood) -> str:
    seen = view(slots, mood, "seen")
    first = slots.get("seen", "").partition("\n")[0]
    return f"<evidence>{first}</evidence><think>I looked.</think><answer>{seen.answer}</answer>"


def next_turn(messages: Sequence[Mapping[str, str]], mood: Mood) -> str:
    """What comes next in a dialogue: the fair of the town that was spoken of."""
    if mood in _SAID:
        return _SAID[mood]
    said = "\n".join(message["content"] for message in messages)
    return "It is the Hedge Fair." if "Thornby" in said and "fair" in messages[-1]["content"] else UNKNOWN
