"""The agent's own steps: what it knows, what it does next, and what it looks up."""

from __future__ import annotations

import re

from workbench.mcp.kit import ToolServer

app = ToolServer("agent")

ASKS = re.compile(r"\s*search\s*:\s*(?P<query>.+)", re.IGNORECASE)
WORD = re.compile(r"[\u4e00-\u9fff]|[^\W_\u4e00-\u9fff]+")
SMALL = {
    *("a", "an", "and", "are", "as", "at", "by", "for", "from", "has", "in", "is", "it", "its", "not", "of", "on"),
    *("or", "that", "the", "there", "this", "to", "was", "were", "with"),
}
"""Words that say nothing by themselves."""


@app.tool(output="q_ls->note_ls")
def begin(q_ls: list[str]) -> dict[str, list[list[str]]]:
    """No notes yet, for each question."""
    return {"note_ls": [[] for _ in q_ls]}


# A router answers {"data": value, "state": branch} for each item.
@app.tool(output="q_ls,ans_ls,note_ls->ans_ls")
def choose(q_ls: list[str], ans_ls: list[str], note_ls: list[list[str]]) -> dict[str, list[dict[str, str]]]:
    """`search` or `answer`, as the model's replies have it."""
    items = zip(q_ls, ans_ls, note_ls, strict=True)
    return {"ans_ls": [{"data": reply, "state": decision(question, reply, notes)} for question, reply, notes in items]}


@app.tool(output="q_ls,ans_ls->query_ls")
def query(q_ls: list[str], ans_ls: list[str]) -> dict[str, list[str]]:
    """What to look up: what the model asks for, else its question with what it made of it so far."""
    return {"query_ls": [wanted(reply) or f"{question} {reply}" for question, reply in zip(q_ls, ans_ls, strict=True)]}


@app.tool(output="found_ls,note_ls->note_ls")
def note(found_ls: list[list[str]], note_ls: list[list[str]]) -> dict[str, list[list[str]]]:
    """Note the best passage that is not noted yet."""
    return {"note_ls": [[*notes, *new(found, notes)[:1]] for found, notes in zip(found_ls, note_ls, strict=True)]}


def decision(question: str, reply: str, notes: list[str]) -> str:
    """`answer` if the reply says something beyond the question, and all of it stands in the notes.

    A model may ask in words: "search: ...". One that is too small to know what it does not know makes something up
    instead, and that shows: what it says stands nowhere.
    """
    said = words(reply) - words(question) - SMALL
    stands = said <= words(" ".join(notes))
    return "answer" if said and stands and not wanted(reply) else "search"


def wanted(reply: str) -> str:
    found = ASKS.match(reply)
    return found["query"].strip() if found else ""


def words(text: str) -> set[str]:
    return set(WORD.findall(text.lower()))


def new(found: list[str], notes: list[str]) -> list[str]:
    return [passage for passage in found if passage not in notes]


if __name__ == "__main__":
    app.run(transport="stdio")
