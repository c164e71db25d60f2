"""Looking at a run: what a visit changed, who wrote and read a variable, expressions at any checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.test_time_travel import SHAPES, opened, project
from workbench.engine.events import ServerOutput, WireMessage
from workbench.engine.expressions import ExpressionError
from workbench.engine.state import CommandRefused
from workbench.mcp.hub import ServerHub

__all__ = ["project"]


async def test_what_a_visit_changed(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, SHAPES["loop"])).debugger
    await debugger.run("continue")
    first = next(change for change in debugger.changes(1) if change.name == "q_ls")
    assert (first.name, first.is_new, first.before) == ("q_ls", True, None)
    second = next(change for change in debugger.changes(2) if change.name == "q_ls")
    assert (second.name, second.is_new) == ("q_ls", False)
    assert second.before == first.after
    assert second.after != first.after
    with pytest.raises(CommandRefused, match="no visit 99"):
        debugger.changes(99)


async def test_what_a_branch_changed_says_for_which_items(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, SHAPES["branch"])).debugger
    await debugger.run("continue")
    in_branch = next(visit for visit in debugger.visits if visit.branch == ("short",))
    (change,) = debugger.changes(in_branch.number)
    assert change.items == in_branch.items
    other = [n for n in range(len(change.after)) if n not in (change.items or ())]
    assert all(change.after[n] == change.before[n] for n in other)


async def test_the_history_of_a_variable(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, SHAPES["loop"])).debugger
    await debugger.run("continue")
    versions = debugger.history("q_ls")
    writers = [version.visit.number for version in versions if version.visit is not None]
    assert writers == [visit.number for visit in debugger.visits if "q_ls" in visit.saved]
    assert [reader.number for reader in versions[0].readers] == [writers[1]]
    last_readers = [reader.name for reader in versions[-1].readers]
    assert "lab.search" in last_readers
    with pytest.raises(CommandRefused, match="no variable nothing"):
        debugger.history("nothing")


async def test_an_edit_is_a_version_of_its_own(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, SHAPES["plain"])).debugger
    await debugger.run_to("3")
    debugger.edit_variable("q_ls", "other", 0)
    await debugger.run("continue")
    versions = debugger.history("q_ls")
    assert [version.is_edited for version in versions] == [False, False, True]
    assert versions[1].readers == (), "the one that was edited was read by no one"
    assert versions[2].readers
    assert versions[2].visit is not None
    assert versions[2].visit.number == 2


async def test_expressions_at_any_checkpoint(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, SHAPES["loop"])).debugger
    await debugger.run("continue")
    extended = [visit for visit in debugger.visits if visit.name == "lab.extend"]
    lengths = [debugger.evaluate("q_ls[item] | length", visit=visit.number, item=0) for visit in extended]
    assert lengths == sorted(set(lengths)), "each round sees the question as it was then"
    assert debugger.evaluate("q_ls[0] | length") > lengths[-1]
    assert [debugger.evaluate("round", visit=visit.number) for visit in extended] == [1, 2, 3]
    assert debugger.evaluate("memory_q_ls | length") == 4
    with pytest.raises(ExpressionError, match="nothing"):
        debugger.evaluate("nothing")


async def test_what_was_heard_in_a_visit(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, SHAPES["plain"], keeps=True)
    debugger = session.debugger
    await debugger.run("continue")
    record = debugger._recorder  # what the servers say reaches it through the hub, which these tests share
    for visit in (2, 3):
        line = b'{"jsonrpc":"2.0"}'
        about = {"started": 1.0, "at": 2.0, "size": len(line), "line": line, "visit": visit}
        record.told(WireMessage(server="lab", way="sent", method="tools/call", id=7, **about))  # type: ignore[attr-defined]
        record.told(ServerOutput(server="lab", stream="stderr", text=f"in {visit}", visit=visit))  # type: ignore[attr-defined]
    message, output = await debugger.heard(3)
    assert isinstance(message, WireMessage)
    assert message.method == "tools/call"
    assert isinstance(output, ServerOutput)
    assert output.text == "in 3"
    assert await debugger.heard(1) == ()
    await debugger.close()


async def test_an_output_of_an_earlier_visit_is_edited_right_after_it(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, SHAPES["plain"])
    debugger = session.debugger
    await debugger.run("continue")
    debugger.edit_output(2, "q_ls", "edited", 1)
    assert debugger.state.position == 2
    await debugger.run("continue")
    assert debugger.state.timeline == 2
    assert all(visit.follows_edit for visit in debugger.visits[2:] if visit.bound and visit.bound.items)
    assert debugger.timelines[1].moments[2].before.pool.get("q_ls").value[1] != "edited"  # type: ignore[union-attr]
    with pytest.raises(CommandRefused, match="gave no nothing"):
        debugger.edit_output(1, "nothing", 1)


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_fork_with_an_edit_is_resumed_as_it_was(project: Path, lab_servers: ServerHub, shape: str) -> None:
    session = await opened(project, lab_servers, SHAPES[shape], keeps=True)
    debugger = session.debugger
    await debugger.run("continue")
    debugger.edit_output(1, "q_ls", "something else", 0)
    await debugger.run("continue")
    there = {name: variable.value for name, variable in debugger.state.pool.variables.items()}
    first = [moment.after.get("q_ls").value for moment in debugger.timelines[1].moments]  # type: ignore[union-attr]
    second = [moment.before.pool.get("q_ls") for moment in debugger.timeline.moments]
    resumed = await session.resumed()
    again = resumed.debugger
    assert again.state.timeline == 2
    assert {name: variable.value for name, variable in again.state.pool.variables.items()} == there
    assert [m.after.get("q_ls").value for m in again.timelines[1].moments] == first  # type: ignore[union-attr]
    befores = [moment.before.pool.get("q_ls") for moment in again.timeline.moments]
    assert [v and (v.value, v.is_edited, v.follows_edit) for v in befores] == [
        v and (v.value, v.is_edited, v.follows_edit) for v in second
    ]
    await again.close()


async def test_without_a_stop_on_failure_the_run_ends_as_failed(project: Path, lab_servers: ServerHub) -> None:
    from workbench.engine.events import RunFinished

    session = await opened(project, lab_servers, SHAPES["plain"])
    debugger = session.debugger
    await debugger.run_to("3")
    debugger.breakpoints.stop_on_failure(False)
    debugger.edit_variable("q_ls", [1, 2, 3, 4])  # lab.tag adds a letter to each
    stopped = await debugger.run("continue")
    assert stopped.reason == "failed"
    (finished,) = session.told(RunFinished)
    assert finished.outcome == "failed"
