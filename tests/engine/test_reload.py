"""The files of a pipeline are saved while it stands: what is noticed, what is kept, what begins anew."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from pathlib import Path

import pytest

from tests.engine.test_changed_pipeline import CHANGES, edited
from tests.engine.test_time_travel import HEAD, SHAPES, opened, project
from workbench.engine.breakpoints import Breakpoint
from workbench.engine.debugger import Debugger
from workbench.engine.events import Reloaded
from workbench.engine.state import CommandRefused
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import prepare
from workbench.pipeline.problems import PipelineError
from workbench.pipeline.watching import PipelineWatch
from workbench.record.memory_file import MemoryFile
from workbench.record.run_record import RunRecord

__all__ = ["project"]

LOOP = SHAPES["loop"]


@pytest.mark.parametrize("case", CHANGES)
async def test_the_past_is_kept_as_far_as_it_fits(project: Path, lab_servers: ServerHub, case: str) -> None:
    before, visits, after, kept, why = CHANGES[case]
    session = await opened(project, lab_servers, before, keeps=True)
    debugger = session.debugger
    while len(debugger.visits) < visits:
        await debugger.run("into")
    prepared = edited(project, after)
    told = debugger.reloading(prepared)
    stopped = await debugger.reload(prepared)
    (event,) = session.told(Reloaded)
    assert (len(debugger.visits), event.visits, told[0]) == (kept, kept, kept)
    for text in (event.cut, told[1]):
        assert text is None if why is None else why in (text or "")
    assert stopped.reason == "reloaded"
    await debugger.run("continue") if debugger.state.status == "stopped" else None
    straight = await opened(project, lab_servers, after)
    await straight.debugger.run("continue")
    assert session.memory() == straight.memory()
    resumed = await session.resumed(edited(project, after))
    assert resumed.cut is None
    assert {n: v.value for n, v in resumed.debugger.state.pool.variables.items()} == {
        n: v.value for n, v in debugger.state.pool.variables.items()
    }
    await resumed.debugger.close()


async def test_edits_at_the_cursor_stay(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, HEAD + "- lab.extend\n- lab.tag\n")).debugger
    await debugger.run_to("2")
    debugger.edit_variable("q_ls", "other", 0)
    debugger.edit_input("q_ls", ["a", "b", "c", "d"])
    await debugger.reload(edited(project, HEAD + "- lab.extend\n- lab.tag\n- lab.search\n"))
    assert debugger.evaluate("q_ls[0]") == "other"
    await debugger.run("over")
    assert debugger.evaluate("q_ls[0]") == "a+"


async def test_in_the_past_the_past_is_kept(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, LOOP)).debugger
    await debugger.run("continue")
    await debugger.go_to(4)
    await debugger.reload(edited(project, LOOP + "- lab.count\n"))
    assert len(debugger.visits) == 3
    await debugger.go_to_end()
    assert len(debugger.visits) == 8, "the whole run can be returned to"
    assert debugger.state.place.step == "4", "where the new step runs next"
    await debugger.run("over")
    assert debugger.state.timeline == 2, "what runs under another pipeline is a fork"


async def test_breakpoints_move_and_parameters_count(project: Path, lab_servers: ServerHub) -> None:
    (project / "parameter").mkdir()
    parameters = project / "parameter" / "p_parameter.yaml"
    parameters.write_text("lab: {top_k: 1}\n")
    session = await opened(project, lab_servers, HEAD + "- lab.extend\n- lab.search\n")
    debugger = session.debugger
    debugger.breakpoints.add(Breakpoint("3", hits=2))
    debugger.breakpoints.add(Breakpoint("2"))
    await debugger.run_to("2")
    parameters.write_text("lab: {top_k: 3}\n")
    await debugger.reload(edited(project, HEAD + "- lab.tag\n- lab.count\n- lab.search\n"))
    (event,) = session.told(Reloaded)
    assert event.parameters == ("lab.top_k",)
    assert event.breakpoints_gone == ("2",)
    assert [(b.key, b.hits) for b in debugger.breakpoints.by_step.values()] == [("4", 2)]
    await debugger.run("continue")
    await debugger.run("continue")
    assert len(debugger.evaluate("ret_psg[0]")) == 3


async def test_a_server_whose_code_was_saved_begins_anew(tmp_path: Path) -> None:
    from tests.support import Session

    code = tmp_path / "servers" / "own" / "src" / "own.py"
    code.parent.mkdir(parents=True)
    text = """\
from workbench.mcp.kit import ToolServer
app = ToolServer("own")

@app.tool(output="->None")
def begin() -> None:
    global begun
    begun = True

@app.tool(output="->q_ls")
def give() -> dict:
    return {"q_ls": [f"WORD {begun}"]}

app.run()
"""
    code.write_text(text.replace("WORD", "first"))
    file = tmp_path / "p.yaml"
    file.write_text("servers: {own: servers/own}\npipeline:\n- own.begin\n- own.give\n- own.give\n")
    prepared = prepare(file)
    hub = ServerHub(prepared.used_sources(), lambda event: None)
    session = Session(prepared, hub, tmp_path / "output")
    debugger = await session.open()
    try:
        await debugger.run_to("3")
        watch = PipelineWatch(prepared)
        code.write_text(text.replace("WORD", "second"))
        assert watch.changed() == (code,)
        saved = watch.read()
        assert saved.servers == ("own",)
        await debugger.reload(saved.prepared, saved.servers)
        assert debugger.evaluate("q_ls") == ["first True"], "what has run is kept"
        await debugger.run("over")
        assert debugger.evaluate("q_ls") == ["second True"], "its initialising call was repeated"
    finally:
        await hub.close()


async def test_where_servers_start_late_a_reload_starts_none(project: Path) -> None:
    prepared = edited(project, LOOP)
    hub = ServerHub(prepared.used_sources(), lambda event: None)
    debugger = Debugger(prepared, hub, emit=lambda event: None, record=lambda: RunRecord(MemoryFile(project, "p", "")))
    await debugger.open(wait_for_servers=False, start_servers=False)
    await debugger.reload(edited(project, LOOP + "- lab.count\n"), ["lab"])
    assert hub.status("lab").phase == "idle"
    await debugger.close()


def test_what_is_noticed(project: Path) -> None:
    prepared = edited(project, LOOP)
    watch = PipelineWatch(prepared)
    assert watch.changed() == ()
    edited(project, LOOP.replace("times: 3", "times: 5") + "- lab.count\n")
    assert watch.changed() == (project / "p.yaml",)
    saved = watch.read()
    assert [step.path for step in saved.added] == ["4"]
    assert [step.detail for step in saved.changed] == ["5 times"]
    assert saved.is_more_than_text
    watch.follow(saved)
    assert watch.changed() == ()
    (project / "parameter").mkdir()
    (project / "parameter" / "p_parameter.yaml").write_text("lab: {top_k: 9}\n")
    assert watch.changed() == (project / "parameter" / "p_parameter.yaml",)
    assert watch.read().parameters == ("lab.top_k",)
    (project / "p.yaml").write_text("pipeline: [")
    assert len(watch.changed()) == 2
    with pytest.raises(PipelineError):
        watch.read()
    os.unlink(project / "p.yaml")
    assert len(watch.changed()) == 2
    with pytest.raises(PipelineError):
        watch.read()


def test_a_comment_is_no_change_of_the_run(project: Path) -> None:
    watch = PipelineWatch(edited(project, LOOP))
    edited(project, LOOP.replace("pipeline:", "# why\npipeline:"))
    assert watch.changed()
    assert not watch.read().is_more_than_text


def test_what_is_saved_after_it_was_read_is_noticed(project: Path) -> None:
    prepared = edited(project, LOOP)
    edited(project, LOOP + "- lab.count\n")
    watch = PipelineWatch(prepared)
    assert watch.changed() == (project / "p.yaml",), "saved before it was looked at for the first time"
    saved = watch.read()
    edited(project, LOOP + "- lab.count\n- lab.tag\n")
    watch.changed()
    watch.follow(saved)
    assert watch.changed() == (project / "p.yaml",)
    assert [step.path for step in watch.read().added] == ["5"]


@pytest.mark.parametrize(
    ("entry", "config", "way"),
    [
        ("{url: 'http://localhost:9/mcp', headers: {Key: a}}", "", "other file, address, headers"),
        ("{command: ls, args: [-l]}", "", "other file, command"),
        ("servers/lab", "servers: {lab: {python: bin/python}}", "other interpreter"),
        ("servers/lab", "servers: {lab: {env: [HF_*]}}", None),
        ("servers/lab", "env: [HF_*]", "other environment"),
    ],
)
def test_a_server_that_is_started_otherwise_is_different(
    project: Path, entry: str, config: str, way: str | None
) -> None:
    watch = PipelineWatch(edited(project, LOOP))
    (project / "bin").mkdir()
    (project / "bin" / "python").touch()
    (project / ".ragwb.yaml").write_text(config)
    edited(project, LOOP.replace("lab: servers/lab", f"lab: {entry}"))
    saved = watch.read()
    assert saved.otherwise.get("lab") == way
    assert saved.is_more_than_text == (way is not None)


async def test_no_step_begins_while_it_reloads(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, LOOP, keeps=True)
    debugger = session.debugger
    await debugger.run("over")
    reloading = asyncio.ensure_future(debugger.reload(edited(project, LOOP + "- lab.count\n")))
    await asyncio.sleep(0)
    with pytest.raises(CommandRefused):
        await debugger.run("over")
    await reloading
    assert (await debugger.run("continue")).reason == "finished"


async def test_a_pipeline_that_can_not_be_kept_changes_nothing(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, LOOP, keeps=True)
    debugger = session.debugger
    await debugger.run("over")
    other = sqlite3.connect(session.file, isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(OSError, match="another program holds it"):
        await debugger.reload(edited(project, LOOP + "- lab.count\n"))
    other.execute("rollback")
    other.close()
    assert "4" not in debugger.program.steps
    assert (await debugger.run("over")).reason == "step"


async def test_a_reload_that_is_cancelled_is_carried_out(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, LOOP, keeps=True)
    debugger = session.debugger
    await debugger.run("over")
    reloading = asyncio.ensure_future(debugger.reload(edited(project, LOOP + "- lab.count\n")))
    await asyncio.sleep(0)
    reloading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reloading
    with pytest.raises(CommandRefused):
        await debugger.run("over")
    await debugger.close()
    assert "4" in debugger.program.steps
    assert session.told(Reloaded)
