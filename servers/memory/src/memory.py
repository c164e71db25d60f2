"""What is kept from one run to the next: notes for people, the dialogue, its summary, a profile, and dated facts.

All of it is one user's, in a folder of its own. Tools that read give texts or messages that a prompt can hold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from fastmcp.exceptions import ToolError
from memory_store import Fact, Store
from notebook import global_memory, write_down
from users import user_folder

from workbench.mcp.kit import MarkedResult, ToolServer, check_lengths, item_numbers

app = ToolServer("memory")
FOLDER = "output/memory"
SCRIPT = "script"
"""Under this name the store keeps how many questions of a script were given."""
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
handed_out: dict[Path, int] = {}
"""The last turn that was given to be summarised: what is said until the summary is there is not in it."""


@app.tool(
    output="user_id,memory_folder->global_memory_content,current_user_id",
    whole=("global_memory_content", "current_user_id"),
)
def get_global_memory(user_id: str = "default", memory_folder: str = FOLDER) -> dict[str, str]:
    """What stands in the user's ``MEMORY.md``: nothing, until somebody writes it."""
    return {
        "global_memory_content": global_memory(user_folder(memory_folder, user_id)),
        "current_user_id": user_id,
    }


@app.tool(output="user_id,q_ls,ans_ls,memory_folder->None", stateful=True)
def save_memory(user_id: str, q_ls: list[str], ans_ls: list[str], memory_folder: str = FOLDER) -> MarkedResult:
    """Keep each question with its answer: in the day's notes, and as turns of the dialogue.

    An item without question or answer is left out, and named.
    """
    exchanges, left_out = paired(q_ls, ans_ls)
    now, folder = datetime.now(), user_folder(memory_folder, user_id)
    if exchanges:
        write_down(folder, *zip(*exchanges, strict=True), now=now)
        Store(folder).add_turns(exchanges, now.isoformat(timespec="seconds"))
    numbers = item_numbers(len(q_ls))
    said = ", ".join(f"[{numbers[place]}] {name} is empty" for place, name in left_out.items())
    return MarkedResult({}, warnings=[f"not remembered: {said}"] if said else [])


# ---- the dialogue


@app.tool(output="user_id,memory_folder->messages", whole=("messages",))
def get_buffer(user_id: str = "default", memory_folder: str = FOLDER) -> dict[str, list[dict[str, str]]]:
    """The whole dialogue, as messages for `multiturn_generate`."""
    return {"messages": as_messages(store_of(memory_folder, user_id).turns())}


@app.tool(output="user_id,window,memory_folder->messages", whole=("messages",))
def get_window(
    user_id: str = "default", window: int = 5, memory_folder: str = FOLDER
) -> dict[str, list[dict[str, str]]]:
    """The last turns of the dialogue, ``window`` of them."""
    if window < 0:
        raise ToolError(f"window is a number of turns, not {window}")
    return {"messages": as_messages(store_of(memory_folder, user_id).turns(window))}


@app.tool(output="user_id,script_ls,memory_folder->q_ls", stateful=True)
def next_question(user_id: str, script_ls: list[str], memory_folder: str = FOLDER) -> dict[str, list[str]]:
    """The next of a dialogue's questions, alone: an item list of one. An empty text once all of them were given.

    `forget_dialogue` begins with the first again.
    """
    given = 0

    def count(text: str) -> str:
        nonlocal given
        given = int(text or 0)
        return str(given + 1)

    store_of(memory_folder, user_id).change_text(SCRIPT, count)
    return {"q_ls": [script_ls[given] if given < len(script_ls) else ""]}


@app.tool(output="user_id,memory_folder->None", stateful=True)
def forget_dialogue(user_id: str = "default", memory_folder: str = FOLDER) -> None:
    """Begin the dialogue anew; notes, summary, profile and facts stay."""
    store = store_of(memory_folder, user_id)
    store.forget_turns()
    store.put_text(SCRIPT, "", 0)
    handed_out.pop(store.file, None)


@app.tool(output="user_id,memory_folder->summary,unsummarised", whole=("summary", "unsummarised"))
def get_summary(user_id: str = "default", memory_folder: str = FOLDER) -> dict[str, str]:
    """The summary of the dialogue so far, and the turns since, as text: both together are all of it."""
    store = store_of(memory_folder, user_id)
    summary, up_to = store.text("summary")
    turns = store.turns(after=up_to)
    handed_out[store.file] = turns[-1][0] if turns else up_to
    return {"summary": summary, "unsummarised": as_text(turns)}


@app.tool(output="user_id,summary_ls,memory_folder->None", stateful=True)
def save_summary(user_id: str, summary_ls: list[str], memory_folder: str = FOLDER) -> MarkedResult:
    """Keep a summary of the turns that ``get_summary`` gave, or else of all so far; the last of a list counts.

    An empty one changes nothing: the turns it would be of are still to be summarised.
    """
    if not summary_ls or not summary_ls[-1].strip():
        return MarkedResult({}, warnings=["the summary stays as it was: summary_ls is empty"])
    store = store_of(memory_folder, user_id)
    up_to = handed_out.pop(store.file, None)
    if up_to is None:
        turns = store.turns(last=1)
        up_to = turns[-1][0] if turns else 0
    store.put_text("summary", summary_ls[-1].strip(), up_to)
    return MarkedResult({})


# ---- the user


@app.tool(output="user_id,memory_folder->profile", whole=("profile",))
def get_profile(user_id: str = "default", memory_folder: str = FOLDER) -> dict[str, dict[str, Any]]:
    """What is known of the user, by name."""
    text, _ = store_of(memory_folder, user_id).text("profile")
    return {"profile": json.loads(text or "{}")}


@app.tool(output="user_id,profile_ls,memory_folder->profile", stateful=True, whole=("profile",))
def update_profile(user_id: str, profile_ls: list[Any], memory_folder: str = FOLDER) -> MarkedResult:
    """Put what was learnt into the profile: maps, or texts with a JSON map in them. A null takes a name away.

    From a text without one nothing is learnt; that is warned of.
    """
    learnt, warnings = [], []
    for position, entry in enumerate(profile_ls):
        try:
            learnt.append(as_map(entry, f"profile_ls[{position}]"))
        except ToolError as error:
            if not isinstance(entry, str):
                raise
            warnings.append(f"nothing is learnt of it: {error}")

    def put_in(text: str) -> str:
        profile = json.loads(text or "{}")
        for name, value in (pair for entry in learnt for pair in entry.items()):
            profile.pop(name, None)
            if value is not None:
                profile[name] = value
        return json.dumps(profile, ensure_ascii=False)

    profile = json.loads(store_of(memory_folder, user_id).change_text("profile", put_in))
    return MarkedResult({"profile": profile}, warnings=warnings)


# ---- facts


@app.tool(output="user_id,fact_ls,replaces,memory_folder->None", stateful=True)
def add_facts(user_id: str, fact_ls: list[Any], replaces: bool = False, memory_folder: str = FOLDER) -> None:
    """Keep facts: maps with ``subject``, ``relation``, ``object`` and, where known, ``valid_from`` and ``valid_to``.

    An entry may be a list of facts, or a text with JSON in it, as a model writes them. With ``replaces`` what was
    true of the same subject and relation ends with the new one: when that begins, or today where it does not say.
    """
    facts = [fact for position, entry in enumerate(fact_ls) for fact in as_facts(entry, f"fact_ls[{position}]")]
    store_of(memory_folder, user_id).add_facts(facts, replaces=replaces, today=f"{datetime.now():%Y-%m-%d}")


@app.tool(output="user_id,q_ls,hops,at,memory_folder->fact_psg")
def search_facts(
    user_id: str, q_ls: list[str], hops: int = 2, at: str = "", memory_folder: str = FOLDER
) -> dict[str, list[list[str]]]:
    """For each question the facts within ``hops`` steps of the names in it, nearest first; ``at`` is a date.

    Items x facts, as text: they can stand where passages stand.
    """
    check_date(at, "at")
    if hops < 0:
        raise ToolError(f"memory.hops must be 0 or more; found {hops}")
    store = store_of(memory_folder, user_id)
    names = store.names()
    found = [store.facts_about(named_in(question, names), hops, at) for question in q_ls]
    return {"fact_psg": [[str(fact) for _, fact in facts] for facts in found]}


# ---- what the tools share


def store_of(memory_folder: str, user_id: str) -> Store:
    return Store(user_folder(memory_folder, user_id))


def paired(q_ls: Sequence[str], ans_ls: Sequence[str]) -> tuple[list[tuple[str, str]], dict[int, str]]:
    """Questions with their answers, and place -> name of the list where one of the two is empty."""
    check_lengths(q_ls=q_ls, ans_ls=ans_ls)
    exchanges, left_out = [], {}
    for place, (question, answer) in enumerate(zip(q_ls, ans_ls, strict=True)):
        if question.strip() and answer.strip():
            exchanges.append((question, answer))
        else:
            left_out[place] = "ans_ls" if question.strip() else "q_ls"
    return exchanges, left_out


def as_messages(turns: Sequence[tuple[int, str, str]]) -> list[dict[str, str]]:
    return [
        message
        for _, question, answer in turns
        for message in ({"role": "user", "content": question}, {"role": "assistant", "content": answer})
    ]


def as_text(turns: Sequence[tuple[int, str, str]]) -> str:
    return "\n".join(f"user: {question}\nassistant: {answer}" for _, question, answer in turns)


def as_facts(entry: Any, name: str) -> list[Fact]:
    """The facts of one entry. Raises ``ToolError`` that names what is wrong."""
    value = in_text(entry, name) if isinstance(entry, str) else entry
    if isinstance(value, list):
        return [fact for one in value for fact in as_facts(one, name)]
    parts = as_map(value, name)
    lacking = [part for part in ("subject", "relation", "object") if not str(parts.get(part) or "").strip()]
    if lacking:
        raise ToolError(f"{name}: a fact needs {' and '.join(lacking)}: {json.dumps(parts, ensure_ascii=False)[:100]}")
    dates = [str(parts.get(part) or "") for part in ("valid_from", "valid_to")]
    for part, date in zip(("valid_from", "valid_to"), dates, strict=True):
        check_date(date, f"{name}.{part}")
    begin, end = dates
    # Dates that are less exact are compared as far as both go.
    if begin and end and end[: len(begin)] < begin[: len(end)]:
        raise ToolError(f"{name}: valid_to {end} is before valid_from {begin}")
    return [Fact(*(str(parts[part]).strip() for part in ("subject", "relation", "object")), *dates)]


def as_map(value: Any, name: str) -> dict[str, Any]:
    found = in_text(value, name) if isinstance(value, str) else value
    if not isinstance(found, dict):
        raise ToolError(f"{name} is no map: {str(value)[:80]!r}")
    return found


def in_text(text: str, name: str) -> Any:
    """The first JSON list or map in a text, since models say more than they are asked for."""
    decoder = json.JSONDecoder()
    for begin in re.finditer(r"[\[{]", text):
        try:
            return decoder.raw_decode(text, begin.start())[0]
        except ValueError:
            continue
    raise ToolError(f"{name}: there is no JSON in {text.strip()[:80]!r}")


def check_date(date: str, name: str) -> None:
    if date and not _DATE.fullmatch(date):
        raise ToolError(f"{name}: a date is like 2024, 2024-05 or 2024-05-01, not {date[:40]!r}")


def named_in(question: str, names: Sequence[str]) -> list[str]:
    """The known names that stand in a question; a long one counts before a part of it."""
    rest, found = question.casefold(), []
    for name in sorted(names, key=len, reverse=True):
        folded = name.casefold()
        edge = r"(?<!\w)%s(?!\w)" if folded.isascii() else "%s"
        if re.search(edge % re.escape(folded), rest):
            found.append(name)
            rest = rest.replace(folded, " ")
    return found


if __name__ == "__main__":
    app.run(transport="stdio")
