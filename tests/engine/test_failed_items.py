"""Items that fail in a call while others do not: the run goes on without them, in every shape of a pipeline."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support import Session
from workbench.engine.events import StepSkipped, VisitFinished
from workbench.engine.values import UNSET
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import prepare

SERVER = """
from typing import Any

from workbench.mcp.kit import MarkedResult, ToolServer

app = ToolServer("lab")


@app.tool(output="->q_ls")
def give():
    return {"q_ls": ["a1", "b1", "bad", "b2"]}


@app.tool(output="q_ls->ans_ls")
def ask(q_ls: list[str]) -> Any:
    failed = {n: f"refused {q}" for n, q in enumerate(q_ls) if "bad" in q}
    return MarkedResult({"ans_ls": [f"re {q}" for q in q_ls], "spent": len(q_ls)}, failed=failed, warnings=["dear"])


@app.tool(output="q_ls,ans_ls->both_ls")
def pair(q_ls: list[str], ans_ls: list[str]):
    return {"both_ls": [f"{q}:{a}" for q, a in zip(q_ls, ans_ls, strict=True)]}


@app.tool(output="q_ls->q_ls")
def way(q_ls: list[str]) -> Any:
    return {"q_ls": [{"data": q, "state": "end" if len(q) > 3 else q[0]} for q in q_ls]}


@app.tool(output="q_ls->q_ls")
def longer(q_ls: list[str]):
    return {"q_ls": [q + "." for q in q_ls]}


@app.tool(output="->total")
def fail_whole() -> Any:
    return MarkedResult({"total": [1, 2]}, failed={0: "no"})


if __name__ == "__main__":
    app.run(transport="stdio")
"""
HEAD = "servers: {lab: servers/lab.py}\npipeline:\n"
PLAIN = HEAD + "- lab.give\n- lab.ask\n- lab.pair\n"
BRANCH = HEAD + (
    "- lab.give\n- lab.ask\n"
    "- branch:\n    router: [lab.way]\n    branches:\n      a: [lab.pair]\n      b: [lab.longer, lab.pair]\n"
    "- lab.pair\n"
)
IN_BRANCH = HEAD + (
    "- lab.give\n- branch:\n    router: [lab.way]\n    branches:\n      a: [lab.ask]\n      b: [lab.ask, lab.pair]\n"
    "- lab.pair: {output: {both_ls: end_ls}}\n"
)
LOOP = HEAD + (
    "- lab.give\n- lab.ask\n- loop:\n    times: 9\n    steps:\n    - lab.longer\n"
    "    - branch: {router: [lab.way], branches: {a: [lab.pair], b: [lab.pair], end: []}}\n"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "servers").mkdir()
    (tmp_path / "servers/lab.py").write_text(SERVER)
    return tmp_path


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hub(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServerHub]:
    folder = tmp_path_factory.mktemp("lab")
    (folder / "servers").mkdir()
    (folder / "servers/lab.py").write_text(SERVER)
    (folder / "p.yaml").write_text(PLAIN)
    servers = ServerHub(prepare(folder / "p.yaml").used_sources(), lambda event: None)
    yield servers
    await servers.close()


async def opened(project: Path, hub: ServerHub, pipeline: str, *, keeps: bool = False) -> Session:
    (project / "p.yaml").write_text(pipeline)
    session = Session(prepare(project / "p.yaml"), hub, project, keeps=keeps)
    await session.open()
    return session


async def test_the_others_go_on_and_the_failed_one_is_named(project: Path, hub: ServerHub) -> None:
    session = await opened(project, hub, PLAIN)
    stopped = await session.debugger.run("continue")
    assert stopped.reason == "finished"
    pool = session.debugger.state.pool
    assert pool.variables["ans_ls"].value == ["re a1", "re b1", UNSET, "re b2"]
    assert pool.variables["both_ls"].value == ["a1:re a1", "b1:re b1", UNSET, "b2:re b2"]
    asked = session.debugger.visits[1]
    assert asked.failures == {2: "refused bad"}
    assert asked.warnings == (
        "1 of 4 items failed, and takes no further part in the run: [2] refused bad",
        "dear",
    )
    assert asked.extra == {"spent": 4}
    assert session.debugger.visits[2].items == (0, 1, 3)
    assert session.told(VisitFinished)[1].failed == (2,)
    assert session.memory()[1]["memory"]["memory_ans_ls"] == ["re a1", "re b1", "<UNSET>", "re b2"]


async def test_it_takes_no_branch(project: Path, hub: ServerHub) -> None:
    session = await opened(project, hub, BRANCH)
    assert (await session.debugger.run("continue")).reason == "finished"
    router = next(visit for visit in session.debugger.visits if visit.name == "lab.way")
    assert router.routes == {0: "a", 1: "b", 3: "b"}
    both = session.debugger.state.pool.variables["both_ls"].value
    assert both == ["a1:re a1", "b1.:re b1", UNSET, "b2.:re b2"]


async def test_of_a_branch_the_others_go_on(project: Path, hub: ServerHub) -> None:
    session = await opened(project, hub, IN_BRANCH)
    await session.debugger.run("into")
    session.debugger.edit_variable("q_ls", "bad", 1)
    session.debugger.edit_variable("q_ls", "b1", 2)
    assert (await session.debugger.run("continue")).reason == "finished"
    pool = session.debugger.state.pool
    assert pool.failed == {1}
    assert pool.variables["end_ls"].value == ["a1:re a1", UNSET, "b1:re b1", "b2:re b2"]


async def test_a_branch_of_failed_items_is_skipped_and_a_loop_ends(project: Path, hub: ServerHub) -> None:
    session = await opened(project, hub, LOOP)
    await session.debugger.run("into")
    for item, question in enumerate(["bad", "b", "bad", "b"]):
        session.debugger.edit_variable("q_ls", question, item)
    assert (await session.debugger.run("continue")).reason == "finished"
    assert session.debugger.state.pool.failed == {0, 2}
    rounds = [visit for visit in session.debugger.visits if visit.name == "lab.longer"]
    assert [visit.items for visit in rounds] == [(1, 3)] * 3
    assert not session.told(StepSkipped)


async def test_a_step_whose_items_all_fail_fails(project: Path, hub: ServerHub) -> None:
    session = await opened(project, hub, PLAIN)
    await session.debugger.run("into")
    for item in range(4):
        session.debugger.edit_variable("q_ls", "bad", item)
    stopped = await session.debugger.run("continue")
    assert stopped.reason == "failed"
    assert stopped.why.startswith("lab.ask: [0] refused bad; [1] refused bad")


async def test_what_is_about_no_items_fails_as_a_whole(project: Path, hub: ServerHub) -> None:
    session = await opened(project, hub, HEAD + "- lab.fail_whole\n")
    assert (await session.debugger.run("continue")).why == "lab.fail_whole: 1 value failed: no"


async def test_a_value_by_hand_brings_it_back_and_so_does_going_back(project: Path, hub: ServerHub) -> None:
    session = await opened(project, hub, PLAIN)
    debugger = session.debugger
    await debugger.run_to("3")
    debugger.edit_variable("ans_ls", "by hand", 2)
    await debugger.run("continue")
    assert debugger.state.pool.variables["both_ls"].value[2] == "bad:by hand"
    await debugger.go_to(2)
    debugger.edit_variable("q_ls", "good", 2)
    await debugger.run("continue")
    assert debugger.state.pool.variables["both_ls"].value[2] == "good:re good"


async def test_the_recording_answers_as_it_was(project: Path, hub: ServerHub) -> None:
    session = await opened(project, hub, BRANCH)
    debugger = session.debugger
    await debugger.run("continue")
    before = debugger.state.pool.variables["both_ls"].value
    await debugger.go_to(2)
    debugger.answers = "recorded"
    await debugger.run("continue")
    assert debugger.state.timeline == 2
    assert {visit.provenance for visit in debugger.visits[1:]} == {"recorded"}
    assert debugger.state.pool.variables["both_ls"].value == before
    assert debugger.visits[1].failures == {2: "refused bad"}


async def test_a_session_knows_it_when_it_is_gone_on_with(project: Path, hub: ServerHub) -> None:
    session = await opened(project, hub, BRANCH, keeps=True)
    await session.debugger.run_to("3.router.1")
    session = await session.resumed()
    assert session.debugger.visits[1].failures == {2: "refused bad"}
    await session.debugger.run("continue")
    assert session.debugger.state.pool.variables["both_ls"].value[2] is UNSET
    await session.debugger.close()
