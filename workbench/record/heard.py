"""Reads back from a session file what servers said during a visit."""

from __future__ import annotations

import sqlite3

from workbench.engine.events import Event, ServerOutput, WireMessage
from workbench.record.values import unpack


def heard_in_visit(db: sqlite3.Connection, visit: int) -> list[Event]:
    """The messages on the wire and the lines of output that belong to a visit, in the order in which they came."""
    found: list[tuple[int, Event]] = []
    columns = "seq, server, way, method, id, started, at, size, line"
    for row in db.execute(f"select {columns} from message where visit = ?", (visit,)):
        seq, server, way, method, number, started, at, size, line = row
        message = WireMessage(
            server=server,
            way=way,
            method=method,
            id=number,
            started=started,
            at=at,
            size=size,
            line=line,
            visit=visit,
        )
        found.append((seq, message))
    for seq, content in db.execute("select seq, content from event where type = ?", (ServerOutput.type,)):
        output = unpack(content)
        if output.get("visit") == visit:
            found.append((seq, ServerOutput(**output)))
    return [event for _, event in sorted(found, key=lambda pair: pair[0])]
