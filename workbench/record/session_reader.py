"""Reads a session file back: its timelines, with every checkpoint, as the engine had them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from workbench.engine.breakpoints import Breakpoint, KeptBreakpoints, Watch
from workbench.engine.cursor import Cursor
from workbench.engine.edits import WRITTEN, with_edit
from workbench.engine.entries import Entries, kept_form
from workbench.engine.events import VisitFailed, VisitStarted, WentBack
from workbench.engine.pool import Variable, VariablePool, unset_entries
from workbench.engine.ports import Edit, Timing
from workbench.engine.timeline import Checkpoint, Moment, Timeline
from workbench.engine.visit import Visit
from workbench.pipeline.outline import Outline
from workbench.pipeline.parameters import ParameterSet
from workbench.record.pipeline_then import Parameters, PipelineThen, read_pipeline_then
from workbench.record.redaction import Redactor
from workbench.record.run_record import NOT_KEPT
from workbench.record.session_schema import FORMAT, is_session
from workbench.record.stored import read_cursor, read_edit, read_items
from workbench.record.values import HASH_BYTES, decode_checked, unpack, unpack_block

_DAMAGE = (sqlite3.Error, ValueError, KeyError, IndexError, TypeError, AttributeError)
"""What reading a file raises whose bytes are not what was written."""


class SessionUnreadable(Exception):
    """The file is no session, or not one that can be read; ``str()`` says why and what to do."""


class SavedSession(Struct, frozen=True):
    """A session as its file tells it. The end of each timeline has the edits that came after its last visit."""

    path: Path
    about: Mapping[str, Any]
    timelines: Mapping[int, Timeline]
    present: int
    pipeline: PipelineThen
    """The pipeline as it was when the session was last gone on with."""
    outlines: Mapping[int, Outline]
    """Its outline as each timeline was run."""
    begin: Parameters
    """What the first timeline began with."""
    breakpoints: KeptBreakpoints = field(default_factory=KeptBreakpoints)
    interrupted: str | None = None
    """The visit that was under way when the program ended without a word, as number, step and name."""
    failed: str | None = None
    """The step that failed last, with path, name and error, where no visit came after it."""
    last_seq: int = 0
    versions: Mapping[int, Variable] = field(default_factory=dict)


def read_about(path: Path) -> dict[str, Any]:
    """What a session file says of itself: pipeline, options, fingerprints. Raises ``SessionUnreadable``."""
    with _opened(path) as db:
        return _about(path, db)


def read_session(path: Path, parameters: ParameterSet, secrets: frozenset[str] = frozenset()) -> SavedSession:
    """The whole session; the parameters of today, and other ``secrets``, fill in what was masked in the file.

    Raises ``SessionUnreadable``.
    """
    with _opened(path) as db:
        about = _about(path, db)
        try:
            return _Reading(path, db, about, parameters, Redactor.of(parameters, secrets)).read()
        except _DAMAGE as error:
            raise SessionUnreadable(f"{path}: the session file is damaged: {_words(error)}") from None


def _opened(path: Path) -> closing[sqlite3.Connection]:
    if not path.is_file():
        raise SessionUnreadable(f"{path}: no such file")
    if not is_session(path):
        raise SessionUnreadable(f"{path}: this is no session file")
    db = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=rw", uri=True, timeout=2)
    return closing(db)


def _about(path: Path, db: sqlite3.Connection) -> dict[str, Any]:
    try:
        rows = db.execute("select key, value from session").fetchall()
        about = {key: msgspec.json.decode(value) for key, value in rows}
        found = msgspec.convert(about, _About)
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise SessionUnreadable(f"{path}: another program holds the session file; close it first") from None
        raise SessionUnreadable(
            f"{path}: this is no session file of ragwb, or {path.name}-wal, which belongs to it, is gone ({error})"
        ) from None
    except _DAMAGE as error:
        raise SessionUnreadable(f"{path}: the session file is damaged: {_words(error)}") from None
    if found.format > FORMAT:
        raise SessionUnreadable(
            f"{path}: written by a newer ragwb (format {found.format}, this one reads up to {FORMAT}); update ragwb"
        )
    return about


class _About(msgspec.Struct):
    """What a file must say of itself."""

    format: int
    pipeline: str = ""
    options: dict[str, Any] = {}
    present: int = 1


def _words(error: Exception) -> str:
    return f"{error.args[0]} is not there" if isinstance(error, KeyError) else str(error)


class _Reading(Struct):
    """One reading of one file."""

    path: Path
    db: sqlite3.Connection
    about: Mapping[str, Any]
    parameters: ParameterSet
    redactor: Redactor
    begin: Parameters = field(default_factory=dict)
    values: dict[bytes, Any] = field(default_factory=dict)
    blocks: dict[bytes, list[Any]] = field(default_factory=dict)
    versions: dict[int, Variable] = field(default_factory=dict)

    def read(self) -> SavedSession:
        self._read_versions()
        rows = self.db.execute("select seq, number, timeline, content from visit order by seq").fetchall()
        pipelines = {n: read_pipeline_then(c) for n, c in self.db.execute("select * from pipeline")}
        self.begin = pipelines[1].begin_parameters(self.parameters.values, self.redactor)
        timelines: dict[int, Timeline] = {}
        outlines: dict[int, Outline] = {}
        known = self.db.execute(
            "select number, parent, parent_visit, pipeline from timeline order by number"
        ).fetchall()
        for number, parent, parent_visit, pipeline in known or [(1, None, None, 1)]:
            outlines[number] = pipelines[pipeline].outline
            timeline = Timeline(number, parent, parent_visit, _shared(timelines, parent, parent_visit))
            self._fill(timeline, [(visit, content) for _, visit, t, content in rows if t == number])
            timeline.end = self._end(timeline, max((seq for seq, _, t, _ in rows if t == number), default=0))
            timelines[number] = timeline
        present = self.about.get("present", 1)
        return SavedSession(
            self.path,
            self.about,
            timelines,
            present,
            pipelines[max(pipelines)],
            outlines,
            self.begin,
            KeptBreakpoints(
                tuple(Breakpoint(**content) for content in self._stops("breakpoint")),
                tuple(Watch(**content) for content in self._stops("watch")),
                next(self._stops("on failure"), True),
            ),
            self._interrupted(rows[-1][0] if rows else 0),
            self._failed(rows[-1][0] if rows else 0),
            self._last("seq", "visit", "edit", "event", "message"),
            self.versions,
        )

    def _end(self, timeline: Timeline, last_visit: int) -> Checkpoint:
        """The edits at the end of a timeline since its last visit; of inputs, those since the cursor last moved.

        Its cursor and pool follow from its visits and these: whoever knows the program works them out.
        """
        after = timeline.moments[-1].visit.number if timeline.moments else None
        statement = "select coalesce(max(seq), 0) from event where type = ?"
        (travelled,) = self.db.execute(statement, (WentBack.type,)).fetchone()
        statement = "select seq, content from edit where timeline = ? and seq > ? order by seq"
        rows = [(seq, read_edit(content)) for seq, content in self.db.execute(statement, (timeline.number, last_visit))]
        edits = tuple(
            edit
            for seq, edit in rows
            if edit.after_visit == after and (edit.what != "input" or seq > travelled) and edit.origin != NOT_KEPT
        )
        return Checkpoint(Cursor(), VariablePool(), edits=edits)

    def _began_last(self, last_visit: int) -> tuple[str, Mapping[str, Any]]:
        """The last event of a visit that did not finish, after the last one that did: its type and content."""
        statement = "select type, content from event where seq > ? and type in (?, ?) order by seq desc limit 1"
        row = self.db.execute(statement, (last_visit, VisitStarted.type, VisitFailed.type)).fetchone()
        return (row[0], unpack(row[1])) if row is not None else ("", {})

    def _interrupted(self, last_visit: int) -> str | None:
        kind, content = self._began_last(last_visit)
        if kind != VisitStarted.type:
            return None
        return f"visit {content['visit']} (step {content['step']} {content['name']})"

    def _failed(self, last_visit: int) -> str | None:
        kind, content = self._began_last(last_visit)
        return f"step {content['step']} {content['name']}: {content['error']}" if kind == VisitFailed.type else None

    def _stops(self, kind: str) -> Iterator[Any]:
        for key, content in self.db.execute("select key, content from breakpoint order by key"):
            if key == kind or key.startswith(f"{kind} "):
                yield unpack(content)

    def _last(self, column: str, *tables: str) -> int:
        statements = (f"select coalesce(max({column}), 0) from {table}" for table in tables)
        return max(int(self.db.execute(statement).fetchone()[0]) for statement in statements)

    # ---- visits

    def _fill(self, timeline: Timeline, rows: list[tuple[int, bytes]]) -> None:
        """Append a timeline's own visits."""
        pool = timeline.moments[-1].after if timeline.moments else VariablePool(parameters=self.begin)
        for number, row in rows:
            content = unpack(row)
            edits = tuple(Edit(**edit) for edit in content["edits"])
            for edit in edits:
                pool = with_edit(pool, edit)
            routes = dict(content["before_routes"]) or None
            before = Checkpoint(read_cursor(content["cursor"]), pool, routes, edits, tuple(content["skipped"]))
            visit = self._visit(number, content)
            pool = _after(pool, visit, content)
            timeline.moments.append(Moment(before, visit, pool))

    def _visit(self, number: int, content: Mapping[str, Any]) -> Visit:
        return Visit(
            number,
            content["step"],
            content["name"],
            "finished",
            content["attempt"],
            tuple(content["round"]),
            tuple(content["branch"]),
            read_items(content["items"]),
            edited_inputs=content["edited_inputs"],
            saved={name: self.versions[version] for name, version in content["saved"].items()},
            parameters=content["parameters"],
            extra=content["extra"],
            routes=dict(content["routes"]),
            failures=dict(content.get("failures", ())),
            warnings=tuple(content["warnings"]),
            started=content["started"],
            seconds=content["seconds"],
            timing=Timing(*content["timing"]) if content["timing"] else None,
            provenance=content["provenance"],
            is_stateful=content["is_stateful"],
        )

    # ---- values

    def _read_versions(self) -> None:
        statement = "select id, name, earlier, content, base, hashes from version order by id"
        for number, name, earlier, row, base, hashes in self.db.execute(statement).fetchall():
            content = unpack(row)
            kept = self._list(content, base, hashes) if content["is_list"] else self._value(hashes)
            self.versions[number] = Variable(
                name,
                kept,
                content["visit"],
                written=tuple(content["written"]) if content["written"] is not None else None,
                is_whole=content["is_whole"],
                computed_for=content["computed_for"],
                is_edited=content["is_edited"],
                follows_edit=content["follows_edit"],
                earlier=self.versions[earlier] if earlier is not None else None,
                unset=unset_entries(kept) if content["is_list"] else frozenset(),
            )

    def _list(self, content: Mapping[str, Any], base: int | None, hashes: bytes) -> list[Any] | Entries:
        entries = [entry for digest in _split(hashes) for entry in self._block(digest)]
        if base is None:
            kept: list[Any] | Entries = kept_form(entries)
            return kept
        changed = dict(zip(content["places"], entries, strict=True))
        before = self.versions[base].kept
        if isinstance(before, Entries):
            return before.with_entries(changed)
        return [changed.get(place, entry) for place, entry in enumerate(before)]

    def _block(self, digest: bytes) -> list[Any]:
        if digest not in self.blocks:
            self.blocks[digest] = unpack_block(msgspec.msgpack.decode(self._value(digest)), self._value)
        return self.blocks[digest]

    def _value(self, digest: bytes) -> Any:
        if digest not in self.values:
            row = self.db.execute("select codec, data from value where hash = ?", (digest,)).fetchone()
            if row is None:
                raise ValueError("a value is missing")
            self.values[digest] = decode_checked(digest, *row)
        return self.values[digest]


def _split(hashes: bytes) -> Iterator[bytes]:
    for at in range(0, len(hashes), HASH_BYTES):
        yield hashes[at : at + HASH_BYTES]


def _shared(timelines: Mapping[int, Timeline], parent: int | None, parent_visit: int | None) -> list[Moment]:
    """The moments that a fork has from the timeline it left."""
    if parent is None:
        return []
    moments = timelines[parent].moments
    at = timelines[parent].index_of(parent_visit) if parent_visit is not None else None
    return list(moments if at is None else moments[:at])


def _after(pool: VariablePool, visit: Visit, content: Mapping[str, Any]) -> VariablePool:
    variables = {**pool.variables, **visit.saved}
    alias = visit.name.partition(".")[0]
    for name, value in visit.parameters.items():
        pool = pool.with_parameter(alias, name, value, f"{WRITTEN}{visit.name}, visit {visit.number}")
    pool = replace(pool, variables=variables, count=content["count"], counted_by=content["counted_by"])
    return pool.with_failed(visit.failures)
