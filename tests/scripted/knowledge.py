"""What a good model makes of a prompt: which question it asks, what its texts tell, and what must still be found."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "pipelines" / "data"
UNKNOWN = "unknown"

ASKED_BY_KIND = {
    "light-1": "Who is the keeper of the {}?",
    "ferry-0": "Where does the ferry {} sail to?",
    "ferry-1": "Who is the captain of the ferry {}?",
    "person-0": "In which town and year was {} born?",
    "town-0": "On which river does {} lie, and when was it founded?",
    "town-1": "What is the town of {} known for?",
    "town-2": "Who is the mayor of {}, and when is its market?",
    "fair-0": "In which town is the {} held?",
    "island-0": "How large is {}?",
    "island-1": "Which bird nests on {}?",
}
"""Kind and number of a passage -> how one asks for it, of its title."""


class Passage(Struct, frozen=True):
    id: str
    title: str
    contents: str

    @property
    def asked_by(self) -> str:
        kind, _, number = self.id.split("-")
        return ASKED_BY_KIND.get(f"{kind}-{number}", "What is known of the {}?").format(self.title)


class Known(Struct, frozen=True):
    """A question with the facts that lead to its answer, first to last."""

    question: str
    answer: str
    facts: tuple[Passage, ...]
    choices: tuple[str, ...] = ()

    def told(self, text: str) -> int:
        """How many of its facts stand in a text, without a gap: what one can't ask for yet does not count."""
        there = plain(text)
        return next((n for n, fact in enumerate(self.facts) if fact.contents not in there), len(self.facts))

    def answered_by(self, text: str) -> bool:
        return self.told(text) == len(self.facts)

    def next_query(self, text: str) -> str:
        """What to ask for next; the question itself where nothing is lacking."""
        told = self.told(text)
        return self.facts[told].asked_by if told < len(self.facts) else self.question


def records(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


@lru_cache(maxsize=1)
def passages() -> dict[str, Passage]:
    return {row["id"]: Passage(row["id"], row["title"], row["contents"]) for row in records("corpus.jsonl")}


@lru_cache(maxsize=1)
def questions() -> dict[str, Known]:
    """Question -> what is known of it, for every question of the shipped files that names its passages."""
    found = {}
    for file in (*sorted(DATA.glob("questions*.jsonl")), DATA / "choices.jsonl", DATA / "adaptive.jsonl"):
        for row in records(file.name):
            if "needs" in row:
                facts = tuple(passages()[name] for name in row["needs"])
                choices = tuple(row.get("choices", ()))
                found[row["question"]] = Known(row["question"], row["golden_answers"][0], facts, choices)
    for row in records("manual_questions.jsonl"):
        evidence = Passage("manual-0-0", "", plain(row["evidence"]))
        found[row["question"]] = Known(row["question"], row["golden_answers"][0], (evidence,))
    pages = [plain(row["contents"]) for row in records("harbour_guide_pages.jsonl")]
    for row in records("guide_questions.jsonl"):
        seen = tuple(Passage("page-0-0", "", pages[number]) for number in row["pages"])
        found[row["question"]] = Known(row["question"], row["golden_answers"][0], seen)
    golds = {row["question"]: row["golden_answers"][0] for row in records("web_questions.jsonl")}
    for question, facts in web_facts().items():
        found[question] = Known(question, golds[question], facts)
    return found


@lru_cache(maxsize=1)
def web_facts() -> dict[str, tuple[Passage, ...]]:
    """Question -> the pages of the scripted web that lead to its answer."""
    lines = (Path(__file__).parent / "web.jsonl").read_text(encoding="utf-8").splitlines()
    return {
        row["question"]: tuple(Passage("web-0-0", fact["title"], fact["contents"]) for fact in row["facts"])
        for row in map(json.loads, lines)
    }


def searched_web(query: str) -> list[Passage]:
    """The pages of the scripted web whose titles stand in a query, and one that does not help."""
    every = [fact for facts in web_facts().values() for fact in facts]
    found = [fact for fact in every if fact.title.casefold() in query.casefold()]
    return [*found, next(fact for fact in every if fact not in found)]


def plain(text: str) -> str:
    return " ".join(text.split())


def asked_in(text: str) -> Known | None:
    """The question of a prompt; of several that stand in it the longest, of equal ones the last."""
    there = [question for question in questions() if question in text]
    best = max(there, key=lambda question: (len(question), text.rfind(question)), default=None)
    return questions()[best] if best is not None else None
