"""What the good model says to the templates of the techniques; registers itself beside those of ``model.py``."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from tests.scripted.knowledge import plain, records
from tests.scripted.model import Mood, Slots, View, answers, view

QUESTIONS = ("questions_filter.jsonl",)


@lru_cache(maxsize=1)
def _filters() -> dict[str, Any]:
    return {row["question"]: row["filter"] for name in QUESTIONS for row in records(name)}


@answers("hyde")
def hyde(slots: Slots, mood: Mood) -> str:
    """A sentence about the right thing, whose facts are made up."""
    seen = view(slots, mood)
    title = seen.known.facts[0].title if seen.known is not None and seen.known.facts else "It"
    return f"{title} was built by Nobody in 1000. {seen.query}"


@answers("query_fusion")
def query_fusion(slots: Slots, mood: Mood) -> str:
    seen = view(slots, mood)
    return f"1. {seen.query}\n2. {slots.get('question', '').rstrip('?')}\n- {seen.query}"


@answers("compress")
def compress(slots: Slots, mood: Mood) -> str:
    """Of the facts that lead to the answer those that stand there, word for word."""
    seen = view(slots, mood, "prompt")
    facts = seen.known.facts if seen.known is not None else ()
    return "\n".join(fact.contents for fact in facts if fact.contents in seen.text) or "none"


@answers("self_query")
def self_query(slots: Slots, mood: Mood) -> str:
    seen = view(slots, mood)
    return json.dumps(_filters()[seen.known.question] if seen.known is not None else {})


@answers("difficulty")
def difficulty(slots: Slots, mood: Mood) -> str:
    if mood != "good":
        return "none" if mood == "always" else "several"
    known = view(slots, mood).known
    return ("none", "one", "several", "several")[len(known.facts)] if known is not None else "one"


@answers("grade_passages")
def grade_passages(slots: Slots, mood: Mood) -> str:
    seen = view(slots, mood, "prompt")
    if seen.is_done:
        return "Correct."
    told = seen.known.told(seen.text) if seen.known is not None else 0
    return "Ambiguous." if told and mood == "good" else "Incorrect."


@answers("agent_json")
def agent(slots: Slots, mood: Mood) -> str:
    """A search for each fact that is lacking; once all of them were observed, the answer."""
    question = slots["prompt"].rpartition("Question: ")[2].partition("\n")[0]
    seen = View(question, slots.get("later", ""), mood)
    is_last = "last turn" in seen.text
    if seen.is_done or is_last:
        return json.dumps({"thought": "Now I know.", "action": "answer", "input": seen.answer})
    return json.dumps({"thought": "I must look.", "action": "words", "input": seen.query})


@lru_cache(maxsize=1)
def _told_in_manual() -> list[tuple[str, str]]:
    """Evidence in the manual, and the question that it answers."""
    return [(plain(row["evidence"]), row["question"]) for row in records("manual_questions.jsonl")]


@answers("questions_of_passage")
def questions_of_passage(slots: Slots, mood: Mood) -> str:
    """The questions that it answers; never the same words as a user's."""
    text = plain(slots["prompt"])
    asked = [
        f"{question.rstrip('?')}, according to the manual?" for told, question in _told_in_manual() if told in text
    ]
    return "\n".join(asked) or f"What is told of {_title(slots['prompt'])}?"


@answers("summary_of_passage")
def summary_of_passage(slots: Slots, mood: Mood) -> str:
    return f"This is about {_title(slots['prompt'])}."


def _title(prompt: str) -> str:
    return prompt.partition("Title:\n")[2].partition("\n")[0] or "it"


@answers("chat_turn")
def chat_turn(slots: Slots, mood: Mood) -> str:
    """An answer out of what the prompt remembers, for the questions that ask for it."""
    question = slots["prompt"].rpartition("user: ")[2].partition("\n")[0]
    wanted = CHAT.get(question)
    if wanted is None:
        return "I see."
    before = slots["prompt"].rpartition("user: ")[0]
    return f"It is {wanted}." if wanted in before else "You did not say."


CHAT = {
    "Which day did I say the glazier comes?": "Thursday",
    "What is the name of my cat?": "Pepper",
    "What was broken in the storm, and how many of them?": "two panes",
    "Which instrument do I play?": "concertina",
    "What is my sister's work?": "baker",
}


@answers("chat_summary")
def chat_summary(slots: Slots, mood: Mood) -> str:
    """All that was said, without who said it."""
    before, _, since = slots["prompt"].partition("What was said since:")
    told = [line.partition(": ")[2] for line in since.splitlines() if line.startswith("user: ")]
    earlier = before.partition("Summary so far: ")[2].strip()
    return " ".join([*([] if earlier == "none" else [earlier]), *told])


@answers("chat_profile")
def chat_profile(slots: Slots, mood: Mood) -> str:
    message = slots["prompt"].rpartition("Message: ")[2]
    name = re.search(r"my name is (\w+)", message)
    return json.dumps({"name": name[1]} if name else {})
