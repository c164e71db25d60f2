"""Going back, forking, answering from the recording, leaving and resuming: in loops, branches and failed steps."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.support import CONFORMANCE, Session
from workbench.engine.events import Forked, ServerInitialised, WentBack
from workbench.engine.state import CommandRefused
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import prepare

HEAD = "servers: {lab: servers/lab, prompt: servers/prompt}\npipeline:\n- lab.get_items\n"
SHAPES = {
    "plain": HEAD + "- lab.extend\n- lab.tag\n- lab.search\n",
    "loop": HEAD + "- loop: {times: 3, steps: [lab.extend, lab.tag]}\n- lab.search\n",
    "nested loop": HEAD
    + "- loop: {times: 2, steps: [lab.tag, {loop: {times: 2, steps: [lab.extend]}}]}\n- lab.count\n",
    "branch": HEAD
    + "- branch: {router: [lab.route_length], branches: {short: [lab.extend], long: [lab.tag, lab.extend]}}\n"
    "- lab.count\n",
    "nested branch": HEAD
    + """\
- loop:
    times: 2
    steps:
    - branch:
        router: [lab.route_length]
        branches:
          short: [lab.tag]
          long:
          - branch: {router: [lab.route_vowel], branches: {vowel: [lab.extend], consonant: [lab.extend, lab.tag]}}
- lab.count
""",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "servers").symlink_to(CONFORMANCE / "servers")
    return tmp_path


async def opened(project: Path, hub: ServerHub, text: str, *, keeps: bool = False) -> Session:
    file = project / "p.yaml"
    file.write_text(text, encoding="utf-8")
    session = Session(prepare(file), hub, project / "output", keeps=keeps)
    await session.open()
    return session


async def straight(project: Path, hub: ServerHub, text: str) -> list[object]:
    session = await opened(project, hub, text)
    await session.debugger.run("continue")
    return list(session.memory())


@pytest.mark.parametrize("shape", SHAPES)
async def test_back_to_every_visit_shows_what_was(project: Path, lab_servers: ServerHub, shape: str) -> None:
    session = await opened(project, lab_servers, SHAPES[shape])
    debugger = session.debugger
    pools = {}
    while (await debugger.run("into")).reason != "finished":
        pools[debugger.state.position] = dict(debugger.state.pool.variables)
    calls = len(session.servers.calls)
    for position in reversed(range(1, len(debugger.timeline.moments))):
        await debugger.step_back()
        assert debugger.state.position == position
        assert debugger.state.pool.variables == pools[position]
        assert [visit.number for visit in debugger.visits] == list(range(1, position + 1))
    await debugger.go_to_end()
    assert debugger.state.status == "finished"
    assert len(session.servers.calls) == calls, "nothing ran"


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_fork_from_every_visit_ends_as_the_first_run(project: Path, lab_servers: ServerHub, shape: str) -> None:
    expected = await straight(project, lab_servers, SHAPES[shape])
    session = await opened(project, lab_servers, SHAPES[shape])
    debugger = session.debugger
    await debugger.run("continue")
    first = [visit.number for visit in debugger.timeline.visits]
    for number in first:
        await debugger.switch_to(1)
        await debugger.go_to(number)
        calls = len(session.servers.calls)
        await debugger.run("continue")
        assert session.memory() == expected
        assert len(session.servers.calls) - calls == len(first) - first.index(number), "what was before did not run"
    assert [visit.number for visit in debugger.timelines[1].visits] == first, "the first timeline stays whole"
    assert [(fork.parent, fork.parent_visit) for fork in session.told(Forked)] == [(1, number) for number in first]


@pytest.mark.parametrize("shape", SHAPES)
async def test_an_edit_in_the_past_changes_the_fork_only(project: Path, lab_servers: ServerHub, shape: str) -> None:
    session = await opened(project, lab_servers, SHAPES[shape])
    debugger = session.debugger
    await debugger.run("continue")
    before = session.memory()
    await debugger.go_to(2)
    debugger.edit_variable("q_ls", "elderberry", item=1)
    await debugger.run("continue")
    after = session.memory()
    assert "elderberry" in str(after)
    assert "apple" not in str(after[1:])
    edited = [visit for visit in debugger.timeline.visits if visit.follows_edit]
    assert edited[0].number == debugger.timeline.visits[1].number, "all that follows from the edit is marked"
    await debugger.switch_to(1)
    await debugger.close()
    assert session.memory() == before


@pytest.mark.parametrize("shape", SHAPES)
async def test_answers_from_the_recording(project: Path, lab_servers: ServerHub, shape: str) -> None:
    expected = await straight(project, lab_servers, SHAPES[shape])
    session = await opened(project, lab_servers, SHAPES[shape])
    debugger = session.debugger
    await debugger.run("continue")
    calls = len(session.servers.calls)
    await debugger.go_to(2)
    debugger.answers = "recorded if equal"
    await debugger.run("continue")
    assert session.memory() == expected
    assert len(session.servers.calls) == calls, "equal inputs were answered from the recording"
    assert {visit.provenance for visit in debugger.timeline.visits[1:]} == {"recorded"}
    await debugger.go_to(debugger.timeline.visits[1].number)
    debugger.edit_variable("q_ls", "plum", item=0)
    await debugger.run("continue")
    assert debugger.timeline.visits[1].provenance == "ran", "other inputs are asked anew"


@pytest.mark.parametrize("shape", SHAPES)
async def test_leaving_and_resuming_at_every_visit(project: Path, lab_servers: ServerHub, shape: str) -> None:
    expected = await straight(project, lab_servers, SHAPES[shape])
    for stop in range(1, min(5, len(expected))):
        session = await opened(project, lab_servers, SHAPES[shape], keeps=True)
        while session.debugger.state.position < stop:
            await session.debugger.run("into")
        session = await session.resumed()
        calls = len(session.servers.calls)
        await session.debugger.run("continue")
        assert session.memory() == expected
        assert len(session.servers.calls) - calls == len(expected) - stop, "no finished step ran again"
        await session.debugger.close()
        session.file.unlink()


async def test_edits_before_the_next_step_survive_a_resume(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, SHAPES["plain"], keeps=True)
    await session.debugger.run("over")
    session.debugger.edit_variable("q_ls", "plum", item=0)
    session.debugger.edit_parameter("lab", "suffix", "?")
    session = await session.resumed()
    await session.debugger.run("continue")
    assert session.memory()[3]["memory"]["memory_tagged_ls"][0] == "plum+?"


async def test_forks_survive_a_resume(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, SHAPES["loop"], keeps=True)
    debugger = session.debugger
    await debugger.run("continue")
    await debugger.go_to(4)
    debugger.edit_variable("q_ls", "plum", item=0)
    await debugger.run("over")
    session = await session.resumed()
    debugger = session.debugger
    assert sorted(debugger.timelines) == [1, 2]
    assert debugger.timeline.number == 2
    await debugger.run("continue")
    assert "plum+" in str(session.memory())
    await debugger.switch_to(1)
    await debugger.close()
    assert "plum" not in str(session.memory())


async def test_rounds_back(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, SHAPES["loop"])
    debugger = session.debugger
    await debugger.run("continue")
    places = []
    for _ in range(5):
        await debugger.round_back()
        places.append((debugger.state.place.step, debugger.state.place.round))
    assert places == [("3", ()), ("2.1", (3,)), ("2.1", (2,)), ("2.1", (1,)), ("1", ())]


async def test_going_back_over_a_tool_that_keeps_state_says_so(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, HEAD + "- lab.note\n- lab.tag\n")
    debugger = session.debugger
    await debugger.run("continue")
    stopped = await debugger.go_to(1)
    assert session.told(WentBack)[-1].stateful == ("lab",)
    assert "lab kept the state of what ran since" in stopped.why


async def test_a_server_started_anew_is_initialised_again(project: Path, lab_servers: ServerHub) -> None:
    session = await opened(project, lab_servers, HEAD + "- lab.note\n- lab.tag\n- lab.search\n", keeps=True)
    await session.debugger.run("over")
    session.debugger.edit_input("note", "another")
    await session.debugger.run("over")
    session = await session.resumed()
    await session.debugger.run("continue")
    assert [(call.tool, call.arguments.get("note")) for call in session.servers.calls] == [
        ("note", "another"), ("tag", None), ("search", None),
    ]  # fmt: skip
    assert [event.calls for event in session.told(ServerInitialised)] == [("lab.note",)]
    await session.debugger.restart_server("lab")
    await session.debugger.step_back()
    await session.debugger.run("continue")
    assert [call.tool for call in session.servers.calls[3:]] == ["note", "search"]


async def test_back_from_a_failed_step(project: Path, lab_servers: ServerHub) -> None:
    text = HEAD + "- lab.extend\n- branch: {router: [lab.route_length], branches: {long: [lab.drop_last], short: []}}\n"
    session = await opened(project, lab_servers, text)
    debugger = session.debugger
    assert (await debugger.run("continue")).reason == "failed"
    await debugger.step_back()
    assert (debugger.failed, debugger.state.place.step) == (None, "3.router.1")
    debugger.edit_variable("q_ls", ["a", "b", "c", "d"])
    assert (await debugger.run("continue")).reason == "finished"


async def test_commands_that_lead_nowhere(project: Path, lab_servers: ServerHub) -> None:
    debugger = (await opened(project, lab_servers, SHAPES["plain"])).debugger
    for command in (debugger.step_back(), debugger.round_back(), debugger.step_forth(), debugger.go_to(7)):
        with pytest.raises(CommandRefused):
            await command
    with pytest.raises(CommandRefused, match="no timeline 9"):
        await debugger.switch_to(9)
    with pytest.raises(CommandRefused, match="no step 9"):
        await debugger.run_to("9")
    assert (await debugger.run_to("3")).step == "3"


@pytest.mark.parametrize("seed", range(12))
async def test_any_walk_ends_as_a_straight_run(project: Path, lab_servers: ServerHub, seed: int) -> None:
    """Random commands without edits: when the end is reached, the memory file is that of a straight run."""
    chance = random.Random(seed)
    shape = chance.choice(sorted(SHAPES))
    expected = await straight(project, lab_servers, SHAPES[shape])
    session = await opened(project, lab_servers, SHAPES[shape], keeps=True)
    for _ in range(40):
        debugger = session.debugger
        debugger.answers = chance.choice(["run", "recorded if equal", "recorded"])
        moves = [debugger.step_back, debugger.round_back, debugger.step_forth, debugger.go_to_end]
        if debugger.state.status == "stopped":
            moves += [lambda d=debugger, how=how: d.run(how) for how in ("into", "into", "over", "out")]  # type: ignore[misc]
        if chance.random() < 0.1 and debugger.visits:
            session = await session.resumed()
            continue
        try:
            await chance.choice(moves)()
        except CommandRefused:
            continue
    if session.debugger.state.status != "finished":
        await session.debugger.run("continue")
    await session.debugger.close()
    session = session if session.memory() else await session.resumed()
    visits = session.debugger.timeline.visits
    assert [visit.name for visit in visits] == [entry["step"] for entry in expected]  # type: ignore[index]
    saved = [{name: variable.value for name, variable in visit.saved.items()} for visit in visits]
    assert [set(entry) for entry in saved] == [
        {name.removeprefix("memory_") for name in entry["memory"]}  # type: ignore[index]
        for entry in expected
    ]
    if session.memory():
        assert session.memory() == expected


NOTED = "servers: {lab: servers/lab}\npipeline:\n- lab.get_items\n- lab.note\n- lab.extend\n- lab.tag\n"


async def test_servers_that_are_out_of_step_are_restarted(project: Path, lab_servers: ServerHub) -> None:
    (project / "parameter").mkdir()
    (project / "parameter" / "p_parameter.yaml").write_text("lab: {note: remember}\n")
    session = await opened(project, lab_servers, NOTED, keeps=True)
    debugger = session.debugger
    await debugger.run("continue")
    assert debugger.out_of_step() == ()
    await debugger.go_to(4)
    assert debugger.out_of_step() == (), "nothing that keeps state lies in between"
    stopped = await debugger.go_to(2)
    assert debugger.out_of_step() == ("lab",)
    assert "lab kept the state of what ran since" in stopped.why
    await debugger.go_to_end()
    assert debugger.out_of_step() == (), "it is where the server stands"
    await debugger.go_to(4)
    await debugger.run("over")
    assert debugger.state.timeline == 2
    await debugger.go_to(2)
    assert debugger.out_of_step() == ("lab",), "also in a fork that shares the visit"
    assert await debugger.restart_servers() == ("lab",)
    assert debugger.out_of_step() == ()
    calls = len(session.servers.calls)
    await debugger.go_to(3)
    await debugger.run("over")
    assert [call.tool for call in session.servers.calls[calls:]] == ["note", "extend"], "brought to where it was"
    assert debugger.out_of_step() == ()
    await debugger.close()


FAILING = HEAD + "- lab.extend\n- lab.tag\n- lab.search\n"


async def failed_at_tag(project: Path, hub: ServerHub, *, keeps: bool = False) -> Session:
    """A run that failed: the third step can't read what an edit put into its list."""
    session = await opened(project, hub, FAILING, keeps=keeps)
    await session.debugger.run_to("3")
    session.debugger.edit_variable("q_ls", 7, 0)
    assert (await session.debugger.run("continue")).reason == "failed"
    return session


async def test_a_failed_step_edited_and_retried(project: Path, lab_servers: ServerHub) -> None:
    session = await failed_at_tag(project, lab_servers)
    debugger = session.debugger
    debugger.edit_variable("q_ls", "seven", 0)
    assert (await debugger.retry()).reason == "step"
    assert debugger.visits[-1].attempt == 2
    assert debugger.visits[-1].number == 3, "a retry is another attempt of its visit"
    assert debugger.evaluate("tagged_ls[0]") == "seven!"


async def test_a_failed_step_left_and_resumed(project: Path, lab_servers: ServerHub) -> None:
    resumed = await (await failed_at_tag(project, lab_servers, keeps=True)).resumed()
    debugger = resumed.debugger
    assert debugger.state.place.step == "3"
    assert debugger.evaluate("q_ls[0]") == 7, "the edit before the failure is there"
    assert (await debugger.run("continue")).reason == "failed"
    debugger.edit_input("q_ls", ["a", "b", "c", "d"])
    assert (await debugger.run("over")).reason == "step"
    assert debugger.evaluate("tagged_ls") == ["a!", "b!", "c!", "d!"]
    await debugger.close()


async def test_a_fork_before_a_failed_step(project: Path, lab_servers: ServerHub) -> None:
    session = await failed_at_tag(project, lab_servers, keeps=True)
    debugger = session.debugger
    await debugger.step_back()
    assert (await debugger.run("continue")).reason == "finished", "without the edit that made it fail"
    assert debugger.state.timeline == 2
    assert len(debugger.timelines[1].moments) == 2, "the timeline that failed stays as it was"
    resumed = await session.resumed()
    assert [len(t.moments) for t in resumed.debugger.timelines.values()] == [2, 4]
    await resumed.debugger.close()
