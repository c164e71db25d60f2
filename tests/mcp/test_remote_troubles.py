"""Addresses that answer otherwise than they should, and what the user reads of it."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import subprocess
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.addresses import Playing, playing, remote, reply, stream
from tests.mcp.conftest import Bench, until
from workbench.engine.ports import ServerGone, ServerStartFailed, ToolFailed

MakeBench = Callable[..., Bench]
Handler = BaseHTTPRequestHandler
SECRET = {"Authorization": "Bearer sesame-0815"}


def message(number: Any, **parts: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, **parts})


def event(text: str, **fields: str) -> str:
    return "".join(f"{name}: {value}\n" for name, value in fields.items()) + f"data: {text}\n\n"


ABOUT = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "p", "version": "1"}}
RESULTS = {"initialize": ABOUT, "tools/list": {"tools": [{"name": "go", "inputSchema": {"type": "object"}}]}}


def mcp(on_call: Callable[[Handler, Any], None] | None = None, **headers: str) -> Callable[[Handler, bytes], None]:
    """An MCP server that answers with JSON; ``on_call`` answers calls of its tool `go`."""

    def answer(handler: Handler, body: bytes) -> None:
        asked = json.loads(body) if body else {}
        number, method = asked.get("id"), asked.get("method")
        if handler.command == "GET":
            reply(handler, 405)
        elif number is None:
            reply(handler, 202)
        elif method == "tools/call" and on_call is not None:
            on_call(handler, number)
        else:
            result = RESULTS.get(method, {"content": [{"type": "text", "text": "gone well"}]})
            reply(handler, 200, message(number, result=result), content_type="application/json", **headers)

    return answer


async def failure(bench: MakeBench, url: str, limit: float | None = None, **options: Any) -> str:
    made = bench({"r": remote("r", url, **options)}, start_timeout=limit)
    begun = time.perf_counter()
    with pytest.raises(ServerStartFailed) as failed:
        await made.hub.declaration("r")
    assert time.perf_counter() - begun < 5
    assert made.of("server_failed")[0].message == str(failed.value)
    assert "sesame" not in "".join(map(str, made.events))
    return str(failed.value)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_nothing_listens(bench: MakeBench) -> None:
    port = free_port()
    assert await failure(bench, f"http://127.0.0.1:{port}/mcp") == (
        f"server 'r' could not be reached: connection refused\n  address: http://127.0.0.1:{port}/mcp\n"
        f"  nothing listens at 127.0.0.1:{port}: is the server running?"
    )
    assert "connection refused" in await failure(bench, f"http://127.0.0.1:{port}/sse", transport="sse")


async def test_a_login_is_asked_for(bench: MakeBench) -> None:
    def locked(handler: Handler, body: bytes) -> None:
        if handler.headers["authorization"] == "Bearer sesame-4711":
            mcp()(handler, body)
        else:
            reply(handler, 401, '{"error": "invalid_token", "error_description": "no"}', www_authenticate="Bearer x=y")

    with playing(locked) as server:
        text = await failure(bench, server.url())
        assert text.startswith("server 'r' could not be reached: the server answered 401 Unauthorized at /mcp: no\n")
        assert "the header Authorization is missing; give the server as a map: {url: ..., headers: {Authoriz" in text
        text = await failure(bench, server.url(), headers=SECRET)
        assert "the header Authorization was sent, and not accepted" in text
        made = bench({"r": remote("r", server.url(), headers={"Authorization": "Bearer sesame-4711"})})
        assert await made.tool("r", "go") == "gone well"
        assert "sesame" not in "".join(map(str, made.events))


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (200, "<html>Welcome", "text/html", "answered 200 with text/html at /mcp: that is no MCP\n  address"),
        (404, "<html>Not found", "text/html", "answered 404 Not Found at /mcp\n  address"),
        (500, "out of order", "text/plain", "answered 500 Internal Server Error at /mcp: out of order"),
        (400, message(None, error={"code": -32600, "message": "no such tenant"}), "application/json", "no such tenant"),
        (200, "{}", "application/json", "answered 200 with application/json at /mcp: that is no MCP"),
        (202, "", "text/plain", "answered 202 with text/plain at /mcp"),
        (301, "", "text/plain", "answered 301 Moved Permanently at /mcp"),
    ],
)
async def test_other_answers(bench: MakeBench, status: int, body: str, kind: str, said: str) -> None:
    with playing(lambda handler, _: reply(handler, status, body, content_type=kind)) as server:
        text = await failure(bench, server.url())
        assert said in text
        assert f"address: {server.url()}" in text
        assert (f"try {server.url('/mcp/')}" in text) == (status == 404)


async def test_a_server_that_never_answers(bench: MakeBench) -> None:
    with playing(lambda handler, _: reply(handler, 200) if server.released.wait(9) else None) as server:
        assert "not ready within 0.3 s" in await failure(bench, server.url(), 0.3)
        server.released.set()


async def test_what_speaks_no_http(bench: MakeBench) -> None:
    async def banner(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ready\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(banner, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    assert "could not be reached: the connection broke (" in await failure(bench, f"http://127.0.0.1:{port}/mcp")
    server.close()


async def test_tls(bench: MakeBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with playing(mcp()) as server:
        text = await failure(bench, server.url().replace("http:", "https:"))
        assert "TLS: " in text
        assert "try http:// in the place of https://" in text
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
    ]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with playing(mcp()) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        text = await failure(bench, server.url().replace("http:", "https:"))
        assert "TLS: its certificate is not trusted (self" in text
        assert "SSL_CERT_FILE" in text
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        made = bench({"r": remote("r", server.url().replace("http:", "https:"))})
        assert await made.tool("r", "go") == "gone well"


# ---- redirects


def redirecting(to: Callable[[], str], status: int = 307) -> Callable[[Handler, bytes], None]:
    def answer(handler: Handler, body: bytes) -> None:
        if handler.path == "/old":
            reply(handler, status, location=to())
        else:
            mcp(mcp_session_id="s-1")(handler, body)

    return answer


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_loses_nothing(bench: MakeBench, status: int) -> None:
    with playing(redirecting(lambda: "/new", status)) as server:
        made = bench({"r": remote("r", server.url("/old"), headers=SECRET)})
        assert await made.tool("r", "go") == "gone well"
        await made.hub.stop("r")
        answered = [request for request in server.requests if request[1] == "/new"]
        assert {request[2]["authorization"] for request in answered} == {"Bearer sesame-0815"}
        assert {request[2].get("mcp-session-id") for request in answered[1:]} == {"s-1"}
        assert {request[2].get("mcp-protocol-version") for request in answered[1:]} == {"2025-06-18"}
        assert (answered[0][0], json.loads(answered[0][3])["method"]) == ("POST", "initialize")
        assert answered[-1][0] == "DELETE"
        assert len([request for request in server.requests if request[1] == "/old"]) == 1


async def test_no_other_server_sees_the_headers(bench: MakeBench) -> None:
    with playing(mcp()) as other, playing(redirecting(other.url)) as server:
        made = bench({"r": remote("r", server.url("/old"), headers={**SECRET, "X-Key": "sesame"})})
        assert await made.tool("r", "go") == "gone well"
        assert server.requests[0][2]["x-key"] == "sesame"
        assert not any({"authorization", "x-key"} & request[2].keys() for request in other.requests)


async def test_redirects_without_end(bench: MakeBench) -> None:
    with playing(redirecting(lambda: "/old")) as server:
        assert "more than 5 redirects" in await failure(bench, server.url("/old"))


# ---- in a call


async def started(bench: MakeBench, server: Playing) -> Bench:
    made = bench({"r": remote("r", server.url())})
    await made.hub.declaration("r")
    return made


async def test_a_stream_that_breaks(bench: MakeBench) -> None:
    with playing(mcp(lambda handler, _: stream(handler, ": hello\n\n", 'data: {"jsonrpc"'))) as server:
        made = await started(bench, server)
        with pytest.raises(ServerGone) as gone:
            await made.tool("r", "go")
        assert str(gone.value) == ("r.go: server 'r' is gone: the connection was closed in the middle of an answer")


async def test_a_stream_is_taken_up_again(bench: MakeBench) -> None:
    """The first part ends before the answer, the second one as well; the third brings it."""
    numbers: list[Any] = []

    def answer(handler: Handler, body: bytes) -> None:
        last = handler.headers["last-event-id"]
        if handler.command == "GET" and last == "e1":
            stream(handler, event("", id="e2"))
        elif handler.command == "GET" and last == "e2":
            result = {"structuredContent": {"out": 1}, "content": []}
            stream(handler, event(message(numbers[0], result=result), id="e3"))
        else:
            mcp(on_call)(handler, body)

    def on_call(handler: Handler, number: Any) -> None:
        numbers.append(number)
        stream(handler, event("", id="e1", retry="10"))

    with playing(answer) as server:
        made = await started(bench, server)
        assert await made.tool("r", "go") == {"out": 1}
        assert made.hub.status("r").phase == "ready"


async def test_a_session_that_has_expired(bench: MakeBench) -> None:
    calls: list[Any] = []

    def on_call(handler: Handler, number: Any) -> None:
        calls.append(number)
        if len(calls) == 1:
            reply(handler, 404, message(number, error={"code": -32001, "message": "Session not found"}))
        else:
            result = {"content": [{"type": "text", "text": "well again"}]}
            reply(handler, 200, message(number, result=result), content_type="application/json")

    with playing(mcp(on_call, mcp_session_id="s")) as server:
        made = await started(bench, server)
        with pytest.raises(ServerGone, match=r"its session has expired .*404 Not Found at /mcp: Session not found"):
            await made.tool("r", "go")
        await made.hub.restart("r")
        assert await made.tool("r", "go") == "well again"


async def test_a_call_that_is_refused_leaves_the_session(bench: MakeBench) -> None:
    statuses = iter([429, 503])

    def on_call(handler: Handler, number: Any) -> None:
        reply(handler, next(statuses), "slow down", content_type="text/plain")

    with playing(mcp(on_call)) as server:
        made = await started(bench, server)
        for status in ("429 Too Many Requests", "503 Service Unavailable"):
            with pytest.raises(ToolFailed, match=f"r.go failed: the server answered {status} at /mcp: slow down"):
                await made.tool("r", "go")
        assert made.hub.status("r").phase == "ready"


async def test_cancelling_a_call_of_a_server_that_hangs(bench: MakeBench) -> None:
    with playing(mcp(lambda handler, _: reply(handler, 200) if server.released.wait(9) else None)) as server:
        made = await started(bench, server)
        call = asyncio.create_task(made.tool("r", "go"))
        await until(lambda: b'"tools/call"' in server.requests[-1][3])
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert b"notifications/cancelled" in server.requests[-1][3]
        server.released.set()


async def test_what_is_no_message_is_told_and_passed_over(bench: MakeBench) -> None:
    result = {"content": [{"type": "text", "text": "ok"}]}

    def on_call(handler: Handler, number: Any) -> None:
        stream(handler, event("Loading..."), "event: other\ndata: 1\n\n", event(message(number, result=result)))

    with playing(mcp(on_call)) as server:
        made = await started(bench, server)
        assert await made.tool("r", "go") == "ok"
        assert [e.text for e in made.of("server_output")] == ["no JSON-RPC message: Loading..."]


async def test_an_older_server_may_not_send_us_elsewhere(bench: MakeBench) -> None:
    def answer(handler: Handler, _: bytes) -> None:
        if handler.command == "GET":
            stream(handler, event("http://elsewhere.example/messages", event="endpoint"))
        else:
            reply(handler, 405)

    with playing(answer) as server:
        text = await failure(bench, server.url(), transport="sse")
        assert "wants its messages sent to another server (http://elsewhere.example/messages): refused" in text


async def test_a_server_that_is_never_done(bench: MakeBench) -> None:
    """What is only there to be read to its end is not waited for: a refusal, and the answer to a notification."""

    def endless(handler: Handler, status: int) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", "text/plain")
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        handler.wfile.write(b"so it begins")
        handler.wfile.flush()
        server.released.wait(9)

    def answer(handler: Handler, body: bytes) -> None:
        if b"notifications/initialized" in body:
            endless(handler, 200)
        else:
            mcp(lambda caller, _: endless(caller, 503))(handler, body)

    with playing(answer) as server:
        made = await started(bench, server)
        with pytest.raises(ToolFailed, match="503 Service Unavailable at /mcp: so it begins"):
            await made.tool("r", "go")
        server.released.set()


async def test_a_server_that_ends_its_own_stream_at_once_is_left_in_peace(bench: MakeBench) -> None:
    def answer(handler: Handler, body: bytes) -> None:
        if handler.command == "GET":
            stream(handler)
        else:
            mcp()(handler, body)

    with playing(answer) as server:
        made = await started(bench, server)
        await until(lambda: [request[0] for request in server.requests].count("GET") == 3)
        await asyncio.sleep(1.2)
        assert [request[0] for request in server.requests].count("GET") == 3
        assert await made.tool("r", "go") == "gone well"
