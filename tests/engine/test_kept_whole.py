"""What a user did is there again after a resume: edits, decisions, parameters, in whatever order they came."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path
from typing import Any

import pytest

from tests.engine.test_changed_pipeline import edited
from tests.engine.test_time_travel import HEAD, SHAPES, opened, project
from tests.support import Session
from workbench.engine.breakpoints import Breakpoint
from workbench.engine.debugger import Debugger
from workbench.engine.events import RunFinished
from workbench.engine.state import CommandRefused
from workbench.mcp.hub import ServerHub

__all__ = ["project"]

PLAIN = HEAD + "- lab.extend\n- lab.count\n"


def whole(debugger: Debugger) -> dict[int, list[Any]]:
    """Everything that each timeline knows of its variables and parameters."""
    return {
        number: [[_pool(moment.before.pool), _pool(moment.after)] for moment in timeline.moments]
        for number, timeline in debugger.timelines.items()
    }


def _pool(pool: Any) -> Any:
    variables = {v.name: (v.value, v.is_edited, v.follows_edit, v.visit) for v in pool}
    parameters = {(alias, n): (p.value, p.origin) for alias, s in pool.parameters.items() for n, p in s.items()}
    return variables, parameters


async def same_after_resume(session: Session) -> Debugger:
    live, here = whole(session.debugger), _pool(session.debugger.state.pool)
    at = (session.debugger.state.timeline, session.debugger.state.position)
    resumed = (await session.resumed()).debugger
    assert whole(resumed) == live
    if at[1] == len(session.debugger.timeline.moments):
        assert (resumed.state.timeline, resumed.state.position) == at
        assert _pool(resumed.state.pool) == here
    return resumed


async def test_an_edit_that_was_gone_back_over_and_run_anew(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, PLAIN, keeps=True)
    debugger = session.debugger
    await debugger.run("over")
    debugger.edit_variable("q_ls", "EDIT", 0)
    debugger.edit_parameter("lab", "top_k", 9)
    await debugger.run("over")
    await debugger.step_back()
    await debugger.run("continue")
    assert debugger.evaluate("q_ls[0]", visit=debugger.visits[1].number) == "EDIT"
    await (await same_after_resume(session)).close()


async def test_an_edit_before_a_block_is_entered(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, SHAPES["loop"], keeps=True)
    debugger = session.debugger
    await debugger.run("over")
    debugger.edit_variable("q_ls", "EDIT", 0)
    await debugger.run("into")
    await debugger.step_back()
    await debugger.go_to_end()
    assert debugger.evaluate("q_ls[0]") == "EDIT"
    await debugger.run("into")
    await (await same_after_resume(session)).close()


async def test_an_edit_at_the_end_stays_when_one_looks_back(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, PLAIN, keeps=True)
    debugger = session.debugger
    await debugger.run("over")
    await debugger.run("over")
    debugger.edit_variable("q_ls", "EDIT", 0)
    await debugger.step_back()
    await debugger.step_forth()
    assert debugger.evaluate("q_ls[0]") == "EDIT"
    await (await same_after_resume(session)).close()


async def test_edited_parameters_go_on_after_a_restart(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, HEAD + "- lab.search\n- lab.search\n", keeps=True)
    debugger = session.debugger
    debugger.edit_parameter("lab", "top_k", 5)
    debugger.breakpoints.add(Breakpoint("3", hit_count="== 1"))
    assert (await debugger.run("continue")).reason == "breakpoint"
    session.file.unlink()
    await debugger.restart()
    assert (await debugger.run("continue")).reason == "breakpoint", "hits are counted anew"
    assert len(debugger.evaluate("ret_psg[0]")) == 5
    await (await same_after_resume(session)).close()


async def test_the_timeline_that_was_gone_on_with(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, PLAIN, keeps=True)
    debugger = session.debugger
    await debugger.run("continue")
    await debugger.go_to(2)
    debugger.edit_variable("q_ls", "two", 0)
    await debugger.run("over")
    await debugger.go_to(1)
    await debugger.run("over")
    await debugger.switch_to(2)
    debugger.edit_variable("q_ls", "late", 0)
    resumed = await same_after_resume(session)
    assert resumed.state.timeline == 2
    await resumed.close()


async def test_a_change_of_the_pipeline_goes_on_with_the_present_timeline(
    project: Path, lab_servers: ServerHub
) -> None:
    session = await opened(project, lab_servers, PLAIN, keeps=True)
    debugger = session.debugger
    await debugger.run("continue")
    for text in ("two", "three"):
        await debugger.go_to(debugger.timeline.moments[1].visit.number)
        debugger.edit_variable("q_ls", text, 0)
        await debugger.run("over")
    await debugger.switch_to(2)
    await debugger.run("over")
    resumed = await session.resumed(edited(project, PLAIN + "- lab.search\n"))
    assert resumed.cut is None
    assert resumed.debugger.evaluate("q_ls[0]") == "two+"
    resumed.debugger.edit_variable("q_ls", "late", 0)
    again = await resumed.resumed()
    assert again.debugger.evaluate("q_ls[0]") == "late", "also where nothing was run in it yet"
    await again.debugger.close()


async def test_two_changes_of_the_pipeline(project: Path, lab_servers: ServerHub) -> None:
    first = HEAD + "- lab.extend\n- lab.tag\n- lab.count\n"
    second = first.replace("- lab.extend", "- loop: {times: 0, steps: [lab.search]}\n- lab.extend")
    session = await opened(project, lab_servers, first, keeps=True)
    await session.debugger.run_to("4")
    session = await session.resumed(edited(project, second))
    assert session.cut is None
    await session.debugger.run("over")
    session = await session.resumed(edited(project, second + "- lab.search\n"))
    assert session.cut is None
    assert len(session.debugger.visits) == 4
    await session.debugger.close()


async def test_a_decision_that_was_changed_and_a_pipeline_that_was(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, SHAPES["branch"], keeps=True)
    debugger = session.debugger
    await debugger.run_to("2.router.1")
    await debugger.run("over")
    for item in debugger.routes or {}:
        debugger.edit_state(item, "long")
    await debugger.run("continue")
    count = len(debugger.visits)
    resumed = await session.resumed(edited(project, SHAPES["branch"] + "- lab.search\n"))
    assert (resumed.cut, len(resumed.debugger.visits)) == (None, count)
    await resumed.debugger.close()


async def test_a_server_that_came_later_has_its_parameters_in_the_past(project: Path, lab_servers: ServerHub) -> None:
    text = HEAD + "- lab.search\n"
    session = await opened(project, lab_servers, text.replace(", prompt: servers/prompt", ""), keeps=True)
    await session.debugger.run("continue")
    resumed = await session.resumed(edited(project, text + "- prompt.ask: {input: {q_ls: q_ls}}\n"))
    debugger = resumed.debugger
    await debugger.go_to(2)
    assert debugger.state.pool.parameters["prompt"] == debugger.prepared.parameters.of("prompt")
    await debugger.close()


async def test_an_input_that_was_edited_inside_a_block(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, SHAPES["loop"], keeps=True)
    debugger = session.debugger
    await debugger.run("over")
    await debugger.run("into")
    debugger.edit_input("q_ls", ["a", "b", "c", "d"])
    resumed = (await session.resumed()).debugger
    assert resumed.state.place.step == "2.1"
    await resumed.run("over")
    assert resumed.evaluate("q_ls") == ["a+", "b+", "c+", "d+"]
    await resumed.close()


@pytest.mark.parametrize(("then", "now"), [(1, True), (1, 1.0), (0.0, -0.0)])
async def test_what_only_looks_equal_is_not_answered(
    project: Path, lab_servers: ServerHub, then: Any, now: Any
) -> None:
    session = await opened(project, lab_servers, HEAD + "- lab.merge: {input: {left_ls: q_ls, right_ls: q_ls}}\n")
    debugger = session.debugger
    await debugger.run("over")
    debugger.edit_variable("q_ls", [then] * 4)
    await debugger.run("over")
    debugger.answers = "recorded if equal"
    await debugger.step_back()
    debugger.edit_variable("q_ls", [now] * 4)
    calls = len(session.servers.calls)
    await debugger.run("over")
    assert len(session.servers.calls) == calls + 1


async def test_a_router_that_is_asked_again_begins_a_fork(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, SHAPES["branch"])).debugger
    await debugger.run_to("2.router.1")
    await debugger.run("over")
    stopped = await debugger.retry()
    assert "decided" in stopped.why
    assert debugger.state.timeline == 2
    assert [visit.step for visit in debugger.visits] == ["1", "2.router.1"]


async def test_round_by_round_out_of_two_loops(project: Path, lab_servers: ServerHub) -> None:
    loops = "- loop: {times: 1, steps: [lab.tag, lab.extend]}\n- loop: {times: 2, steps: [lab.tag, lab.extend]}\n"
    debugger = (await opened(project, lab_servers, HEAD + loops)).debugger
    await debugger.run_to("3.2")
    await debugger.round_back()
    assert (debugger.state.place.step, debugger.state.place.round) == ("3.1", (1,))
    await debugger.round_back()
    assert debugger.state.place.step == "2.1", "the round of the loop before"


async def test_an_output_that_can_not_be_edited_moves_nothing(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, PLAIN)).debugger
    await debugger.run("continue")
    with pytest.raises(CommandRefused):
        debugger.edit_output(1, "q_ls", "x", 99)
    assert debugger.state.position == 3
    assert debugger.state.status == "finished"


async def test_a_decision_that_leads_nowhere_may_end_the_run(project: Path, lab_servers: ServerHub) -> None:
    branches = "- branch: {router: [lab.route_length], branches: {short: [lab.tag]}}\n"
    session = await opened(project, lab_servers, HEAD + branches)
    session.debugger.breakpoints.stop_on_failure(False)
    assert (await session.debugger.run("continue")).reason == "failed"
    (finished,) = session.told(RunFinished)
    assert finished.outcome == "failed"
    assert session.memory()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(6))
async def test_any_walk_with_edits_is_there_after_a_resume(
    project: Path, lab_servers: ServerHub, shape: str, seed: int
) -> None:
    choose = random.Random(seed)
    session = await opened(project, lab_servers, SHAPES[shape], keeps=True)
    for number in range(60):
        await _any_command(session.debugger, choose, number)
        if number % 20 == 19:
            await session.debugger.go_to_end()
            live, here = whole(session.debugger), _pool(session.debugger.state.pool)
            timeline = session.debugger.state.timeline
            session = await session.resumed()
            assert whole(session.debugger) == live
            assert (session.debugger.state.timeline, _pool(session.debugger.state.pool)) == (timeline, here)
    await session.debugger.close()


async def _any_command(debugger: Debugger, choose: random.Random, number: int) -> None:
    visits = [visit.number for visit in debugger.timeline.visits]
    with contextlib.suppress(CommandRefused):
        match choose.choice(
            ["over", "over", "into", "into", "back", "forth", "end", "go", "switch", "edit", "set", "route"]
        ):
            case "over" | "into" as command:
                await debugger.run(command)
            case "back":
                await debugger.step_back()
            case "forth":
                await debugger.step_forth()
            case "end":
                await debugger.go_to_end()
            case "go" if visits:
                await debugger.go_to(choose.choice(visits))
            case "switch":
                await debugger.switch_to(choose.choice(list(debugger.timelines)))
            case "edit":
                debugger.edit_variable("q_ls", f"edit {number}", choose.randrange(4))
            case "set":
                debugger.edit_parameter("lab", "top_k", number)
            case "route" if debugger.routes:
                debugger.edit_state(*choose.choice(list(debugger.routes.items())))
