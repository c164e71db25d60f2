"""One user's memory in SQLite: turns of the dialogue, texts (summary, profile), and dated facts.

Each call opens the file, writes in one transaction and closes it: several processes may do so at once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from pathlib import Path

FILE = "memory.sqlite"
_PATIENCE_SECONDS = 30.0
_TABLES = """
CREATE TABLE IF NOT EXISTS turn (number INTEGER PRIMARY KEY, said_at TEXT, question TEXT, answer TEXT);
CREATE TABLE IF NOT EXISTS text (name TEXT PRIMARY KEY, content TEXT, up_to_turn INTEGER);
CREATE TABLE IF NOT EXISTS fact (
    number INTEGER PRIMARY KEY, subject TEXT, relation TEXT, object TEXT, valid_from TEXT, valid_to TEXT,
    subject_key TEXT, object_key TEXT, UNIQUE (subject_key, relation, object_key, valid_from));
CREATE INDEX IF NOT EXISTS fact_subject ON fact (subject_key);
CREATE INDEX IF NOT EXISTS fact_object ON fact (object_key);
"""


@dataclass(frozen=True)
class Fact:
    """``valid_from`` and ``valid_to`` are ISO dates (``2024-05-01``, ``2024``) or empty: not known, or still true."""

    subject: str
    relation: str
    object: str
    valid_from: str = ""
    valid_to: str = ""

    def held_at(self, date: str) -> bool:
        """Whether it was true then; dates that are less exact are compared as far as both go."""
        begins = not self.valid_from or self.valid_from[: len(date)] <= date[: len(self.valid_from)]
        return begins and (not self.valid_to or self.valid_to[: len(date)] > date[: len(self.valid_to)])

    def __str__(self) -> str:
        since = f" from {self.valid_from}" if self.valid_from else ""
        until = f" until {self.valid_to}" if self.valid_to else ""
        return f"{self.subject} {self.relation} {self.object}{since}{until}"


class Store:
    """The memory of the user whose folder it is."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE

    # ---- the dialogue

    def add_turns(self, turns: Iterable[tuple[str, str]], said_at: str) -> int:
        """Returns how many turns there are now."""
        with self._open() as database:
            rows = [(said_at, question, answer) for question, answer in turns]
            database.executemany("INSERT INTO turn (said_at, question, answer) VALUES (?, ?, ?)", rows)
            return int(database.execute("SELECT count(*) FROM turn").fetchone()[0])

    def turns(self, last: int | None = None, after: int = 0) -> list[tuple[int, str, str]]:
        """Number, question and answer of the turns after one, oldest first; with ``last`` of so many."""
        with self._open() as database:
            rows = database.execute(
                "SELECT number, question, answer FROM turn WHERE number > ? ORDER BY number DESC LIMIT ?",
                (after, -1 if last is None else last),
            ).fetchall()
        return rows[::-1]

    def forget_turns(self) -> None:
        with self._open() as database:
            database.execute("DELETE FROM turn")
            database.execute("UPDATE text SET up_to_turn = 0")

    # ---- texts about it

    def text(self, name: str) -> tuple[str, int]:
        """A text, and the last turn that it knows of."""
        with self._open() as database:
            found = database.execute("SELECT content, up_to_turn FROM text WHERE name = ?", (name,)).fetchone()
        return (str(found[0]), int(found[1])) if found is not None else ("", 0)

    def put_text(self, name: str, content: str, up_to_turn: int) -> None:
        with self._open() as database:
            database.execute("INSERT OR REPLACE INTO text VALUES (?, ?, ?)", (name, content, up_to_turn))

    def change_text(self, name: str, change: Callable[[str], str]) -> str:
        """Put what ``change`` makes of a text in its place; nobody else writes it meanwhile. Returns the new one."""
        with self._open() as database:
            found = database.execute("SELECT content FROM text WHERE name = ?", (name,)).fetchone()
            content = change(str(found[0]) if found is not None else "")
            database.execute("INSERT OR REPLACE INTO text VALUES (?, ?, 0)", (name, content))
        return content

    # ---- facts

    def add_facts(self, facts: Sequence[Fact], *, replaces: bool, today: str) -> None:
        """Keep facts; of one that is there already, the end is kept as soon as it is learnt.

        With ``replaces`` one thing is true of a subject and relation at a time, in whatever order the facts come: what
        began before a new fact ends with it, and the new one ends with what began after it. One without dates is taken
        to begin ``today``.
        """
        with self._open() as database:
            for fact in facts:
                kept = _alone(database, fact, today) if replaces else fact
                database.execute(
                    "INSERT INTO fact (subject, relation, object, valid_from, valid_to, subject_key, object_key)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET valid_to = excluded.valid_to WHERE excluded.valid_to <> '' OR ?",
                    (*astuple(kept), _key(fact.subject), _key(fact.object), replaces),
                )

    def facts_about(self, names: Iterable[str], hops: int, at: str) -> list[tuple[int, Fact]]:
        """The facts within so many steps of some names, with the number of steps, nearest first.

        Breadth first along facts in either direction; with ``at`` only those that held then.
        """
        found: dict[Fact, int] = {}
        known, at_hand = set[str](), set(map(_key, names))
        with self._open() as database:
            for hop in range(1, hops + 1):
                reached = set[str]()
                for name in sorted(at_hand):
                    rows = database.execute(
                        "SELECT subject, relation, object, valid_from, valid_to FROM fact"
                        " WHERE subject_key = ? OR object_key = ? ORDER BY valid_from, number",
                        (name, name),
                    )
                    for fact in (Fact(*row) for row in rows):
                        if not at or fact.held_at(at):
                            found.setdefault(fact, hop)
                            reached |= {_key(fact.subject), _key(fact.object)}
                known |= at_hand
                at_hand = reached - known
        return [(hop, fact) for fact, hop in found.items()]

    def names(self) -> list[str]:
        """Everything that facts are about."""
        with self._open() as database:
            rows = database.execute("SELECT subject FROM fact UNION SELECT object FROM fact").fetchall()
        return [str(row[0]) for row in rows]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        database = sqlite3.connect(self.file, timeout=_PATIENCE_SECONDS, isolation_level=None)
        try:
            self.file.chmod(0o600)
            database.executescript(_TABLES)
            database.execute("BEGIN IMMEDIATE")
            yield database
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
        finally:
            database.close()


def _alone(database: sqlite3.Connection, fact: Fact, today: str) -> Fact:
    """The fact with its end, after those that began before it were ended."""
    begin = fact.valid_from or ("" if fact.valid_to else today)
    if not begin:  # something past, of which only the end is known
        return fact
    about = (_key(fact.subject), fact.relation, _key(fact.object))
    others = "subject_key = ? AND relation = ? AND object_key <> ?"
    database.execute(
        f"UPDATE fact SET valid_to = ? WHERE {others} AND valid_from < ? AND (valid_to = '' OR valid_to > ?)",
        (begin, *about, begin, begin),
    )
    (after,) = database.execute(
        f"SELECT min(valid_from) FROM fact WHERE {others} AND valid_from > ?", (*about, begin)
    ).fetchone()
    return replace(fact, valid_to=fact.valid_to or after or "")


def _key(name: str) -> str:
    """Names that differ in case and blanks only are the same."""
    return " ".join(name.casefold().split())
