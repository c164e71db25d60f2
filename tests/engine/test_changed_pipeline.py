"""Going on from a session whose pipeline was edited since, and breakpoints that move with their steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.test_time_travel import HEAD, SHAPES, opened, project
from workbench.engine.breakpoints import Breakpoint, KeptBreakpoints
from workbench.engine.events import Edited
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import Prepared, prepare
from workbench.record.breakpoints_file import BreakpointsFile

__all__ = ["project"]

LOOP = SHAPES["loop"]


def edited(project: Path, text: str) -> Prepared:
    file = project / "p.yaml"
    file.write_text(text, encoding="utf-8")
    return prepare(file)


SKIPS = HEAD + "- branch: {router: [lab.route_length], branches: {short: [], long: []}}\n"

CHANGES = {
    # before, after how many visits it is left, the text then, how many visits are kept, why no more are
    "a step at the end": (LOOP, 7, LOOP + "- lab.count\n", 7, None),
    "a comment": (LOOP, 4, LOOP.replace("pipeline:", "# why\npipeline:"), 4, None),
    "a step before all": (
        LOOP,
        4,
        LOOP.replace("- lab.get_items\n", "- lab.get_items: {output: {q_ls: a_ls, gt_ls: b_ls}}\n- lab.get_items\n"),
        0,
        "step 1 lab.get_items comes before visit 1 lab.get_items now",
    ),
    "a step in the loop's body": (
        LOOP,
        5,
        LOOP.replace("lab.tag]", "lab.tag, lab.count]"),
        3,
        "step 2.3 lab.count comes before visit 4 lab.extend now",
    ),
    "a step less": (
        LOOP,
        5,
        LOOP.replace(", lab.tag]", "]"),
        2,
        "step 2.2 lab.tag, of visit 3, is not there as it was",
    ),
    "fewer rounds": (LOOP, 7, LOOP.replace("times: 3", "times: 2"), 5, "step 3 lab.search comes before visit 6"),
    "more rounds": (LOOP, 7, LOOP.replace("times: 3", "times: 4"), 7, None),
    "another input": (
        HEAD + "- lab.extend\n- lab.tag\n- lab.search\n",
        4,
        HEAD + "- lab.extend\n- lab.tag: {output: {tagged_ls: other_ls}}\n- lab.search\n",
        2,
        "step 3 lab.tag, of visit 3, is not there as it was",
    ),
    "more rounds of a loop that was left": (LOOP, 8, LOOP.replace("times: 3", "times: 5"), 7, "step 2.1 lab.extend"),
    "rounds for a loop that had none": (
        HEAD + "- loop: {times: 0, steps: [lab.extend]}\n- lab.tag\n- lab.search\n",
        2,
        HEAD + "- loop: {times: 1, steps: [lab.extend]}\n- lab.tag\n- lab.search\n",
        1,
        "step 2.1 lab.extend comes before visit 2 lab.tag",
    ),
    "a step skipped then and now": (
        SKIPS + "- lab.tag\n",
        3,
        SKIPS + "- lab.tag\n- lab.count\n",
        3,
        None,
    ),
    "a branch less": (
        SHAPES["branch"],
        4,
        SHAPES["branch"].replace("long: [lab.tag, lab.extend]", "long: [lab.extend]"),
        3,
        "step 2.long.1 lab.tag, of visit 4, is not there as it was",
    ),
}


@pytest.mark.parametrize("case", CHANGES)
async def test_the_past_is_kept_as_far_as_it_fits(project: Path, lab_servers: ServerHub, case: str) -> None:
    before, visits, after, kept, why = CHANGES[case]
    session = await opened(project, lab_servers, before, keeps=True)
    while len(session.debugger.visits) < visits:
        await session.debugger.run("into")
    calls = [call.tool for call in session.servers.calls]
    resumed = await session.resumed(edited(project, after))
    debugger = resumed.debugger
    assert len(debugger.visits) == kept
    assert resumed.cut is why if why is None else why in (resumed.cut or "")
    await debugger.run("continue")
    straight = await opened(project, lab_servers, after)
    await straight.debugger.run("continue")
    assert resumed.memory() == straight.memory()
    ran = [call.tool for call in resumed.servers.calls]
    assert [*calls[:kept], *ran] == [call.tool for call in straight.servers.calls], "nothing that fits runs again"
    again = await resumed.resumed()
    assert again.cut is None
    assert again.memory() == []
    assert {n: v.value for n, v in again.debugger.state.pool.variables.items()} == {
        n: v.value for n, v in debugger.state.pool.variables.items()
    }
    await again.debugger.close()


async def test_a_changed_parameter_counts_from_the_next_step(project: Path, lab_servers: ServerHub) -> None:
    (project / "parameter").mkdir()
    file = project / "parameter" / "p_parameter.yaml"
    file.write_text("lab: {top_k: 1}\n")
    session = await opened(project, lab_servers, HEAD + "- lab.search\n- lab.search\n", keeps=True)
    await session.debugger.run("into")
    await session.debugger.run("into")
    file.write_text("lab: {top_k: 2}\n")
    resumed = await session.resumed(edited(project, HEAD + "- lab.search\n- lab.search\n"))
    debugger = resumed.debugger
    (told,) = resumed.told(Edited)
    assert (told.what, told.name, told.old, told.new) == ("parameter", "lab.top_k", 1, 2)
    await debugger.run("continue")
    used = [[b for b in visit.bound.inputs if b.argument == "top_k"] for visit in debugger.visits if visit.bound]
    assert [bound[0].value for bound in used if bound] == [1, 2]
    assert not debugger.visits[-1].follows_edit, "a file gave it, no hand"
    await debugger.go_to(2)
    assert debugger.evaluate("parameters.lab.top_k", visit=2) == 1, "the past is as it was"
    assert debugger.evaluate("parameters.lab.top_k") == 2, "what runs anew runs with what the file says"
    await debugger.run("over")
    assert len(debugger.evaluate("ret_psg[0]")) == 2
    await debugger.switch_to(1)
    again = await resumed.resumed()
    assert again.debugger.state.pool.parameters["lab"]["top_k"].value == 2
    await again.debugger.close()


def test_breakpoints_are_kept_and_move_with_their_steps(project: Path, tmp_path: Path) -> None:
    stops = (
        Breakpoint("2.2", "round == 2", hits=3),
        Breakpoint("3", when="after"),
        Breakpoint("lab.*", log="{{ round }}"),
        Breakpoint("2"),
    )
    kept = KeptBreakpoints(stops, on_failure=False)
    file = BreakpointsFile(tmp_path / "state", edited(project, LOOP).pipeline)
    file.write(kept)
    assert oct(file.path.stat().st_mode & 0o777) == "0o600"
    moved_to = LOOP.replace("- lab.get_items\n", "- lab.get_items\n- lab.count\n").replace("lab.extend, ", "")
    found, gone = BreakpointsFile(tmp_path / "state", edited(project, moved_to).pipeline).read()
    assert [b.key for b in found.breakpoints] == ["3.1", "4 after", "lab.*", "3"]
    assert (found.on_failure, gone) == (False, ())
    without = LOOP.replace(", lab.tag]", "]").replace("- lab.search\n", "")
    found, gone = BreakpointsFile(tmp_path / "state", edited(project, without).pipeline).read()
    assert [b.key for b in found.breakpoints] == ["lab.*", "2"]
    assert [b.step for b in gone] == ["2.2", "3"]
    file.write(KeptBreakpoints())
    assert not file.path.exists()


def test_a_broken_file_of_breakpoints_is_as_none(project: Path, tmp_path: Path) -> None:
    file = BreakpointsFile(tmp_path / "state", edited(project, LOOP).pipeline)
    file.path.parent.mkdir(parents=True)
    for content in (b"", b"{}", b"[1]", b'{"kept": 3, "outline": []}', b"\xff\xfe"):
        file.path.write_bytes(content)
        assert file.read() == (KeptBreakpoints(), ())
