"""Timelines that were run under a pipeline as it was: nothing is lost of them, and nothing is added to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engine.test_changed_pipeline import edited
from tests.engine.test_time_travel import HEAD, SHAPES, opened, project
from tests.support import Session
from workbench.engine.debugger import Debugger
from workbench.engine.events import Forked
from workbench.mcp.hub import ServerHub

__all__ = ["project"]

LOOP = SHAPES["loop"]
COUNTED = LOOP.replace("lab.tag]", "lab.tag, lab.count]")
"""Of it 3 visits of the loop fit."""
LONGER = LOOP + "- lab.count\n"
"""All visits of the loop fit."""


def everything(debugger: Debugger) -> dict[int, Any]:
    """All timelines: where they left, their visits, and where each stands."""
    return {
        number: (
            timeline.parent,
            timeline.parent_visit,
            [(visit.number, visit.step, visit.round) for visit in timeline.visits],
            timeline.end.cursor if timeline.end is not None else None,
            {v.name: v.value for v in timeline.end.pool} if timeline.end is not None else None,
        )
        for number, timeline in debugger.timelines.items()
    }


async def goes_on_the_same(session: Session) -> Session:
    """What is read back from the file is what was there."""
    before = everything(session.debugger)
    resumed = await session.resumed(session.debugger.prepared)
    assert everything(resumed.debugger) == before
    return resumed


@pytest.mark.parametrize("ran_on", [True, False])
@pytest.mark.parametrize("way", ["reload", "resume"])
async def test_an_older_timeline_is_not_added_to(project: Path, lab_servers: ServerHub, way: str, ran_on: bool) -> None:
    session = await opened(project, lab_servers, LOOP, keeps=True)
    await session.debugger.run("continue")
    if way == "reload":
        await session.debugger.reload(edited(project, COUNTED))
    else:
        session = await session.resumed(edited(project, COUNTED))
    debugger = session.debugger
    assert len(debugger.timelines[1].moments) == 3
    if ran_on:
        await debugger.run("into")
        assert (await debugger.switch_to(1)).why == "after the last visit that fits the pipeline as it is now"
    await debugger.run("into")
    forks = [(fork.parent, fork.parent_visit) for fork in session.told(Forked)]
    assert forks == ([(1, 4), (1, 4)] if ran_on else [(1, 4)])
    assert [visit.number for visit in debugger.timelines[1].visits] == [1, 2, 3]
    resumed = await goes_on_the_same(session)
    whole = await resumed.resumed(edited(project, LOOP))
    assert len(whole.debugger.timelines[1].moments) == 8
    await whole.debugger.close()


async def test_undoing_an_edit_of_the_file_brings_the_past_back(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, LOOP, keeps=True)
    debugger = session.debugger
    await debugger.run("continue")
    whole = everything(debugger)
    for text, kept in ((COUNTED, 3), (COUNTED.replace("lab.extend", "lab.count"), 1), (COUNTED, 3), (LONGER, 8)):
        prepared = edited(project, text)
        assert debugger.reloading(prepared)[0] == kept
        await debugger.reload(prepared)
        assert debugger.state.position == len(debugger.visits) == kept
    await debugger.reload(edited(project, LOOP))
    assert everything(debugger) == whole
    assert debugger.state.status == "finished"
    await (await goes_on_the_same(session)).debugger.close()


async def test_forks_come_back_too(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, LOOP, keeps=True)
    debugger = session.debugger
    await debugger.run("continue")
    await debugger.go_to(6)
    await debugger.run("over")
    before = everything(debugger)
    await debugger.reload(edited(project, COUNTED))
    assert {n: len(t.moments) for n, t in debugger.timelines.items()} == {1: 3, 2: 3}
    await debugger.run("over")
    assert [fork.parent for fork in session.told(Forked)] == [1, 2]
    third = everything(debugger)[3]
    session = await goes_on_the_same(session)
    debugger = session.debugger
    await debugger.reload(edited(project, LOOP))
    found = everything(debugger)
    assert {1: found[1], 2: found[2]} == before
    assert len(debugger.timelines[3].moments) == 3, "its own visit was of another pipeline"
    await debugger.reload(edited(project, COUNTED))
    assert everything(debugger)[3] == third
    await session.debugger.close()


async def test_what_a_fork_left_at_its_end_is_not_added_to(project: Path, lab_servers: ServerHub) -> None:
    tagged = LOOP + "- lab.tag\n"
    session = await opened(project, lab_servers, tagged, keeps=True)
    debugger = session.debugger
    await debugger.run_to("4")
    await debugger.reload(edited(project, LONGER))
    await debugger.run("over")
    assert [(fork.parent, fork.parent_visit) for fork in session.told(Forked)] == [(1, None)]
    await debugger.reload(edited(project, tagged))
    await debugger.switch_to(1)
    await debugger.run("over")
    assert debugger.state.timeline == 3
    assert len(debugger.timelines[1].moments) == 8
    await (await goes_on_the_same(session)).debugger.close()


async def test_edits_where_an_older_timeline_ends_are_kept(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, LOOP, keeps=True)
    debugger = session.debugger
    await debugger.run("continue")
    await debugger.reload(edited(project, COUNTED))
    debugger.edit_variable("q_ls", "other", 0)
    debugger.edit_variable("q_ls", "more", 1)
    assert debugger.state.timeline == 2
    session = await goes_on_the_same(session)
    debugger = session.debugger
    assert debugger.evaluate("q_ls[:2]") == ["other", "more"]
    await debugger.reload(edited(project, COUNTED + "- lab.tag\n"))
    assert debugger.evaluate("q_ls[:2]") == ["other", "more"]
    assert debugger.timelines[1].end is not None
    await debugger.run("over")
    assert debugger.state.timeline == 2, "nothing of it ran under another pipeline"
    await (await goes_on_the_same(session)).debugger.close()


async def test_edits_before_anything_ran_go_with_the_pipeline(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, HEAD + "- lab.search\n", keeps=True)
    debugger = session.debugger
    debugger.edit_parameter("lab", "top_k", 1)
    await debugger.reload(
        edited(project, HEAD.replace("pipeline:\n", "pipeline:\n- lab.get_items\n") + "- lab.search\n")
    )
    await debugger.run("over")
    assert debugger.state.timeline == 1
    await debugger.run("over")
    session = await goes_on_the_same(session)
    await session.debugger.run("continue")
    assert len(session.debugger.evaluate("ret_psg[0]")) == 1
    await session.debugger.close()


async def test_in_the_past_the_place_is_kept(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, LOOP)).debugger
    await debugger.run("continue")
    await debugger.go_to(3)
    for text, cut in ((LONGER, None), (LOOP, None), (COUNTED, None)):
        prepared = edited(project, text)
        assert debugger.reloading(prepared) == (2, cut)
        assert debugger.reloading(debugger.prepared) == (2, None), "nothing is different"
        await debugger.reload(prepared)
        assert debugger.state.position == 2
    await debugger.go_to_end()
    assert debugger.state.position == 3


async def test_servers_that_ran_what_is_cut_are_out_of_step(project: Path, lab_servers: ServerHub) -> None:
    text = HEAD + "- lab.extend\n- lab.note\n- lab.tag\n"
    debugger = (await opened(project, lab_servers, text)).debugger
    await debugger.run("continue")
    await debugger.reload(edited(project, text.replace("- lab.extend\n", "")))
    assert debugger.out_of_step() == ("lab",)
    await debugger.reload(edited(project, text))
    assert debugger.out_of_step() == ()
