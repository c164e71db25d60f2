"""Faults that users of other programs have reported, each as a small pipeline with the right outcome."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support import Session
from workbench.engine.expressions import ExpressionError
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import prepare

STUBS = Path(__file__).parents[1] / "stubs"
HEAD = "servers: {data: servers/data, route: servers/route, text: servers/text}\npipeline:\n- data.give\n"
LONG, SECOND, THIRD = "which town has the salt mill", "who keeps the north light", "when does the fair open"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cases")
    (folder / "servers").symlink_to(STUBS / "servers")
    (folder / "all.yaml").write_text(HEAD + "- route.lengthen\n- text.upper\n")
    return folder


@pytest.fixture
def project(folder: Path) -> Path:
    (folder / "calls.log").unlink(missing_ok=True)
    (folder / "output" / "p.ragwb").unlink(missing_ok=True)
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hub(folder: Path) -> AsyncIterator[ServerHub]:
    """The stubs, started once for all cases."""
    hub = ServerHub(prepare(folder / "all.yaml").used_sources(), lambda event: None)
    yield hub
    await hub.close()


async def opened(project: Path, hub: ServerHub, steps: str, *, keeps: bool = False) -> Session:
    file = project / "p.yaml"
    file.write_text(HEAD + steps)
    session = Session(prepare(file), hub, project / "output", keeps=keeps)
    await session.open()
    return session


def calls(project: Path) -> list[str]:
    log = project / "calls.log"
    return log.read_text().split() if log.exists() else []


async def test_results_of_branches_go_back_to_their_items(project: Path, hub: ServerHub) -> None:
    branches = "branches: {long: [text.upper], short: [text.count_calls]}"
    session = await opened(project, hub, f"- branch: {{router: [route.by_length], {branches}}}\n- text.join\n")
    await session.debugger.run("continue")
    assert session.debugger.evaluate("out_ls") == [LONG.upper(), f"call on {SECOND}", f"call on {THIRD}"]
    assert session.debugger.evaluate("joined_ls[2]") == f"{THIRD} / call on {THIRD}"
    assert calls(project) == ["2"]
    (routed,) = [visit.routes for visit in session.debugger.visits if visit.routes]
    assert routed == {0: "long", 1: "short", 2: "short"}


async def test_too_few_results_are_told_and_not_zipped(project: Path, hub: ServerHub) -> None:
    session = await opened(project, hub, "- text.drops_last\n- text.join\n")
    stopped = await session.debugger.run("continue")
    assert session.debugger.visits[-1].warnings[0].startswith("text.drops_last returned 2 values for 3 items: out_ls")
    assert stopped.reason == "failed"
    assert "joined_ls" not in session.debugger.state.pool.variables


async def test_too_many_results_in_a_branch_change_nothing(project: Path, hub: ServerHub) -> None:
    branches = "branches: {long: [text.adds_extra], short: []}"
    session = await opened(project, hub, f"- branch: {{router: [route.by_length], {branches}}}\n")
    stopped = await session.debugger.run("continue")
    assert stopped.why == "text.adds_extra returned 2 values for 1 item of branch long: out_ls"
    assert "out_ls" not in session.debugger.state.pool.variables
    assert session.debugger.state.place.step == "2.long.1"


async def test_a_state_without_a_branch_can_be_corrected(project: Path, hub: ServerHub) -> None:
    branches = "branches: {short: [text.upper], long: []}"
    session = await opened(project, hub, f"- branch: {{router: [route.surprise], {branches}}}\n")
    debugger = session.debugger
    stopped = await debugger.run("continue")
    assert stopped.why == ("the router route.surprise gave state hybrid for [1]; the branches there are: short, long")
    debugger.edit_state(1, "long")
    assert (await debugger.run("continue")).reason == "finished"


async def test_a_loop_ends_when_every_item_is_done(project: Path, hub: ServerHub) -> None:
    branch = "branch: {router: [route.until_long], branches: {more: [route.lengthen], done: []}}"
    session = await opened(project, hub, f"- loop: {{times: 140, steps: [{branch}]}}\n")
    await session.debugger.run("continue")
    assert [len(q) for q in session.debugger.evaluate("q_ls")] == [38, 35, 43]
    assert max(visit.round for visit in session.debugger.visits) == (3,)


async def test_going_on_in_the_second_round(project: Path, hub: ServerHub) -> None:
    session = await opened(project, hub, "- loop: {times: 3, steps: [text.count_calls]}\n", keeps=True)
    session.debugger.breakpoints.set("2.1", "round == 2")
    await session.debugger.run("continue")
    assert calls(project) == ["3"]
    resumed = await session.resumed()
    assert resumed.saved is not None
    resumed.debugger.breakpoints.put_back(resumed.saved.breakpoints)
    stopped = await resumed.debugger.run("continue")
    assert stopped.reason == "finished", "the breakpoint that stopped it does not stop it again at once"
    assert calls(project) == ["3", "3", "3"]
    await resumed.debugger.close()


async def test_a_failure_keeps_what_came_before(project: Path, hub: ServerHub) -> None:
    session = await opened(project, hub, "- text.upper\n- text.fails\n- text.join\n")
    stopped = await session.debugger.run("continue")
    assert stopped.why == "text.fails failed: third question has no verb"
    assert [entry["step"] for entry in session.memory()] == ["data.give", "text.upper"]
    session.debugger.edit_variable("q_ls", "it has one now", 2)
    assert (await session.debugger.retry()).reason == "failed", "the tool fails whatever it is given"
    assert (session.debugger.failed and session.debugger.failed.attempt) == 2


async def test_going_back_into_a_round_finds_it_as_it_was(project: Path, hub: ServerHub) -> None:
    session = await opened(project, hub, "- loop: {times: 3, steps: [route.lengthen, text.count_calls]}\n")
    debugger = session.debugger
    await debugger.run("continue")
    second = next(v for v in debugger.visits if v.name == "text.count_calls" and v.round == (2,))
    await debugger.go_to(second.number)
    assert debugger.evaluate("q_ls[0]") == f"{LONG} and so on and so on"
    await debugger.run("continue")
    assert calls(project) == ["3"] * 5
    assert debugger.evaluate("q_ls[0]") == f"{LONG} and so on and so on and so on"


async def test_what_can_not_be_evaluated_says_why(project: Path, hub: ServerHub) -> None:
    session = await opened(project, hub, "- text.upper\n")
    with pytest.raises(ExpressionError, match="'q_ls' is undefined"):
        session.debugger.evaluate("q_ls[0]")
