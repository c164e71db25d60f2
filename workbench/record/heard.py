"""Reads back from a session file what servers said."""

from __future__ import annotations

import sqlite3

from workbench.engine.events import Event, ServerOutput, WireMessage
from workbench.record.values import unpack

LATEST = 10_000
"""How many messages, and how many lines of output, are read back where no visit is asked about."""


def heard(db: sqlite3.Connection, visit: int | None) -> list[Event]:
    """The messages on the wire and the lines of output that belong to a visit, or the latest of all, in order."""
    found: list[tuple[int, Event]] = []
    columns = "select seq, server, way, method, id, started, at, size, line, visit from message"
    rows = (
        db.execute(f"{columns} where visit = ?", (visit,))
        if visit is not None
        else db.execute(f"{columns} order by seq desc limit ?", (LATEST,))
    )
    for seq, server, way, method, number, started, at, size, line, of_visit in rows:
        message = WireMessage(
            server=server,
            way=way,
            method=method,
            id=number,
            started=started,
            at=at,
            size=size,
            line=line,
            visit=of_visit,
        )
        found.append((seq, message))
    limit = -1 if visit is not None else LATEST
    outputs = "select seq, content from event where type = ? order by seq desc limit ?"
    for seq, content in db.execute(outputs, (ServerOutput.type, limit)):
        output = unpack(content)
        if visit is None or output.get("visit") == visit:
            found.append((seq, ServerOutput(**output)))
    return [event for _, event in sorted(found, key=lambda pair: pair[0])]
