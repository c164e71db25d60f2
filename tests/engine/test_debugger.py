"""The debugger's commands, on real servers: moving, stopping, editing, failing and going on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support import CONFORMANCE, Session
from workbench.engine.debugger import Debugger
from workbench.engine.events import BranchRouted, LoopFinished, StepSkipped, VisitFailed
from workbench.engine.expressions import ExpressionError
from workbench.engine.inputs import BoundInputs
from workbench.engine.state import CommandRefused
from workbench.engine.timeline import Moment, Timeline
from workbench.engine.values import UNSET
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import prepare

HEAD = "servers: {lab: servers/lab, prompt: servers/prompt}\npipeline:\n"
BRANCH_IN_LOOP = (
    HEAD
    + """\
- lab.get_items
- loop:
    times: 3
    steps:
    - lab.tag
    - branch:
        router: [lab.route_length]
        branches:
          short: [lab.search]
          long: [lab.extend, lab.tag]
- lab.count
"""
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "servers").symlink_to(CONFORMANCE / "servers")
    return tmp_path


async def opened(project: Path, hub: ServerHub, text: str) -> Session:
    file = project / "p.yaml"
    file.write_text(text, encoding="utf-8")
    session = Session(prepare(file), hub, project / "output")
    await session.open()
    return session


def at(debugger: Debugger) -> tuple[str | None, tuple[int, ...], tuple[str, ...]]:
    place = debugger.state.place
    return place.step, place.round, place.branch


async def test_stepping_over_a_block_runs_it_whole(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, BRANCH_IN_LOOP)).debugger
    places = [at(debugger)]
    while debugger.state.status != "finished":
        await debugger.run("over")
        places.append(at(debugger))
    assert [step for step, _, _ in places] == ["1", "2", "3", None]


async def test_stepping_into_goes_everywhere(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, BRANCH_IN_LOOP)).debugger
    places = []
    while debugger.state.status != "finished":
        await debugger.run("into")
        places.append(at(debugger))
    # Twice at the router: before it, and where it has decided.
    one_round = ["2.1", "2.2", "2.2.router.1", "2.2.router.1", "2.2.short.1", "2.2.long.1", "2.2.long.2"]
    assert [step for step, _, _ in places] == ["2", *one_round * 3, "3", None]
    assert places[5] == ("2.2.short.1", (1,), ("short",))
    assert places[14] == ("2.2.long.2", (2,), ("long",))


async def test_over_a_router_stops_where_its_decision_can_be_changed(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, BRANCH_IN_LOOP)).debugger
    await debugger.run_to("2.2.router.1")
    stopped = await debugger.run("over")
    assert stopped.why.startswith("lab.route_length decided: ")
    decided = dict(debugger.routes or {})
    assert set(decided.values()) == {"short", "long"}
    for item in decided:
        debugger.edit_state(item, "long")
    await debugger.run("over")
    assert at(debugger) == ("2.2.long.1", (1,), ("long",))
    assert debugger.state.cursor.items == tuple(decided)
    await debugger.run("out")
    assert at(debugger)[0] == "2.1", "over the branch as a whole the router does not stop the run"


async def test_stepping_out_finishes_the_innermost_block(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, BRANCH_IN_LOOP)).debugger
    debugger.breakpoints.set("2.2.long.1")
    await debugger.run("continue")
    debugger.breakpoints.remove("2.2.long.1")
    await debugger.run("out")
    assert at(debugger) == ("2.1", (2,), ())
    await debugger.run("out")
    assert at(debugger) == ("3", (), ())


async def test_breakpoints_stop_before_the_step_and_count(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, BRANCH_IN_LOOP)).debugger
    debugger.breakpoints.set("2.2.long.2", "round == 2")
    stopped = await debugger.run("continue")
    assert (stopped.reason, at(debugger)) == ("breakpoint", ("2.2.long.2", (2,), ("long",)))
    assert stopped.why == "breakpoint: round == 2"
    assert debugger.breakpoints.by_step["2.2.long.2"].hits == 1
    debugger.breakpoints.enable("2.2.long.2", False)
    assert (await debugger.run("continue")).reason == "finished"


async def test_a_condition_with_item_holds_for_any_item_of_the_step(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, BRANCH_IN_LOOP)).debugger
    debugger.breakpoints.set("2.2.short.1", "q_ls[item] == 'apple'")
    debugger.breakpoints.set("2.2.long.1", "q_ls[item] == 'apple'")
    await debugger.run("continue")
    assert at(debugger)[0] == "2.2.long.1"


async def test_a_condition_that_can_not_be_evaluated_stops_and_says_why(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, BRANCH_IN_LOOP)).debugger
    debugger.breakpoints.set("3", "nothing_ls[0] == 1")
    stopped = await debugger.run("continue")
    assert stopped.reason == "breakpoint"
    assert "nothing_ls" in stopped.why
    with pytest.raises(ExpressionError):
        debugger.breakpoints.set("3", "1 +")


async def test_a_condition_can_not_hold_up_the_run(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, BRANCH_IN_LOOP)).debugger
    debugger.breakpoints.set("2.1", "9**(9**9)")
    assert "this power is too large" in (await debugger.run("continue")).why
    debugger.breakpoints.set("2.1", "'x' * 10000000000 == q_ls[0]")
    assert "this repetition is too long" in (await debugger.run("continue")).why
    with pytest.raises(ExpressionError, match="nested too deeply"):
        debugger.breakpoints.set("3", "(" * 3000 + "1" + ")" * 3000)


async def test_leaving_before_anything_ran_writes_nothing(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, BRANCH_IN_LOOP)
    await session.debugger.close()
    assert not (project / "output").exists()


async def test_pause_takes_effect_before_the_next_step(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, BRANCH_IN_LOOP)
    running = asyncio.ensure_future(session.debugger.run("continue"))
    while not session.debugger.visits:
        await asyncio.sleep(0)
    session.debugger.pause()
    assert (await running).reason == "pause"
    assert session.debugger.state.status == "stopped"
    assert (await session.debugger.run("continue")).reason == "finished"


async def test_cancel_leaves_the_pool_and_the_server_as_they_were(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, HEAD + "- lab.get_items\n- lab.tag\n")
    debugger = session.debugger
    await debugger.run("over")
    before = debugger.state.pool
    running = asyncio.ensure_future(debugger.run("over"))
    await asyncio.sleep(0)
    debugger.cancel()
    stopped = await running
    assert stopped.reason == "cancelled"
    assert debugger.state.pool is before
    assert (await debugger.run("over")).reason == "finished"
    assert debugger.visits[-1].attempt == 2


async def test_an_edited_variable_goes_into_the_next_step(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, HEAD + "- lab.get_items\n- lab.tag\n- lab.history\n")
    debugger = session.debugger
    await debugger.run("over")
    debugger.edit_variable("q_ls", "plum", item=1)
    bound = debugger.inputs()
    assert isinstance(bound, BoundInputs)
    assert bound.inputs[0].is_edited
    await debugger.run("continue")
    memory = session.memory()
    assert [entry["step"] for entry in memory] == ["lab.get_items", "edited by hand", "lab.tag", "lab.history"]
    assert memory[1]["memory"] == {"memory_q_ls": ["fig", "plum", "kiwi", "date"]}
    assert memory[2]["memory"]["memory_tagged_ls"] == ["fig!", "plum!", "kiwi!", "date!"]
    assert memory[3]["memory"]["memory_history_ls"][1] == "1:plum"
    with pytest.raises(CommandRefused, match="run to its end"):
        debugger.edit_variable("q_ls", "x", item=0)


async def test_edits_that_make_no_sense_are_refused(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, HEAD + "- lab.get_items\n- lab.tag\n")).debugger
    await debugger.run("over")
    for name, value, item, said in (
        ("nothing", 1, None, "there is no variable nothing"),
        ("q_ls", ["a"], None, "give a list of 4"),
        ("q_ls", "a", 9, r"has no item \[9\]"),
    ):
        with pytest.raises(CommandRefused, match=said):
            debugger.edit_variable(name, value, item)
    with pytest.raises(CommandRefused, match="has no input nothing"):
        debugger.edit_input("nothing", 1)


async def test_an_edited_input_is_for_one_visit(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, HEAD + "- lab.get_items\n- lab.tag\n- lab.tag\n")
    debugger = session.debugger
    await debugger.run("over")
    debugger.edit_input("suffix", "?")
    await debugger.run("continue")
    assert [m["memory"].get("memory_tagged_ls", [""])[0] for m in session.memory()] == ["", "fig?", "fig!"]


async def test_an_edited_parameter_lasts(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, HEAD + "- lab.get_items\n- lab.tag\n- lab.tag\n")
    session.debugger.edit_parameter("lab", "suffix", "?")
    await session.debugger.run("continue")
    assert [m["memory"].get("memory_tagged_ls", [""])[0] for m in session.memory()] == ["", "fig?", "fig?"]


async def test_a_failed_step_can_be_mended_and_run_anew(project: Path, lab_servers: ServerHub) -> None:
    steps = (
        "- lab.get_items\n- lab.merge:\n    input: {left_ls: q_ls, right_ls: gt_ls}\n    output: {merged_ls: m_ls}\n"
    )
    session = await opened(project, lab_servers, HEAD + steps)
    debugger = session.debugger
    await debugger.run("over")
    debugger.edit_input("right_ls", 7)
    stopped = await debugger.run("over")
    assert stopped.reason == "failed"
    assert debugger.failed is not None
    assert debugger.failed.number == 2
    assert len(session.memory()) == 1, "what finished is on disk when a step has failed"
    debugger.edit_input("right_ls", ["a", "b", "c", "d"])
    assert (await debugger.retry()).reason == "finished"
    assert [(v.number, v.attempt) for v in debugger.visits] == [(1, 1), (2, 2)]
    assert session.memory()[1]["memory"]["memory_m_ls"][0] == ["fig", "a"]
    assert len(session.told(VisitFailed)) == 1


async def test_a_decision_without_a_branch_can_be_mended_on_the_spot(project: Path, lab_servers: ServerHub) -> None:
    steps = "- lab.get_items\n- branch: {router: [lab.route_length], branches: {short: [lab.tag]}}\n"
    session = await opened(project, lab_servers, HEAD + steps)
    debugger = session.debugger
    stopped = await debugger.run("continue")
    assert stopped.reason == "failed"
    assert "state long for [1], [2] and [3]; the branches there are: short" in stopped.why
    assert len(debugger.visits) == 2
    for item in (1, 2, 3):
        debugger.edit_state(item, "short")
    assert (await debugger.run("continue")).reason == "finished"
    assert [v.name for v in debugger.visits] == ["lab.get_items", "lab.route_length", "lab.tag"]
    assert session.told(BranchRouted)[0].states == {"short": (0, 1, 2, 3)}


async def test_restart_begins_anew_and_keeps_both_memory_files(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, HEAD + "- lab.get_items\n- lab.tag\n")
    debugger = session.debugger
    await debugger.run("over")
    await debugger.restart()
    assert (at(debugger)[0], list(debugger.state.pool)) == ("1", [])
    await debugger.run("continue")
    assert [v.number for v in debugger.visits] == [2, 3], "numbers are never used again"
    await debugger.close()
    assert sorted(len(file.read_text().split('"step"')) - 1 for file in (project / "output").glob("*.json")) == [1, 2]
    assert not list((project / "output").glob(".*")), "nothing temporary is left"


async def test_commands_are_refused_where_they_make_no_sense(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, HEAD + "- lab.get_items\n")).debugger
    with pytest.raises(CommandRefused, match="no router has just decided"):
        debugger.edit_state(0, "x")
    await debugger.run("continue")
    with pytest.raises(CommandRefused, match="restart it"):
        await debugger.run("over")
    await debugger.close()
    with pytest.raises(CommandRefused, match="closed"):
        await debugger.run("over")


async def test_loops_that_do_not_run_say_why(project: Path, lab_servers: ServerHub) -> None:
    steps = "- lab.get_items\n- loop: {times: 0, steps: [lab.tag]}\n- loop: {times: 2, steps: [lab.tag]}\n"
    session = await opened(project, lab_servers, HEAD + steps)
    await session.debugger.run("continue")
    assert [(e.rounds, e.reason) for e in session.told(LoopFinished)] == [
        (0, "its times is 0"),
        (2, "all its rounds have run"),
    ]


async def test_a_step_whose_lists_are_set_for_no_item_is_skipped(project: Path, lab_servers: ServerHub) -> None:
    steps = (
        "- lab.get_items:\n    input: {items: [fig, kiwi]}\n"
        "- branch: {router: [lab.route_vowel], branches: {vowel: [lab.tag], consonant: []}}\n"
        "- lab.search:\n    input: {query_list: tagged_ls}\n- lab.count\n"
    )
    session = await opened(project, lab_servers, HEAD + steps)
    await session.debugger.run("continue")
    assert [(e.step, e.reason) for e in session.told(StepSkipped)] == [("3", "tagged_ls was never written")]
    assert [v.number for v in session.debugger.visits] == [1, 2, 3]


async def test_the_server_is_told_which_items_a_call_is_about(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, BRANCH_IN_LOOP.replace("times: 3", "times: 1"))
    await session.debugger.run("continue")
    items = {call.tool: call.items for call in session.servers.calls}
    assert (items["get_items"], items["search"], items["extend"]) == (None, (0,), (1, 2, 3))


async def test_values_are_never_changed_in_place(project: Path, lab_servers: ServerHub) -> None:
    steps = (
        "- lab.get_items\n- branch: {router: [lab.route_length], branches: {long: [lab.tag], short: []}}\n- lab.tag\n"
    )
    session = await opened(project, lab_servers, HEAD + steps)
    debugger = session.debugger
    await debugger.run("over")
    await debugger.run("over")
    tagged = debugger.state.pool.get("tagged_ls")
    assert tagged is not None
    assert tagged.value[0] is UNSET
    await debugger.run("over")
    assert tagged.value[0] is UNSET


async def test_what_is_being_kept_can_not_be_cancelled(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, HEAD + "- lab.get_items\n- lab.tag\n")
    debugger = session.debugger
    finished = debugger._recorder.finished

    async def slowly(timeline: Timeline, moment: Moment) -> None:
        debugger.cancel()
        await asyncio.sleep(0)
        await finished(timeline, moment)

    debugger._recorder.finished = slowly  # type: ignore[method-assign]
    assert (await debugger.run("over")).reason == "step"
    assert len(debugger.visits) == 1
