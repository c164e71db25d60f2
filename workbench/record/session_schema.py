"""The tables of a session file, and how one is told from other files."""

from __future__ import annotations

from pathlib import Path

FORMAT = 1
"""Raised whenever an older ragwb could not read a file any more."""

TABLES = """
create table session (key text primary key, value text not null) without rowid;
create table pipeline (number integer primary key, content blob not null);
create table timeline (number integer primary key, parent integer, parent_visit integer, pipeline integer not null);
create table visit (
    seq integer primary key, number integer not null, timeline integer not null, content blob not null
);
create table version (
    id integer primary key, name text not null, earlier integer, content blob not null, base integer,
    hashes blob not null
);
create table value (hash blob primary key, codec integer not null, data blob not null);
create table edit (seq integer primary key, timeline integer not null, content blob not null);
create table event (seq integer primary key, time real not null, type text not null, content blob not null);
create table message (
    seq integer primary key, server text not null, visit integer, way text not null, method text, id text,
    started real not null, at real not null, size integer not null, line blob not null
);
create table breakpoint (key text primary key, content blob not null) without rowid;
create index visit_by_timeline on visit (timeline, seq);
create index event_by_type on event (type);
create index message_by_visit on message (visit);
"""


def is_session(path: Path) -> bool:
    """Whether a file looks like a session file."""
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False
