"""The good model: an answer to each of the shipped templates, worked out from the texts in the prompt.

A method of a further pipeline is one function here, named after its template with ``@answers``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from tests.scripted.knowledge import UNKNOWN, Known, asked_in
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


def answer(prompt: str, mood: Mood = "good") -> tuple[str, str]:
    """The template of a prompt, and what the model says. Raises ``NotRecognised``."""
    found = recognise(prompt)
    if found is None or found.template not in _ANSWERS:
        raise NotRecognised(f"{found.template if found else 'no template'}: {prompt[:200]!r}")
    if mood in _SAID:
        return found.template, _SAID[mood]
    return found.template, _ANSWERS[found.template]({**found.slots, "prompt": prompt}, mood)


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


@answers("qa_boxed", "qa_rag_boxed")
def qa(slots: Slots, mood: Mood) -> str:
    return view(slots, mood, "documents").boxed


@answers("qa_boxed_multiple_choice", "qa_rag_boxed_multiple_choice")
def multiple_choice(slots: Slots, mood: Mood) -> str:
    """Without the passage that tells, the first choice."""
    seen = view(slots, mood, "documents")
    return f"\\boxed{{{seen.answer if seen.answer != UNKNOWN else 'A'}}}"


# ---- rounds of search


@answers("check_passages")
def check_passages(slots: Slots, mood: Mood) -> str:
    """The template itself says where the passages do not suffice; then it holds no question."""
    if mood != "good":
        return UNKNOWN if mood == "always" else "<search>"
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


@answers("search_r1", "search_r1_gen")
def search_r1(slots: Slots, mood: Mood) -> str:
    seen = View(slots["prompt"], slots["prompt"], mood)
    if seen.is_done:
        return f"<think>Now I know.</think>\n<answer> {seen.answer} </answer>"
    return f"<think>I do not know enough.</think>\n<search> {seen.query} </search>"
