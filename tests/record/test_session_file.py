"""The session file: what is kept, what a damaged or foreign file says, and a disk that fills up."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from workbench.engine.breakpoints import Breakpoint, KeptBreakpoints, Watch
from workbench.engine.cursor import Cursor
from workbench.engine.events import Edited, ServerReady, WireMessage
from workbench.engine.pool import Variable, VariablePool
from workbench.engine.ports import Edit
from workbench.engine.timeline import Checkpoint, Moment, Timeline
from workbench.engine.values import UNSET, Message
from workbench.engine.visit import Visit
from workbench.pipeline.parameters import ParameterSet
from workbench.record.pipeline_then import PipelineThen
from workbench.record.session_reader import SavedSession, SessionUnreadable, read_about, read_session
from workbench.record.session_schema import is_session
from workbench.record.session_writer import SessionWriter

ODD_VALUES = [
    None,
    True,
    -0.5,
    float("inf"),
    2**70,
    "字 and \ud800",
    {"data": 1, "nested": [{"a": [1, 2]}]},
    Message(role="user", content={"type": "text", "text": "hi"}),
    UNSET,
    "long " * 1000,
]


class Story:
    """Visits of one variable, one after the other, as an engine would make them."""

    def __init__(self) -> None:
        self.timeline = Timeline()
        self.pool = VariablePool()

    def write(self, value: Any, name: str = "x_ls") -> Moment:
        number = len(self.timeline.moments) + 1
        before = Checkpoint(Cursor(), self.pool)
        self.pool = self.pool.with_saved(Variable(name, value, number))
        visit = Visit(number, "1", "a.b", "finished", saved={name: self.pool.variables[name]}, started=1.5, seconds=0.5)
        moment = Moment(before, visit, self.pool)
        self.timeline.moments.append(moment)
        return moment


def read(path: Path) -> SavedSession:
    return read_session(path, ParameterSet())


async def test_values_come_back_as_they_were(tmp_path: Path) -> None:
    writer, story = SessionWriter(tmp_path / "s.ragwb", {"pipeline": "p.yaml"}, PipelineThen()), Story()
    await writer.finished(story.timeline, story.write(list(ODD_VALUES)))
    await writer.finished(story.timeline, story.write({"whole": "value"}, "other"))
    await writer.close()
    saved = read(writer.path)
    (first, second) = saved.timelines[1].visits
    value = first.saved["x_ls"].value
    assert value == ODD_VALUES
    assert isinstance(value[7], Message)
    assert value[8] is UNSET
    assert second.saved["other"].value == {"whole": "value"}
    assert (second.number, second.started, second.seconds) == (2, 1.5, 0.5)
    assert read_about(writer.path)["pipeline"] == "p.yaml"


async def test_a_list_that_changes_in_few_entries_costs_those(tmp_path: Path) -> None:
    writer, story = SessionWriter(tmp_path / "s.ragwb", {}, PipelineThen()), Story()
    value = [f"entry {n}" for n in range(2000)]
    await writer.finished(story.timeline, story.write(value))
    for n in range(50):
        value = list(value)
        value[n * 7] = f"changed {n}"
        await writer.finished(story.timeline, story.write(value))
    await writer.close()
    with sqlite3.connect(writer.path) as db:
        sizes = [size for (size,) in db.execute("select length(hashes) from version order by id")]
    assert sizes == [32 * 16] + [16] * 50  # blocks of 64 entries; then one of what changed
    saves = read(writer.path).timelines[1].visits[-1].saved["x_ls"].saves()
    assert saves[-1].value == value
    assert saves[0].value == [f"entry {n}" for n in range(2000)]


async def test_events_messages_edits_and_breakpoints_are_kept(tmp_path: Path) -> None:
    writer, story = SessionWriter(tmp_path / "s.ragwb", {}, PipelineThen()), Story()
    writer.told(ServerReady(server="a", seconds=1.0))
    writer.told(Edited(what="variable", name="x", old=["\ud800", UNSET], new=2**70))
    writer.told(WireMessage(server="a", way="sent", started=1, at=2, size=2, line=b"{}", id=3, visit=1))
    await writer.finished(story.timeline, story.write(["a", "b"]))
    edit = Edit("variable", "x_ls", "c", after_visit=story.timeline.moments[-1].visit.number)
    writer.edited(edit, story.timeline)
    stops = (Breakpoint("4.2", "round == 2", is_enabled=False, hit_count=">= 3"), Breakpoint("lab.*", when="after"))
    kept = KeptBreakpoints(stops, (Watch("changes", "q_ls"),), on_failure=False)
    writer.breakpoints(kept)
    await writer.close()
    with sqlite3.connect(writer.path) as db:
        assert db.execute("select type from event order by seq").fetchall() == [("server_ready",), ("edited",)]
        assert db.execute("select server, visit, id, line from message").fetchall() == [("a", 1, "3", b"{}")]
    saved = read(writer.path)
    end = saved.timelines[1].end
    assert end is not None
    assert end.edits == (edit,)
    assert saved.breakpoints == kept


async def test_a_step_that_can_not_be_kept_fails_and_the_next_is_whole(tmp_path: Path) -> None:
    writer, story = SessionWriter(tmp_path / "s.ragwb", {}, PipelineThen()), Story()
    await writer.finished(story.timeline, story.write(["a", "b"]))
    full = sqlite3.connect(writer.path)
    full.execute("create trigger full before insert on visit begin select raise(abort, 'disk is full'); end")
    full.commit()
    moment = story.write(["a", "c"])
    with pytest.raises(OSError, match="disk is full"):
        await writer.finished(story.timeline, moment)
    full.execute("drop trigger full")
    full.commit()
    full.close()
    await writer.finished(story.timeline, moment)
    await writer.close()
    assert [visit.saved["x_ls"].value for visit in read(writer.path).timelines[1].visits] == [["a", "b"], ["a", "c"]]


async def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path / "deep" / "s.ragwb", {}, PipelineThen())
    await writer.close()
    assert writer.path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        SessionWriter(writer.path, {}, PipelineThen())


async def test_files_that_are_no_sessions(tmp_path: Path) -> None:
    writer, story = SessionWriter(tmp_path / "s.ragwb", {}, PipelineThen()), Story()
    await writer.finished(story.timeline, story.write(["a" * 5000]))
    await writer.close()
    whole = writer.path.read_bytes()
    (tmp_path / "cut.ragwb").write_bytes(whole[: len(whole) // 3])
    (tmp_path / "text.ragwb").write_text("no session")
    with sqlite3.connect(tmp_path / "other.ragwb") as db:
        db.execute("create table x (y)")
    with sqlite3.connect(writer.path) as db:
        db.execute("update session set value = '99' where key = 'format'")
    for name, said in {
        "nothing.ragwb": "no such file",
        "text.ragwb": "this is no session file",
        "other.ragwb": "no session file of ragwb",
        "cut.ragwb": "damaged",
        "s.ragwb": "written by a newer ragwb",
    }.items():
        with pytest.raises(SessionUnreadable, match=said):
            read(tmp_path / name)
    assert not is_session(tmp_path / "text.ragwb")
