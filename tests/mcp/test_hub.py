"""Starting, calling and cancelling over real servers, forked and plain."""

from __future__ import annotations

import asyncio
import math
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.conftest import SERVERS, Bench, python_server, until
from workbench.engine.ports import Progress, ServerStartFailed, ToolFailed
from workbench.mcp import launch
from workbench.pipeline.project import ServerSource


@pytest.fixture(scope="module")
async def shared(forking: bool, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bench]:
    """Two servers under way, for all tests that leave them alive."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "notes.txt").write_text("here")
    sources = {
        "w": python_server("w", SERVERS / "workshop.py", folder),
        "v": python_server("v", SERVERS / "workshop.py", folder, env={} if forking else {"PYTHONHASHSEED": "0"}),
        "raw": python_server("raw", SERVERS / "raw.py", folder),
    }
    if not forking:
        sources["w"] = python_server("w", SERVERS / "workshop.py", folder, env={"PYTHONHASHSEED": "0"})
    bench = Bench(sources)
    bench.hub.start(["w", "v", "raw"])
    for alias in sources:
        await bench.hub.declaration(alias)
    yield bench
    await bench.hub.close()


async def test_servers_are_ready_together(shared: Bench, forking: bool) -> None:
    assert {event.server for event in shared.of("server_ready")} == {"w", "v", "raw"}
    starts = [event.type for event in shared.events if event.type != "message"][:3]
    assert starts == ["server_starting"] * 3
    assert shared.hub.status("w").phase == "ready"
    parent = Path(f"/proc/{shared.hub.status('w').pid}/stat").read_text().rsplit(")", 1)[1].split()[1]
    assert ("forkserver" in Path(f"/proc/{parent}/cmdline").read_text()) == forking


async def test_declaration(shared: Bench) -> None:
    tools = (await shared.hub.declaration("w")).tools
    search, table, ask = tools["search"], tools["table"], tools["ask"]
    assert (search.annotation, search.description) == ("q_ls,top_k->ret_psg", "Some passages for each question.")
    assert [(a.name, a.required, a.default) for a in search.arguments] == [
        ("query_list", True, None),
        ("top_k", False, 2),
    ]
    assert (table.whole, table.outputs_from, table.stateful) == (("table",), "workshop.key_map", True)
    assert (ask.kind, ask.annotation) == ("prompt", "q_ls,template->prompt_ls")
    assert [(a.name, a.required) for a in ask.arguments] == [
        ("q_ls", True),
        ("template", True),
        ("extra", False),
        ("rest", False),
    ]
    assert tools["bare"].annotation is None
    assert tools["about"].annotation == "->items"
    assert "build" in tools


async def test_results(shared: Bench) -> None:
    assert await shared.tool("w", "search", query_list=["ä", "中"], top_k=1) == {"ret_psg": [["ä#0"], ["中#0"]]}
    assert await shared.tool("w", "bare", count=1) == 2
    text = await shared.call("w", "words", {})
    assert (text.value, text.is_structured) == ("plain words", True)
    assert (await shared.call("w", "nothing", {})).value is None


async def test_items_and_progress(shared: Bench) -> None:
    heard: list[Progress] = []
    result = await shared.call("w", "about", {}, items=(1, 3), on_progress=heard.append, visit=41)
    assert result.value == {"items": [1, 3]}
    assert heard == [Progress(1, 2, "the "), Progress(2, 2, "answer")]
    assert (await shared.call("w", "about", {})).value == {"items": None}
    notes = [m for m in shared.of("message") if m.method == "notifications/progress" and m.visit == 41]
    assert len(notes) == 2


async def test_prompt_arguments_arrive_letter_for_letter(shared: Bench) -> None:
    arguments: dict[str, Any] = {
        "q_ls": ['say "ä"\n\\n', "中\u2028"],
        "template": "[1, 2]",
        "extra": ["x", 1, None],
        "rest": {"a": [1.5]},
    }
    messages = (await shared.call("w", "ask", arguments, kind="prompt")).value
    assert messages[0] == {"role": "user", "content": {"type": "text", "text": '[1, 2]|say "ä"\n\\n'}}
    assert [m["content"]["text"] for m in messages[1:]] == ["[1, 2]|中\u2028", "['x', 1, None]", "{'a': [1.5]}", "last"]
    assert [m["role"] for m in messages] == ["user", "user", "assistant", "user", "user"]
    plain = (await shared.call("w", "ask", {"q_ls": ["q"], "template": "5", "extra": "[1]"}, kind="prompt")).value
    assert plain[1]["content"]["text"] == "'[1]'"


async def test_errors_have_the_tools_own_words(shared: Bench) -> None:
    with pytest.raises(
        ToolFailed, match=r"^w\.fails failed: ValueError: third question has no verb \(workshop\.py, line \d+\)$"
    ):
        await shared.tool("w", "fails")
    with pytest.raises(ToolFailed, match=r"^w\.broken failed: no template$"):
        await shared.call("w", "broken", {"text": "x"}, kind="prompt")
    with pytest.raises(ToolFailed, match=r"score_ls\[1\]"):
        await shared.tool("w", "not_a_number")
    with pytest.raises(ToolFailed, match="Unknown tool: 'no_such'"):
        await shared.tool("w", "no_such")
    with pytest.raises(ToolFailed, match="no JSON form"):
        await shared.tool("w", "bare", count=object())


async def test_five_megabytes_of_cjk(shared: Bench) -> None:
    value = await shared.tool("w", "big", count=13_000, visit=77)
    assert value == {"text_ls": [f"第{number}段 " + "检索增强生成" * 20 for number in range(13_000)]}
    [answer] = [m for m in shared.of("message") if m.visit == 77 and m.way == "received"]
    assert answer.size == len(answer.line) > 5_000_000
    assert answer.started <= answer.at


async def test_a_result_says_where_its_time_went(shared: Bench) -> None:
    slept = (await shared.call("w", "slow", {"seconds": 0.3})).timing
    assert slept is not None
    assert 0.3 <= slept.server < 3
    assert slept.transport < 0.2
    assert slept.waiting < 0.1
    big = (await shared.call("w", "big", {"count": 26_000})).timing
    assert big is not None
    assert big.transport > 0.02


async def test_the_start_of_a_server_is_waiting(bench: Callable[..., Bench], tmp_path: Path) -> None:
    made = bench({"w": python_server("w", SERVERS / "workshop.py", tmp_path)})
    timing = (await made.call("w", "bare", {"count": 1})).timing
    assert timing is not None
    assert timing.waiting > timing.server + timing.transport
    asked = (await made.call("w", "ask", {"q_ls": ["q"], "template": "t"}, kind="prompt")).timing
    assert asked is not None
    assert asked.waiting < 0.1
    assert asked.server > 0


async def test_cancelling_leaves_the_server_alive(shared: Bench) -> None:
    call = asyncio.create_task(shared.tool("w", "slow", seconds=600, visit=55))
    await until(lambda: any(e.text == "slow begins" and e.visit == 55 for e in shared.of("server_output", "w")))
    pid = shared.hub.status("w").pid
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert [m.method for m in shared.of("message") if m.visit == 55 and m.way == "sent"] == [
        "tools/call",
        "notifications/cancelled",
    ]
    assert await shared.tool("w", "bare", count=4) == 5
    assert shared.hub.status("w").pid == pid


async def test_calls_of_one_server_run_beside_each_other(shared: Bench) -> None:
    results = await asyncio.gather(
        shared.tool("w", "slow", seconds=0.05), *(shared.tool("w", "bare", count=n) for n in range(20))
    )
    assert results == ["done", *range(1, 21)]


async def test_every_line_is_an_event(shared: Bench) -> None:
    await shared.tool("w", "bare", count=1, visit=99)
    sent, received = (m for m in shared.of("message") if m.visit == 99)
    assert (sent.way, sent.method, sent.id) == ("sent", "tools/call", received.id)
    assert (received.way, received.method) == ("received", None)
    assert b'"count":1' in sent.line


async def test_a_server_is_at_home_in_the_project(shared: Bench) -> None:
    about = await shared.tool("w", "where")
    assert about["found"] == str(Path(about["cwd"]) / "notes.txt")
    assert about["path"] == [str(SERVERS), str(launch.COMPAT_FOLDER)]
    assert about["main"] == "__main__"


async def test_pages_stray_lines_and_nan(shared: Bench) -> None:
    tools = (await shared.hub.declaration("raw")).tools
    assert list(tools) == ["tool0", "tool1", "tool2"]
    assert tools["tool2"].annotation == "a->b"
    value = await shared.tool("raw", "tool0", visit=12)
    assert math.isnan(value["score_ls"][0])
    assert value["score_ls"][1:] == [None, math.inf]
    strays = [(e.text, e.visit) for e in shared.of("server_output", "raw") if e.stream == "stdout"]
    assert strays == [("Loading model... 完成", 12), ('{"loss": 0.5}', 12)]
    assert math.isnan((await shared.tool("raw", "tool2"))["score_ls"][0])


async def test_what_a_server_asks_is_answered(shared: Bench) -> None:
    value = await shared.tool("raw", "tool1")
    ping, roots, sampling = value["answers"]
    assert ping["result"] == {}
    assert roots["result"]["roots"][0]["uri"].startswith("file:///")
    assert "sampling is refused" in sampling["error"]["message"]
    assert set(value["meta"]) == {"progressToken"}


async def test_restart(shared: Bench) -> None:
    before = (await shared.tool("v", "table"))["pid"]
    await shared.hub.restart("v")
    after = (await shared.tool("v", "table"))["pid"]
    assert before != after
    assert len(shared.of("server_ready", "v")) == 2


async def test_the_client_side_imports_no_mcp() -> None:
    code = (
        "import sys, workbench.mcp.hub\n"
        "print(sorted({n.split('.')[0] for n in sys.modules} & {'mcp', 'fastmcp', 'pydantic', 'yaml'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_a_call_may_be_given_a_limit(bench: Callable[..., Bench], tmp_path: Path) -> None:
    limited = bench({"w": python_server("w", SERVERS / "workshop.py", tmp_path)}, call_timeout=0.3)
    with pytest.raises(ToolFailed, match=r"^w\.slow failed: no answer within 0\.3 s$"):
        await limited.tool("w", "slow", seconds=600)
    assert await limited.tool("w", "bare", count=1) == 2


async def test_servers_get_the_environment_that_is_meant_for_them(
    bench: Callable[..., Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LAB_KEY", "LAB_OTHER", "SECRET_PLAN", "https_proxy", "LC_TIME"):
        monkeypatch.setenv(name, "1")
    (tmp_path / "w.py").write_text(
        "import os\nfrom workbench.mcp.kit import ToolServer\napp = ToolServer('w')\n"
        "@app.tool\ndef env() -> list[str]: return sorted(os.environ)\napp.run()\n"
    )
    w, root = tmp_path / "w.py", str(Path(__file__).parents[2])
    made = bench(
        {
            "all": python_server("all", w, tmp_path),
            "few": python_server("few", w, tmp_path, passed_env=("LAB_*",), env={"OWN": "x", "PYTHONPATH": root}),
        }
    )
    everything, few = await made.tool("all", "env"), await made.tool("few", "env")
    assert "SECRET_PLAN" in everything
    assert {"LAB_KEY", "LAB_OTHER", "OWN", "PATH", "https_proxy", "LC_TIME", "RAGWB_PROJECT"} <= set(few)
    assert "SECRET_PLAN" not in few


async def test_two_thousand_tools_or_none(bench: Callable[..., Bench], tmp_path: Path) -> None:
    def many(alias: str, *arguments: str) -> ServerSource:
        command = (sys.executable, str(SERVERS / "many.py"), *arguments)
        return ServerSource(alias, "many", "command", tmp_path, command=command)

    made = bench({"all": many("all", "2000"), "none": many("none", "0"), "round": many("round", "300", "circle")})
    assert len((await made.hub.declaration("all")).tools) == 2000
    assert await made.tool("all", "tool1999") == "tool1999"
    assert (await made.hub.declaration("none")).tools == {}
    with pytest.raises(ServerStartFailed, match="the pages of tools/list go in a circle, at '100'"):
        await made.hub.declaration("round")
