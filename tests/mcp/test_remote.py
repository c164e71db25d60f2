"""Servers that are addresses: real ones over both protocols."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.mcp.addresses import RealServer, remote
from tests.mcp.conftest import Bench, open_files, until
from workbench.engine.ports import Progress, ServerGone, ToolFailed
from workbench.mcp.rules import Rules

MakeBench = Callable[..., Bench]


@pytest.fixture(scope="module", params=["http", "sse", "stateless", "json"])
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    server = RealServer(request.param, "/mcp", tmp_path_factory.mktemp("http") / "log")
    yield server
    server.end()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Callable[..., RealServer]]:
    """Servers that a test may kill."""
    made: list[RealServer] = []

    def make(kind: str = "http", path: str = "/mcp") -> RealServer:
        made.append(RealServer(kind, path, tmp_path / "log"))
        return made[-1]

    yield make
    for server in made:
        server.end()


async def test_calls_and_what_is_told_of_them(bench: MakeBench, real: RealServer) -> None:
    made = bench({"r": remote("r", real.url)})
    assert await made.tool("r", "upper", q_ls=["a", "ä"], visit=9) == {"out_ls": ["A", "Ä"]}
    assert set((await made.hub.declaration("r")).tools) >= {"upper", "ask", "big"}
    sent, received = (m for m in made.of("message") if m.visit == 9)
    assert (sent.way, sent.method, received.way, received.id) == ("sent", "tools/call", "received", sent.id)
    assert b'"out_ls"' in received.line
    assert (made.of("server_starting")[0].command, made.hub.status("r").pid) == ((real.url,), None)
    messages = (await made.call("r", "ask", {"q": "1"}, kind="prompt")).value
    assert messages[0]["content"]["text"] == "Answer: 1"
    with pytest.raises(ToolFailed, match=r"^r\.fails failed: third question has no verb$"):
        await made.tool("r", "fails")
    await made.hub.stop("r")
    assert made.of("server_exited")[0].code is None


async def test_a_large_result(bench: MakeBench, real: RealServer) -> None:
    made = bench({"r": remote("r", real.url)})
    result = await made.call("r", "big", {"n": 1_000_000})
    assert result.value == {"text": "字" * 1_000_000}
    assert result.timing is not None
    assert result.timing.server > 0


async def test_calls_beside_each_other(bench: MakeBench, real: RealServer) -> None:
    made = bench({"r": remote("r", real.url)})
    await made.hub.declaration("r")
    begun = time.perf_counter()
    results = await asyncio.gather(
        *(made.tool("r", "slow", seconds=0.5) for _ in range(4)),
        *(made.tool("r", "upper", q_ls=[str(n)]) for n in range(20)),
    )
    assert results[:4] == ["done"] * 4
    assert results[4:] == [{"out_ls": [str(n)]} for n in range(20)]
    assert time.perf_counter() - begun < 2


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_progress_and_cancelling(bench: MakeBench, own: Callable[..., RealServer], kind: str) -> None:
    server = own(kind)
    made = bench({"r": remote("r", server.url)})
    heard: list[Progress] = []
    assert (await made.call("r", "slow", {"seconds": 0}, on_progress=heard.append)).value == "done"
    assert heard == [Progress(n + 1, 3, f"part {n}") for n in range(3)]
    call = asyncio.create_task(made.call("r", "slow", {"seconds": 600}, on_progress=heard.append))
    await until(lambda: len(heard) == 6)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await until(lambda: "slow was cancelled" in server.log.read_text())
    assert await made.tool("r", "upper", q_ls=["a"]) == {"out_ls": ["A"]}


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_a_server_asks_over_http(bench: MakeBench, own: Callable[..., RealServer], kind: str) -> None:
    made = bench({"r": remote("r", own(kind).url)}, answering=Rules("defaults"))
    assert await made.tool("r", "choose", visit=2) == "accept colour='green'"
    assert [(event.message, event.visit) for event in made.of("server_asked")] == [("Which one?", 2)]


@pytest.mark.parametrize(("path", "asked"), [("/mcp", "/mcp/"), ("/mcp/", "/mcp")])
async def test_with_and_without_a_slash_at_the_end(
    bench: MakeBench, own: Callable[..., RealServer], path: str, asked: str
) -> None:
    server = own("http", path)
    made = bench({"r": remote("r", f"http://127.0.0.1:{server.port}{asked}")})
    assert await made.tool("r", "upper", q_ls=["a"]) == {"out_ls": ["A"]}


async def test_a_transport_may_be_given(bench: MakeBench, own: Callable[..., RealServer]) -> None:
    older, newer = own("sse"), own("http")
    made = bench({"s": remote("s", older.url, transport="sse"), "h": remote("h", newer.url, transport="http")})
    assert await made.tool("s", "upper", q_ls=["a"]) == {"out_ls": ["A"]}
    assert await made.tool("h", "upper", q_ls=["a"]) == {"out_ls": ["A"]}


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_a_server_that_dies_in_a_call_and_comes_back(
    bench: MakeBench, own: Callable[..., RealServer], kind: str
) -> None:
    server = own(kind)
    made = bench({"r": remote("r", server.url)})
    assert await made.tool("r", "upper", q_ls=["a"]) == {"out_ls": ["A"]}
    begun = time.perf_counter()
    with pytest.raises(ServerGone, match=r"^r\.crash: server 'r' is gone: "):
        await made.tool("r", "crash")
    assert time.perf_counter() - begun < 5
    assert made.hub.status("r").phase == "exited"
    with pytest.raises(ServerGone):
        await made.tool("r", "upper", q_ls=["a"])
    again = server.again()
    await made.hub.restart("r")
    assert await made.tool("r", "upper", q_ls=["b"]) == {"out_ls": ["B"]}
    again.end()


async def test_a_session_that_the_server_has_forgotten(bench: MakeBench, own: Callable[..., RealServer]) -> None:
    server = own("http")
    made = bench({"r": remote("r", server.url)})
    await made.hub.declaration("r")
    again = server.again()
    with pytest.raises(ServerGone, match=r"session has expired|connection refused|connection broke"):
        await made.tool("r", "upper", q_ls=["a"])
    await made.hub.restart("r")
    assert await made.tool("r", "upper", q_ls=["a"]) == {"out_ls": ["A"]}
    again.end()


async def test_nothing_stays_open(bench: MakeBench, own: Callable[..., RealServer]) -> None:
    servers = [own("http"), own("sse")]
    before = open_files()
    made = bench({server.kind: remote(server.kind, server.url) for server in servers})
    calls = [asyncio.create_task(made.tool(server.kind, "slow", seconds=600)) for server in servers]
    await until(lambda: servers[0].log.read_text().count("slow begins") == 2)
    begun = time.perf_counter()
    await made.hub.close()
    assert time.perf_counter() - begun < 3
    for call in calls:
        with pytest.raises(ServerGone, match="is gone: the connection was closed"):
            await call
    await until(lambda: open_files() <= before)
