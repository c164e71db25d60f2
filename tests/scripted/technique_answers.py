"""What the good model says to the templates of the techniques; registers itself beside those of ``model.py``."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from tests.scripted.knowledge import records
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
