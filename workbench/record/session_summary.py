"""What a list of sessions says of each, without reading it whole."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import msgspec
from msgspec import Struct

from workbench.engine.values import count_of
from workbench.record.session_schema import is_session
from workbench.record.values import unpack

_LAST = """
select type, content from event
where seq > (select coalesce(max(seq), 0) from event where type = 'continued') and type in ('stopped', 'run_finished')
order by type = 'stopped' desc, seq desc limit 1
"""


class SessionSummary(Struct, frozen=True):
    """The pipeline of a session, how many visits it keeps, and where it stands, in words."""

    pipeline: str
    visits: int
    state: str

    def __str__(self) -> str:
        return f"{self.state}, {count_of(self.visits, 'visit')}"


def summary(path: Path) -> SessionSummary | None:
    """The summary of a session file; None where it can't be read, or another program is writing to it right now."""
    if not is_session(path):
        return None
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=rw", uri=True, timeout=0.2)) as db:
            (about,) = db.execute("select value from session where key = 'pipeline'").fetchone() or ('""',)
            (visits,) = db.execute("select count(*) from visit").fetchone()
            last = db.execute(_LAST).fetchone()
        state = _state(*last) if last else "cut off, or running"
        return SessionSummary(str(msgspec.json.decode(about)), visits, state)
    except (sqlite3.Error, ValueError):
        return None


def _state(kind: str, content: bytes) -> str:
    event = unpack(content)
    if kind == "run_finished":
        return str(event.get("outcome"))
    step = event.get("step")
    match event.get("reason"):
        case "finished":
            return "finished"
        case "failed":
            return f"failed at {step}"
        case _:
            return f"stopped at {step}" if step else "stopped"
