"""Servers of every kind as a user of the command meets them: reached, configured, refused, and with nothing left."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.addresses import RealServer, playing, reply
from tests.mcp.conftest import SERVERS as MCP_SERVERS
from tests.mcp.test_remote_troubles import mcp
from workbench.cli.main import main

STUBS = Path(__file__).parents[1] / "stubs" / "servers"
QUESTIONS = [
    {"question": 'What is "salt", in [brackets]?', "golden_answers": ["NaCl"]},
    {"question": "北灯塔是谁看守的？", "golden_answers": ["Ines"]},
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder with the stub servers."""
    servers = tmp_path / "servers"
    servers.mkdir()
    for source in STUBS.iterdir():
        (servers / source.name).symlink_to(source)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def text_server(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer("http", "/mcp", tmp_path / "log")
    yield server
    server.end()


def pipeline(servers: str, *steps: str) -> str:
    Path("p.yaml").write_text(f"servers: {servers}\npipeline:\n" + "".join(f"- {step}\n" for step in steps))
    return "p.yaml"


def processes_in(folder: Path) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd") == str(folder) and int(process.name) != os.getpid():
                found.append(process.name)
        except OSError:
            continue
    return found


# ---- addresses


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_pipeline_with_an_address(
    project: Path, text_server: RealServer, slash: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = pipeline(f"{{data: servers/data, text: '{text_server.url}{slash}'}}", "data.give", "text.upper")
    assert main(["check", file]) == 0
    assert "not checked until they run: text" in capsys.readouterr().out
    assert main(["run", file, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["result"]["result"]
    assert result["out_ls"][0] == "WHICH TOWN HAS THE SALT MILL"
    assert len(result["out_ls"]) == 3


def test_an_address_where_nothing_listens(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = pipeline("{data: servers/data, text: 'http://127.0.0.1:9/mcp'}", "data.give", "text.upper")
    begun = time.perf_counter()
    assert main(["run", file]) == 3
    assert time.perf_counter() - begun < 10
    told = capsys.readouterr().err
    assert "server 'text' could not be reached: connection refused\n  address: http://127.0.0.1:9/mcp\n" in told
    assert processes_in(project) == []


def test_a_token_appears_nowhere(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    token = "sesame-open-0815"
    (project / ".env").write_text(f"MY_TOKEN={token}\n")

    def answer(handler, number):  # type: ignore[no-untyped-def]
        seen = handler.headers["authorization"]
        result = {"content": [{"type": "text", "text": f"you sent {seen}"}], "isError": True}
        body = json.dumps({"jsonrpc": "2.0", "id": number, "result": result})
        reply(handler, 200, body, content_type="application/json")

    with playing(mcp(answer)) as server:
        entry = f'{{url: "{server.url()}?api_key=${{MY_TOKEN}}", headers: {{Authorization: "Bearer ${{MY_TOKEN}}"}}}}'
        file = pipeline(f"{{r: {entry}}}", "r.go")
        for options in ([], ["--json"], ["--events"]):
            assert main(["run", file, *options]) == 1
            out, err = capfd.readouterr()
            assert token not in out + err
            assert "you sent Bearer ses…815" in out + err
        assert server.requests[0][1:3][1]["authorization"] == f"Bearer {token}"
    kept = [*(project / "output").iterdir(), *(project / "sessions").iterdir()]
    assert kept
    assert all(token.encode() not in path.read_bytes() for path in kept)


# ---- an MCP client's configuration


def test_servers_of_a_clients_configuration(
    project: Path, text_server: RealServer, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mcp.json").write_text(json.dumps({"mcpServers": {"text": {"url": text_server.url}}}))
    file = pipeline("{data: servers/data}", "data.give", "text.upper", "data.no_such")
    assert main(["check", file]) == 2
    assert "there is no server `text`" in capsys.readouterr().err
    assert main(["check", file, "--mcp-config", "mcp.json"]) == 2
    assert "there is no server" not in capsys.readouterr().err
    file = pipeline("{data: servers/data}", "data.give", "text.upper", "text.fails")
    assert main(["run", file, "--mcp-config", "mcp.json"]) == 1
    [session] = Path("sessions").iterdir()
    Path("mcp.json").rename("other.json")
    assert main(["resume", "--run", str(session)]) == 2
    assert "mcp.json: no such file" in capsys.readouterr().err
    Path("other.json").rename("mcp.json")
    assert main(["resume", "--run", str(session)]) == 1
    assert "text.fails failed: third question has no verb" in capsys.readouterr().err


def test_a_configuration_of_another_shape(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mcp.json").write_text('{"theme": "dark"}')
    assert main(["run", pipeline("{data: servers/data}", "data.give"), "--mcp-config", "mcp.json"]) == 2
    assert capsys.readouterr().err == (
        "mcp.json: an MCP client's configuration has `mcpServers` (or `servers`), a map of names to {command, args} "
        "or {url}; this file has `theme`\n"
    )


# ---- .ragwb.yaml


def test_a_mistake_in_the_projects_configuration(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(".ragwb.yaml").write_text("start_timout: 3\n")
    assert main(["run", pipeline("{data: servers/data}", "data.give")]) == 2
    assert (
        f"{project}/.ragwb.yaml:1:1: unknown key `start_timout`; did you mean `start_timeout`"
        in capsys.readouterr().err
    )


def test_time_outs_of_the_project(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(".ragwb.yaml").write_text("start_timeout: 0.5\n")
    assert main(["run", pipeline("{hangs: servers/hangs}", "hangs.hello")]) == 3
    assert "could not be started: not ready within 0.5 s" in capsys.readouterr().err
    Path(".ragwb.yaml").write_text("call_timeout: 0.5\n")
    file = pipeline("{data: servers/data, text: servers/text}", "data.give", "text.slow: {input: {seconds: 60}}")
    assert main(["run", file]) == 1
    assert "text.slow failed: no answer within 0.5 s" in capsys.readouterr().err


def test_what_a_server_asks_is_told(project: Path, text_server: RealServer, capsys: pytest.CaptureFixture[str]) -> None:
    file = pipeline(f"{{t: '{text_server.url}'}}", "t.choose")
    assert main(["run", file]) == 0
    out, err = capsys.readouterr()
    assert "result: decline None" in out
    assert "server t asks: Which one?\nserver t was answered: decline: nobody is asked here; `elicitation: def" in err
    Path(".ragwb.yaml").write_text("elicitation: defaults\n")
    assert main(["run", file, "--events"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(e["type"], e.get("action")) for e in events if e["type"].startswith("server_a")] == [
        ("server_asked", None),
        ("server_answered", "accept"),
    ]


def test_the_pipelines_model_answers_for_a_server(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = project / "servers" / "generation" / "src"
    source.mkdir(parents=True)
    (source / "generation.py").write_text(
        "from workbench.mcp.kit import ToolServer\napp = ToolServer('generation')\n"
        "@app.tool(output='prompt_ls->ans_ls')\ndef generate(prompt_ls: list[str]) -> dict:\n"
        "    return {'ans_ls': [f'{prompt}: a word' for prompt in prompt_ls]}\napp.run()\n"
    )
    raw = f"{{command: {sys.executable}, args: [{MCP_SERVERS / 'raw.py'}]}}"
    file = pipeline(
        f"{{generation: servers/generation, raw: {raw}}}", "generation.generate: {input: {prompt_ls: [x]}}", "raw.tool1"
    )
    assert main(["run", file, "--events"]) == 1
    assert "sampling is refused: the pipeline has no model, or .ragwb.yaml does not say" in capsys.readouterr().out
    Path(".ragwb.yaml").write_text("sampling: pipeline\n")
    main(["run", file, "--events"])
    assert "Say something: a word" in capsys.readouterr().out


# ---- what goes over the wire arrives as it is


def test_a_line_of_six_megabytes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", pipeline("{text: servers/text}", "text.big"), "--json", "--set", "text.n=2000000"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["result"]["out_ls"] == ["字" * 2_000_000]
    assert "字" * 2_000_000 in Path(told["memory"]).read_text(encoding="utf-8")


def test_lists_as_arguments_of_prompts(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    file = pipeline("{benchmark: servers/benchmark, prompt: servers/prompt}", "benchmark.get_data", "prompt.qa_boxed")
    settings = ["benchmark.benchmark.path=questions.jsonl", "prompt.template=pipelines/prompts/qa_boxed.jinja"]
    assert main(["run", file, "--json", *(f"--set={setting}" for setting in settings)]) == 0
    prompts = json.loads(capsys.readouterr().out)["result"]["prompt_ls"]
    assert len(prompts) == 2
    for prompt, row in zip(prompts, QUESTIONS, strict=True):
        assert str(row["question"]) in str(prompt)


def test_nan_does_not_become_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = project / "servers" / "nan" / "src"
    source.mkdir(parents=True)
    (source / "nan.py").write_text(
        "from fastmcp import FastMCP\napp = FastMCP('nan')\n"
        "@app.tool\ndef mean(xs: list[float]) -> dict:\n    return {'mean': float('nan')}\n"
        "app.run(show_banner=False)\n"
    )
    file = pipeline("{nan: servers/nan}", "nan.mean: {input: {xs: []}}")
    assert main(["run", file]) == 1
    assert "nan.mean failed: Tool result contains a non-finite float (nan) at $.mean" in capsys.readouterr().err
    [memory] = Path("output").iterdir()
    json.loads(memory.read_text())
