"""Session files that something happened to: one clear message each, never a wrong value."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

from tests.record.test_session_file import Story
from workbench.pipeline.parameters import ParameterSet
from workbench.record.pipeline_then import PipelineThen
from workbench.record.session_reader import SessionUnreadable, read_about, read_session
from workbench.record.session_writer import SessionWriter


@pytest.fixture
async def session(tmp_path: Path) -> Path:
    writer, story = SessionWriter(tmp_path / "s.ragwb", {"pipeline": "p.yaml", "options": {}}, PipelineThen()), Story()
    for n in range(5):
        await writer.finished(story.timeline, story.write([f"entry {n} {k}" for k in range(20)]))
    await writer.close()
    return writer.path


def read(path: Path) -> object:
    read_about(path)
    return [(v.number, v.saved["x_ls"].value) for v in read_session(path, ParameterSet()).timelines[1].visits]


@pytest.mark.parametrize(
    "statement",
    [
        "delete from pipeline",
        "update session set value = 'not json' where key = 'options'",
        "update session set value = 'null' where key = 'options'",
        "update session set value = '\"text\"' where key = 'format'",
        "update session set value = '5' where key = 'pipeline'",
        "update visit set content = x'' where number = 1",
        "update visit set content = x'0001020304' where number = 1",
        "insert into breakpoint values ('breakpoint x', x'00')",
        "delete from value where rowid = 1",
        "update version set hashes = x'00' where id = 1",
        "drop table version",
        "update value set data = x'c0' where rowid = 2",
    ],
)
async def test_damage_is_told(session: Path, statement: str) -> None:
    with sqlite3.connect(session) as db:
        db.execute(statement)
    with pytest.raises(SessionUnreadable) as caught:
        read(session)
    assert str(session) in str(caught.value)


async def test_any_byte_that_is_changed_is_noticed_or_harmless(session: Path) -> None:
    """No value ever differs from what was written: what can't be read is told."""
    expected, whole = read(session), session.read_bytes()
    choose = random.Random(7)
    for _ in range(300):
        place = choose.randrange(100, len(whole))
        session.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << choose.randrange(8)]) + whole[place + 1 :])
        try:
            found = read(session)
        except SessionUnreadable:
            continue
        assert [value for _, value in found] == [value for _, value in expected][: len(found)]


async def test_a_file_that_another_has_open(session: Path) -> None:
    first = SessionWriter(session, {}, PipelineThen(), after_seq=99)
    with pytest.raises(OSError, match="another ragwb has it open"):
        SessionWriter(session, {}, PipelineThen(), after_seq=99)
    await first.close()
    await SessionWriter(session, {}, PipelineThen(), after_seq=99).close()


async def test_a_file_that_another_program_writes(session: Path) -> None:
    other = sqlite3.connect(session, isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(OSError, match="locked: another program holds it"):
        SessionWriter(session, {}, PipelineThen(), after_seq=99)
    other.execute("rollback")
    other.close()


def test_a_database_of_something_else(tmp_path: Path) -> None:
    file = tmp_path / "s.ragwb"
    with sqlite3.connect(file) as db:
        db.execute("create table session (key text, value text)")
    with pytest.raises(SessionUnreadable):
        read(file)
