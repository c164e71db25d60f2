"""Writes the session file: one thread, and a visit is on disk when its transaction is."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import queue
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict

from workbench.engine.breakpoints import KeptBreakpoints
from workbench.engine.entries import differing
from workbench.engine.events import Event, WireMessage
from workbench.engine.pool import Variable
from workbench.engine.ports import Edit
from workbench.engine.timeline import Moment, Timeline
from workbench.record.heard import heard
from workbench.record.pipeline_then import PipelineThen
from workbench.record.session_schema import FORMAT, TABLES
from workbench.record.stored import edit_content, variable_content, visit_content
from workbench.record.values import BLOCK, Encoder, pack, pack_block

_Job = Callable[[sqlite3.Connection], None]
_Settle = Callable[[Exception | None], None]
_PLACE = """
insert into timeline values (?, ?, ?, ?) on conflict (number) do update set pipeline = excluded.pipeline
where not exists (select 1 from visit where visit.timeline = excluded.number)
"""
"""A timeline is of the pipeline that its first visit was run under."""
_BATCH = 500
"""Jobs that may share a transaction."""


class SessionWriter:
    """Keeps a session in one SQLite file (WAL, synchronous=NORMAL: it survives a kill, not a power cut).

    ``about`` is what the file says of itself: the path of the pipeline, options. ``pipeline`` is the pipeline as it is
    now. With ``after_seq`` an existing file is gone on with; ``versions`` are those that it holds.
    """

    def __init__(
        self,
        path: Path,
        about: Mapping[str, Any],
        pipeline: PipelineThen,
        *,
        after_seq: int | None = None,
        versions: Mapping[int, Variable] | None = None,
    ) -> None:
        """Open it. Raises ``FileExistsError`` for a new one of a name that is taken, ``OSError`` otherwise."""
        self.path = path
        self._about = about
        self._pipeline = pipeline
        self._pipeline_number = 1
        self._is_new = after_seq is None
        self.is_empty = self._is_new
        """Whether no visit was kept in it."""
        self._seq = after_seq or 0
        self._next_version = max(versions or {}, default=0)
        self._jobs: queue.SimpleQueue[tuple[_Job | None, _Settle]] = queue.SimpleQueue()
        self._encoder = Encoder()
        self._versions: weakref.WeakKeyDictionary[Variable, int] = weakref.WeakKeyDictionary()
        for number, variable in (versions or {}).items():
            self._versions[variable] = number
        self._known: set[bytes] = set()
        opened: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, args=(opened,), name="session", daemon=True)
        self._thread.start()
        failure = opened.get()
        if isinstance(failure, FileExistsError):
            raise failure
        if failure is not None:
            raise OSError(f"the session file {path} can't be written: {_reason(failure)}")

    # ---- called by the engine, on its loop

    async def finished(self, timeline: Timeline, moment: Moment) -> None:
        """Keep a visit; returns when it is committed. Raises ``OSError``."""
        self.is_empty = False
        seq, about = self._number(), _about_timeline(timeline)

        await self._done(lambda db: self._write_visit(db, seq, about, moment))

    def told(self, event: Event) -> None:
        seq, now = self._number(), time.time()
        self._jobs.put((lambda db: _write_event(db, seq, now, event), _ignore))

    async def reloaded(self, pipeline: PipelineThen) -> None:
        """Keep the pipeline as it is now; what runs from here on is of it. Raises ``OSError``."""
        self._pipeline = pipeline
        await self._done(self._write_pipeline)

    async def heard(self, visit: int | None) -> tuple[Event, ...]:
        """The messages and the server output of a visit, or the latest of all, in order. Raises ``OSError``."""
        found: list[Event] = []
        await self._done(lambda db: found.extend(heard(db, visit)))
        return tuple(found)

    def edited(self, edit: Edit, timeline: Timeline) -> None:
        seq, content, about = self._number(), edit_content(edit), _about_timeline(timeline)
        self._jobs.put((lambda db: self._write_edit(db, (seq, timeline.number, content), about), _ignore))

    def went_to(self, timeline: Timeline) -> None:
        """Keep that this timeline is gone on with. One that has nothing of its own yet is told when it has."""
        about = _about_timeline(timeline)
        self._jobs.put((lambda db: self._write_place(db, about), _ignore))

    def breakpoints(self, kept: KeptBreakpoints) -> None:
        """Keep these breakpoints and watches in the place of those before."""
        rows = [(f"breakpoint {b.key}", pack(asdict(b))) for b in kept.breakpoints]
        rows += [(f"watch {w.kind} {w.text}", pack(asdict(w))) for w in kept.watches]
        rows.append(("on failure", pack(kept.on_failure)))
        self._jobs.put((lambda db: _write_breakpoints(db, rows), _ignore))

    async def close(self) -> None:
        """Everything is on disk when this returns."""
        self._jobs.put((None, _ignore))
        await asyncio.to_thread(self._thread.join)

    async def _done(self, job: _Job) -> None:
        """Wait until a job is carried out and committed. Raises ``OSError``."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()

        def settle(error: Exception | None) -> None:
            loop.call_soon_threadsafe(_settle, done, error)

        self._jobs.put((job, settle))
        await done

    def _number(self) -> int:
        self._seq += 1
        return self._seq

    # ---- on the writing thread

    def _serve(self, opened: queue.SimpleQueue[Exception | None]) -> None:
        try:
            db = self._open()
        except (sqlite3.Error, OSError) as error:
            if self._is_new and not isinstance(error, FileExistsError):
                self._remove()
            opened.put(error)
            return
        opened.put(None)
        is_open = True
        while is_open:
            batch, is_open = self._next_batch()
            failure = _in_transaction(db, [job for job, _ in batch])
            if failure is not None:
                self._forget()
            for _, settle in batch:
                settle(failure)
        db.close()
        os.close(self._held)

    def _remove(self) -> None:
        """Nothing is left of a file that could not be begun."""
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    def _forget(self) -> None:
        """What was thought to be written may have been rolled back: from here on everything is written anew."""
        self._known.clear()
        self._versions.clear()

    def _next_batch(self) -> tuple[list[tuple[_Job, _Settle]], bool]:
        """What waits to be written, and whether more may come."""
        batch: list[tuple[_Job, _Settle]] = []
        job, settle = self._jobs.get()
        while job is not None:
            batch.append((job, settle))
            if len(batch) == _BATCH or self._jobs.empty():
                return batch, True
            job, settle = self._jobs.get()
        return batch, False

    def _open(self) -> sqlite3.Connection:
        if self._is_new:
            if self.path.parent.exists() and not self.path.parent.is_dir():
                raise NotADirectoryError(f"{self.path.parent} is no folder")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        self._hold()
        db = sqlite3.connect(self.path, isolation_level=None, timeout=2)
        db.execute("pragma journal_mode=wal")
        db.execute("pragma synchronous=normal")
        if self._is_new:
            db.executescript(TABLES)
            about = {"format": FORMAT, **self._about}
            db.executemany("insert into session values (?, ?)", [(k, _json(v)) for k, v in about.items()])
        db.execute("begin immediate")
        self._write_pipeline(db)
        db.execute("commit")
        return db

    def _hold(self) -> None:
        """Keep other ragwbs from writing the same file. Raises ``OSError`` where one does."""
        self._held = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._held)
            raise OSError("another ragwb has it open: close that first") from None
        except OSError:
            return  # a file system without such locks

    def _write_pipeline(self, db: sqlite3.Connection) -> None:
        """Keep the pipeline as it is now, unless it is as it was."""
        row = db.execute("select number, content from pipeline order by number desc limit 1").fetchone()
        number, before = row if row is not None else (0, b"")
        content = self._pipeline.content()
        if content != before:
            number += 1
            db.execute("insert into pipeline values (?, ?)", (number, content))
        self._pipeline_number = number

    def _write_visit(
        self, db: sqlite3.Connection, seq: int, timeline: tuple[int, int | None, int | None], moment: Moment
    ) -> None:
        self._write_place(db, timeline)
        visit = moment.visit
        saved = {name: self._version(db, variable) for name, variable in visit.saved.items()}
        content = visit_content(moment, saved)
        db.execute("insert into visit values (?, ?, ?, ?)", (seq, visit.number, timeline[0], content))

    def _write_place(self, db: sqlite3.Connection, timeline: tuple[int, int | None, int | None]) -> None:
        db.execute(_PLACE, (*timeline, self._pipeline_number))
        db.execute("insert or replace into session values ('present', ?)", (str(timeline[0]),))

    def _write_edit(
        self, db: sqlite3.Connection, row: tuple[int, int, bytes], timeline: tuple[int, int | None, int | None]
    ) -> None:
        self._write_place(db, timeline)
        db.execute("insert into edit values (?, ?, ?)", row)

    def _version(self, db: sqlite3.Connection, variable: Variable) -> int:
        """The number of a version of a variable; it and the saves before it are written if they were not."""
        unwritten: list[Variable] = []
        at: Variable | None = variable
        while at is not None and at not in self._versions:
            unwritten.append(at)
            at = at.earlier
        for one in reversed(unwritten):
            self._write_version(db, one)
        return self._versions[variable]

    def _write_version(self, db: sqlite3.Connection, variable: Variable) -> None:
        earlier = self._versions[variable.earlier] if variable.earlier is not None else None
        self._next_version += 1
        number = self._versions[variable] = self._next_version
        base, hashes, places = self._entries(db, variable)
        content = variable_content(variable, places)
        row = (number, variable.name, earlier, content, base, b"".join(hashes))
        db.execute("insert into version values (?, ?, ?, ?, ?, ?)", row)

    def _entries(self, db: sqlite3.Connection, variable: Variable) -> tuple[int | None, list[bytes], list[int] | None]:
        """``(base version, hashes, places)``: of a list that differs from the save before in a few entries, those."""
        kept, earlier = variable.kept, variable.earlier
        if variable.length is None:
            return None, [self._value(db, kept)], None
        if earlier is not None and earlier.length == variable.length:
            places = differing(earlier.kept, kept)
            if 2 * len(places) < variable.length:
                return self._versions[earlier], self._blocks(db, [kept[n] for n in places]), places
        return None, self._blocks(db, variable.value), None

    def _blocks(self, db: sqlite3.Connection, entries: list[Any]) -> list[bytes]:
        def store(codec: int, data: bytes) -> bytes:
            return self._store(db, *self._encoder.hash_of_plain(codec, data))

        begins = range(0, len(entries), BLOCK)
        return [self._value(db, pack_block(entries[begin : begin + BLOCK], store)) for begin in begins]

    def _value(self, db: sqlite3.Connection, value: Any) -> bytes:
        return self._store(db, *self._encoder.hash_of(value))

    def _store(self, db: sqlite3.Connection, digest: bytes, codec: int, data: bytes) -> bytes:
        if digest not in self._known:
            stored = self._encoder.stored(digest, codec, data)
            db.execute("insert or ignore into value values (?, ?, ?)", (stored.hash, stored.codec, stored.data))
            self._known.add(digest)
        return digest


def _in_transaction(db: sqlite3.Connection, jobs: list[_Job]) -> Exception | None:
    try:
        db.execute("begin immediate")
        for job in jobs:
            job(db)
        db.execute("commit")
    except Exception as error:
        if db.in_transaction:
            db.execute("rollback")
        return error
    return None


def _write_event(db: sqlite3.Connection, seq: int, now: float, event: Event) -> None:
    if isinstance(event, WireMessage):
        number = None if event.id is None else str(event.id)
        about = (seq, event.server, event.visit, event.way, event.method, number, event.started, event.at)
        db.execute("insert into message values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*about, event.size, event.line))
    else:
        db.execute("insert into event values (?, ?, ?, ?)", (seq, now, event.type, pack(event.body())))


def _write_breakpoints(db: sqlite3.Connection, rows: list[tuple[str, bytes]]) -> None:
    db.execute("delete from breakpoint")
    db.executemany("insert or replace into breakpoint values (?, ?)", rows)


def _about_timeline(timeline: Timeline) -> tuple[int, int | None, int | None]:
    return timeline.number, timeline.parent, timeline.parent_visit


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _settle(done: asyncio.Future[None], error: Exception | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(OSError(f"the session file could not be written: {_reason(error)}"))


def _reason(error: Exception) -> str:
    """What SQLite says of a file, with what is mostly behind it."""
    if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
        return f"{error}: another program holds it"
    is_io = isinstance(error, sqlite3.OperationalError) and ("I/O" in str(error) or "full" in str(error))
    return f"{error}: is the disk full, or a quota used up?" if is_io else str(error)


def _ignore(error: Exception | None) -> None:
    """For what nobody waits for: the next visit says that the file can't be written."""
