"""Other people's servers as they are: over stdio and both kinds of HTTP, from npm and PyPI, under other FastMCPs."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.addresses import remote
from tests.mcp.conftest import Bench, python_server
from tests.third_party.conftest import CONFIG
from workbench.cli.main import main
from workbench.engine.ports import Progress, ToolFailed
from workbench.mcp.rules import Rules
from workbench.pipeline.project import ServerSource

pytestmark = [pytest.mark.third_party, pytest.mark.slow]
MakeBench = Callable[..., Bench]


@pytest.fixture(scope="module", params=["stdio", "streamableHttp", "sse"])
def source(request: pytest.FixtureRequest, everything: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The "everything" server, in each way it can be reached."""
    if request.param == "stdio":
        folder = tmp_path_factory.mktemp("project")
        yield ServerSource("e", "everything", "command", folder, command=(str(everything), "stdio"))
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [everything, request.param],
        env={**os.environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield remote("e", f"http://127.0.0.1:{port}/{'sse' if request.param == 'sse' else 'mcp'}")
    process.kill()
    process.wait()


async def test_everything(bench: MakeBench, source: ServerSource) -> None:
    made = bench({"e": source}, answering=Rules("defaults"))
    tools = (await made.hub.declaration("e")).tools
    assert {"echo", "get-tiny-image", "simple-prompt"} <= tools.keys()
    assert await made.tool("e", "echo", message="grüße") == "Echo: grüße"
    assert await made.tool("e", "get-structured-content", location="New York") == {
        "temperature": 33,
        "conditions": "Cloudy",
        "humidity": 82,
    }
    picture = (await made.tool("e", "get-tiny-image"))["content"]
    assert [(block["type"], block.get("mimeType")) for block in picture if block["type"] != "text"] == [
        ("image", "image/png")
    ]
    links = (await made.tool("e", "get-resource-links", count=2))["content"]
    assert [block["type"] for block in links] == ["text", "resource_link", "resource_link"]
    resource = (await made.tool("e", "get-resource-reference", resourceType="Blob", resourceId=2))["content"][1]
    assert resource["resource"].keys() >= {"uri", "mimeType", "blob"}
    heard: list[Progress] = []
    arguments = {"duration": 0.3, "steps": 3}
    await made.call("e", "trigger-long-running-operation", arguments, on_progress=heard.append)
    assert [(told.progress, told.total) for told in heard] == [(1, 3), (2, 3), (3, 3)]
    with pytest.raises(ToolFailed, match=r"^e\.get-sum failed: "):
        await made.tool("e", "get-sum", a="one")
    messages = (await made.call("e", "args-prompt", {"city": "Rome"}, kind="prompt")).value
    assert "Rome" in messages[0]["content"]["text"]


async def test_everything_asks(bench: MakeBench, source: ServerSource) -> None:
    made = bench({"e": source}, answering=Rules("defaults"))
    await made.tool("e", "trigger-elicitation-request", visit=4)
    [asked], [answered] = made.of("server_asked"), made.of("server_answered")
    assert (asked.kind, asked.visit) == ("elicitation", 4)
    assert (answered.action, answered.reason) == ("decline", "required fields without a default: name")


PIPELINE = """\
servers: {clock: }
pipeline:
- clock.get_current_time:
    input: {timezone: $zone}
    output: {result: now}
- all.echo:
    input: {message: $text}
"""


def test_a_pipeline_of_third_party_servers(
    everything: Path, uvx: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One from PyPI and one from npm, named in an MCP client's configuration only."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(PIPELINE)
    (tmp_path / "parameter").mkdir()
    (tmp_path / "parameter" / "p_parameter.yaml").write_text("clock: {zone: UTC}\nall: {text: hello}\n")
    servers = {
        "clock": {"command": uvx, "args": ["mcp-server-time"], "env": {"XDG_CONFIG_HOME": CONFIG}},
        "all": {"type": "stdio", "command": str(everything), "args": ["stdio"]},
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    assert main(["run", "p.yaml", "--mcp-config", "mcp.json", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["result"] == {"result": "Echo: hello"}
    [now] = [
        entry["memory"]["memory_now"]
        for entry in json.loads(Path(told["memory"]).read_text())
        if "clock" in entry["step"]
    ]
    assert now["timezone"] == "UTC"


SERVER = """\
import sys
from importlib.metadata import version
from fastmcp import FastMCP

app = FastMCP("older")

@app.tool
def about() -> dict:
    return {"fastmcp": version("fastmcp"), "python": sys.executable}

@app.tool
def total(numbers: list[float]) -> float:
    return sum(numbers)

@app.prompt
def ask(q: str) -> str:
    return f"Answer: {q}"

app.run(show_banner=False)
"""


@pytest.mark.parametrize("is_configured", [True, False])
async def test_under_another_fastmcp(
    bench: MakeBench, tmp_path: Path, other_fastmcp: tuple[Path, str], is_configured: bool
) -> None:
    venv, version = other_fastmcp
    script = tmp_path / "servers" / "older" / "src" / "older.py"
    script.parent.mkdir(parents=True)
    script.write_text(SERVER)
    python = str(venv / "bin" / "python") if is_configured else None
    if not is_configured:
        (script.parents[1] / ".venv").symlink_to(venv)
    made = bench({"older": python_server("older", script, tmp_path, python=python)})
    about = await made.tool("older", "about")
    assert about["fastmcp"].split(".")[0] == version
    assert "fastmcp" in about["python"] or ".venv" in about["python"]
    assert await made.tool("older", "total", numbers=[1, 2.5]) == 3.5
    messages = (await made.call("older", "ask", {"q": "x"}, kind="prompt")).value
    assert messages[0]["content"]["text"] == "Answer: x"
