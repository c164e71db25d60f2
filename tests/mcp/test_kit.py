"""What servers are written with, and servers written for UltraRAG."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastmcp import Client
from fastmcp.exceptions import ToolError
from msgspec.structs import replace

from tests.mcp.conftest import Bench, python_server
from tests.support import CONFORMANCE
from workbench.mcp.description import entry
from workbench.mcp.kit import MarkedResult, ToolServer, check_lengths, item_numbers
from workbench.mcp.launch import plan
from workbench.mcp.paths import find_file, output_path
from workbench.pipeline.project import ServerSource, shipped_folder

MakeBench = Callable[..., Bench]

PARAMETERS = {"top_k": 5, "template": "x"}


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("q_ls,top_k->ret_psg", {"input": {"a": "q_ls", "b": "$top_k"}, "output": ["ret_psg"]}),
        ("q_ls->x", {"input": {"a": "q_ls"}, "output": ["x"]}),
        ("->x, top_k", {"input": {"a": "a", "b": "b"}, "output": ["x", "$top_k"]}),
        ("x,y", {"input": {"a": "a", "b": "b"}, "output": ["x", "y"]}),
        ("q_ls -> None", {"input": {"a": "q_ls"}}),
        ("q_ls->", {"input": {"a": "q_ls"}}),
        (None, {"input": {"a": "a", "b": "b"}}),
    ],
)
def test_an_annotation_is_compiled(annotation: str | None, expected: dict[str, Any]) -> None:
    assert entry(["a", "b"], annotation, PARAMETERS) == expected


def test_two_arrows_are_one_too_many() -> None:
    with pytest.raises(ValueError, match="more than one"):
        entry(["a"], "a->b->c", {})


def test_find_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWB_PROJECT", str(tmp_path))
    monkeypatch.setenv("HOME", "/home/of/someone")
    (tmp_path / "mine.txt").touch()
    assert find_file("mine.txt") == tmp_path / "mine.txt"
    for place in (tmp_path, tmp_path / "called"):
        (place / "output").mkdir(parents=True, exist_ok=True)
        (place / "output/index.jsonl").touch()
    monkeypatch.setenv("RAGWB_OUTPUT", str(tmp_path / "called"))
    assert find_file("output/index.jsonl") == tmp_path / "called/output/index.jsonl", "written by a tool, and newer"
    assert find_file("servers") == shipped_folder() / "servers"
    assert find_file("no/such.txt") == tmp_path / "no/such.txt"
    assert find_file("/etc/hosts") == Path("/etc/hosts")
    assert find_file("~/x") == Path("/home/of/someone/x")


def test_output_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAGWB_OUTPUT", raising=False)
    assert output_path("output/a/b.json") == tmp_path / "output/a/b.json"
    assert (tmp_path / "output/a").is_dir()
    monkeypatch.setenv("RAGWB_OUTPUT", str(tmp_path / "elsewhere"))
    assert output_path("b.json") == tmp_path / "elsewhere/b.json"
    assert output_path(tmp_path / "c.json") == tmp_path / "c.json"


def test_which_interpreter_runs_a_server(tmp_path: Path) -> None:
    server = tmp_path / "servers" / "x"
    script = server / "src" / "x.py"
    source = python_server("x", script, tmp_path)
    assert plan(source).command == (sys.executable, str(script))
    assert plan(source).forkable
    assert plan(replace(source, python="/usr/bin/python3")).command[0] == "/usr/bin/python3"
    own = server / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.touch()
    launch = plan(source)
    assert launch.command[0] == str(own)
    assert not launch.forkable
    assert "compat" not in launch.env.get("PYTHONPATH", "")
    shipped = ServerSource("x", "servers/x", "ragwb", tmp_path, script=script)
    assert plan(replace(shipped, python="/usr/bin/python3")).command[0] == sys.executable


@pytest.fixture
def ultrarag_server(tmp_path: Path) -> ServerSource:
    folder = tmp_path / "servers" / "old"
    (folder / "src").mkdir(parents=True)
    (folder / "parameter.yaml").write_text("top_k: 3\nname: 名\n")
    script = folder / "src" / "old.py"
    script.write_text(
        textwrap.dedent(
            '''
            from typing import Dict, List
            from fastmcp.exceptions import NotFoundError, ToolError, ValidationError
            from fastmcp.prompts import Message, PromptMessage
            from mcp.types import TextContent
            from ultrarag.mcp_logging import get_logger
            from ultrarag.server import UltraRAG_MCP_Server

            app = UltraRAG_MCP_Server("old", log_level="debug", tool_serializer=None)
            get_logger("beside", "info").info("said by a logger")

            class Search:
                def __init__(self, app):
                    app.tool(self.search, output="q_ls,top_k->ret_psg", exclude_args=None)

                async def search(self, query_list: List[str], top_k: int) -> Dict[str, List[List[str]]]:
                    """Search."""
                    if top_k < 0:
                        raise ToolError("top_k is negative")
                    return {"ret_psg": [[q] * top_k for q in query_list]}

            @app.prompt(output="prompt_ls,ans_ls->prompt_ls")
            def chain(prompt_ls: List[PromptMessage], ans_ls: List[str]) -> List[PromptMessage]:
                app.logger.warning("chaining %d", len(prompt_ls))
                return [p.content.text + a for p, a in zip(prompt_ls, ans_ls)]

            if __name__ == "__main__":
                Search(app)
                app.run(transport="stdio")
            '''
        )
    )
    return python_server("old", script, tmp_path)


async def test_a_server_written_for_ultrarag(bench: MakeBench, ultrarag_server: ServerSource, tmp_path: Path) -> None:
    made = bench({"old": ultrarag_server})
    tools = (await made.hub.declaration("old")).tools
    assert tools["search"].annotation == "q_ls,top_k->ret_psg"
    assert tools["chain"].annotation == "prompt_ls,ans_ls->prompt_ls"
    assert await made.tool("old", "search", query_list=["q"], top_k=2) == {"ret_psg": [["q", "q"]]}
    with pytest.raises(Exception, match=r"^old\.search failed: top_k is negative$"):
        await made.tool("old", "search", query_list=["q"], top_k=-1)
    prompt = {"role": "user", "content": {"type": "text", "text": "frage"}}
    chained = await made.call("old", "chain", {"prompt_ls": [prompt], "ans_ls": ["!"]}, kind="prompt")
    assert chained.value[0]["content"]["text"] == "frage!"
    said = [event.text for event in made.of("server_output")]
    assert "INFO beside: said by a logger" in said
    assert "WARNING old: chaining 1" in said

    await made.tool("old", "build", parameter_file="servers/old/parameter.yaml")
    assert yaml.safe_load((tmp_path / "servers/old/server.yaml").read_text()) == {
        "path": "servers/old/src/old.py",
        "parameter": "servers/old/parameter.yaml",
        "tools": {"search": {"input": {"query_list": "q_ls", "top_k": "$top_k"}, "output": ["ret_psg"]}},
        "prompts": {"chain": {"input": {"prompt_ls": "prompt_ls", "ans_ls": "ans_ls"}, "output": ["prompt_ls"]}},
    }


async def test_the_servers_of_the_conformance_suite(bench: MakeBench) -> None:
    sources = {
        alias: python_server(alias, CONFORMANCE / "servers" / alias / "src" / f"{alias}.py", CONFORMANCE)
        for alias in ("lab", "prompt")
    }
    made = bench(sources)
    made.hub.start(sources)
    assert (await made.hub.declaration("lab")).tools["note"].annotation == "note->None"
    assert (await made.call("lab", "note", {"note": "x"})).value is None
    routed = await made.tool("lab", "route_flag", q_ls=["ab", "abcd"])
    assert [entry["state"] for entry in routed["q_ls"]] == [False, True]
    asked = await made.call("prompt", "ask", {"q_ls": ["a"], "greeting": "hi"}, kind="prompt")
    assert asked.value == [{"role": "user", "content": {"type": "text", "text": "hi\na"}}]


@pytest.mark.parametrize(
    ("items", "numbers"), [([4, 9], [4, 9]), (None, [0, 1]), ([4], [0, 1])], ids=["items", "no items", "no item list"]
)
async def test_items_are_known_by_their_numbers_in_the_run(items: list[int] | None, numbers: list[int]) -> None:
    app = ToolServer("lab")

    @app.tool
    def of(values: list[str]) -> list[int]:
        return list(item_numbers(len(values)))

    async with Client(app) as client:
        given = await client.call_tool("of", {"values": ["a", "b"]}, meta={"items": items} if items else None)
    assert given.data == numbers


def test_lists_of_unequal_length_are_named() -> None:
    check_lengths(q_ls=["a"], ans_ls=["b"])
    with pytest.raises(ToolError, match="one entry per item is needed in each list, but q_ls has 1, ans_ls has 2"):
        check_lengths(q_ls=["a"], ans_ls=["b", "c"])


async def test_half_a_surrogate_pair_is_an_error_and_no_silence() -> None:
    app = ToolServer("halves")

    @app.tool(output="->said")
    def untyped():  # type: ignore[no-untyped-def]
        return "a\ud800"

    @app.tool(output="->said")
    def refuses() -> dict[str, Any]:
        raise ToolError("it said \ud800")

    @app.tool(output="->said")
    def warns() -> MarkedResult:
        return MarkedResult({"said": ["a"]}, warnings=["\ud800"])

    @app.prompt(output="->said")
    def asks() -> str:
        return "a\ud800"

    async with Client(app) as client:
        for tool in ("untyped", "warns"):
            with pytest.raises(ToolError, match="can't be sent: it holds half a surrogate pair"):
                await client.call_tool(tool)
        with pytest.raises(ToolError, match="it said \ufffd"):
            await client.call_tool("refuses")
        with pytest.raises(Exception, match="can't be sent: it holds half a surrogate pair"):
            await client.get_prompt("asks")
