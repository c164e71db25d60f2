"""Every way a run can be stopped: patterns, blocks, counts, rounds, items, after a step, logs, watches."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import CONFORMANCE, Session
from workbench.engine.breakpoints import Breakpoint, Watch
from workbench.engine.debugger import Debugger
from workbench.engine.events import LogPrinted
from workbench.engine.expressions import ExpressionError
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import prepare

TEXT = """\
servers: {lab: servers/lab, prompt: servers/prompt}
pipeline:
- lab.get_items
- loop:
    times: 4
    steps:
    - lab.extend
    - branch:
        router: [lab.route_length]
        branches:
          short: [lab.tag]
          long: [lab.search, lab.tag]
- lab.count
"""
FOUR = ["fig", "apple", "kiwi", "date"]


@pytest.fixture
async def session(tmp_path: Path, lab_servers: ServerHub) -> Session:
    (tmp_path / "servers").symlink_to(CONFORMANCE / "servers")
    file = tmp_path / "p.yaml"
    file.write_text(TEXT, encoding="utf-8")
    session = Session(prepare(file), lab_servers, tmp_path / "output")
    await session.open()
    return session


async def stops(debugger: Debugger) -> list[tuple[str | None, tuple[int, ...]]]:
    """Where the run stops until its end."""
    found = []
    while (stopped := await debugger.run("continue")).reason == "breakpoint":
        found.append((stopped.step, stopped.round))
    assert stopped.reason == "finished"
    return found


@pytest.mark.parametrize(
    ("breakpoint_", "items", "expected"),
    [
        (Breakpoint("2.1"), FOUR, [("2.1", (n,)) for n in (1, 2, 3, 4)]),
        (Breakpoint("lab.t*", round=1), ["a", "apple"], [("2.2.short.1", (1,)), ("2.2.long.2", (1,))]),
        (Breakpoint("2.1", hit_count="== 2"), FOUR, [("2.1", (2,))]),
        (Breakpoint("2.1", hit_count=">= 3"), FOUR, [("2.1", (3,)), ("2.1", (4,))]),
        (Breakpoint("2.1", hit_count="% 2"), FOUR, [("2.1", (2,)), ("2.1", (4,))]),
        (Breakpoint("2.2.short"), ["a", "apple"], [("2.2.short.1", (1,)), ("2.2.short.1", (2,))]),
        (Breakpoint("lab.tag", item=0, round=1), ["fig", "b"], [("2.2.long.2", (1,))]),
        (Breakpoint("2.1", when="after", round=2), FOUR, [("2.2", (2,))]),
        (Breakpoint("2.1", "q_ls[item] | length > 6 and round > 0"), FOUR, [("2.1", (3,)), ("2.1", (4,))]),
    ],
    ids=["path", "pattern and round", "==", ">=", "%", "branch taken", "item", "after", "condition"],
)
async def test_where_it_stops(
    session: Session, breakpoint_: Breakpoint, items: list[str], expected: list[tuple[str, tuple[int, ...]]]
) -> None:
    session.debugger.edit_parameter("lab", "items", items)
    session.debugger.breakpoints.add(breakpoint_)
    assert await stops(session.debugger) == expected


async def test_after_a_router_its_decision_can_be_changed(session: Session) -> None:
    debugger = session.debugger
    debugger.breakpoints.add(Breakpoint("2.2.router.1", when="after", round=1))
    stopped = await debugger.run("continue")
    assert (stopped.step, stopped.reason) == ("2.2.router.1", "breakpoint")
    assert debugger.routes == dict.fromkeys(range(4), "long")
    debugger.edit_state(2, "short")
    assert (await debugger.run("into")).step == "2.2.short.1"
    assert debugger.state.cursor.items == (2,)


async def test_a_logpoint_prints_and_goes_on(session: Session) -> None:
    session.debugger.breakpoints.add(Breakpoint("2.1", log="round {{ round }}: {{ q_ls[0] }}"))
    assert await stops(session.debugger) == []
    assert [event.text for event in session.told(LogPrinted)] == [
        "round 1: fig", "round 2: fig+", "round 3: fig++", "round 4: fig+++",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("watch", "expected"),
    [
        (Watch("written", "ret_psg"), ["watch: ret_psg was written"] * 4),
        (Watch("changes", "gt_ls"), ["watch: gt_ls changed"]),
        (Watch("true", "q_ls[0] == 'fig++'"), ["watch: q_ls[0] == 'fig++'"]),
        (Watch("empty", "q_ls"), ["watch: q_ls is empty for [1]"]),
    ],
    ids=["written", "changes", "true", "empty"],
)
async def test_watches(session: Session, watch: Watch, expected: list[str]) -> None:
    if watch.kind == "empty":
        session.debugger.edit_parameter("lab", "items", ["fig", ""])
    session.debugger.breakpoints.watch(watch)
    reasons = []
    while (stopped := await session.debugger.run("continue")).reason == "breakpoint":
        reasons.append(stopped.why)
    assert reasons == expected


def test_what_can_not_be_read_is_refused() -> None:
    for wrong in (Breakpoint("1", "1 +"), Breakpoint("1", hit_count="often"), Breakpoint("1", log="{{ x")):
        with pytest.raises(ExpressionError):
            wrong.check()
