"""How servers fail, crash, hang and end; and that nothing of them is left."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mcp.conftest import SERVERS, Bench, is_alive, open_files, python_server, until
from workbench.engine.events import ServerOutput
from workbench.engine.ports import Call, ServerGone, ServerStartFailed
from workbench.pipeline.project import ServerSource

MakeBench = Callable[..., Bench]
PLAIN = {"PYTHONHASHSEED": "0"}  # read once at start, so such a server can't be forked


def script(folder: Path, name: str, text: str) -> ServerSource:
    file = folder / f"{name}.py"
    file.write_text(textwrap.dedent(text))
    return python_server(name, file, folder)


def workshop(alias: str, folder: Path, *, plain: bool = False) -> ServerSource:
    return python_server(alias, SERVERS / "workshop.py", folder, env=PLAIN if plain else {})


async def failure(bench: Bench, alias: str) -> str:
    with pytest.raises(ServerStartFailed) as failed:
        await bench.hub.declaration(alias)
    assert failed.value.alias == alias
    return str(failed.value)


async def test_servers_that_do_not_start(bench: MakeBench, tmp_path: Path) -> None:
    sources = {
        "syntax": script(tmp_path, "syntax", "def broken(:\n    pass\n"),
        "missing": script(tmp_path, "missing", "import yaml_of_nowhere.part\n"),
        "old_openai": script(tmp_path, "old_openai", "from openai import _no_such_name\n"),
        "leaves": script(
            tmp_path, "leaves", "import sys\nfor n in range(40): print(n, file=sys.stderr)\nsys.exit(3)\n"
        ),
        "nowhere": ServerSource("nowhere", "x", "command", tmp_path, command=("no-such-command-here", "--x")),
        "file": ServerSource("file", "x", "command", tmp_path, command=("./serve",)),
        "folder": ServerSource("folder", "x", "command", Path("/nowhere/at/all"), command=("cat",)),
        "mute": ServerSource("mute", "x", "command", tmp_path, command=("/bin/sh", "-c", "exec 1>&-; sleep 600")),
    }
    made = bench(sources)
    made.hub.start(sources)

    text = await failure(made, "syntax")
    assert text.startswith("server 'syntax' could not be started: its process ended with exit code 1")
    assert f"command: {sys.executable} {tmp_path}/syntax.py" in text
    assert "SyntaxError: invalid syntax" in text
    assert "syntax.py" in text

    text = await failure(made, "missing")
    assert "No module named 'yaml_of_nowhere'" in text
    assert f"`uv pip install --python {sys.executable} yaml_of_nowhere`" in text
    assert f"It ran under {sys.executable}. Another Python for it: a .venv beside the server or" in text
    assert "`servers: {missing: {python: PATH}}` in .ragwb.yaml" in text

    assert "needs openai 2.x" in await failure(made, "old_openai")

    text = await failure(made, "leaves")
    assert "exit code 3" in text
    assert [line.strip() for line in text.splitlines()[-15:]] == [str(n) for n in range(25, 40)]

    text = await failure(made, "nowhere")
    assert "there is no command `no-such-command-here` on the PATH\n  PATH:    /" in text
    assert "there is no file ./serve (looked at from" in await failure(made, "file")
    assert "its folder does not exist: /nowhere/at/all" in await failure(made, "folder")
    assert "its process has not ended" in await failure(made, "mute")

    assert {event.server for event in made.of("server_failed")} == set(sources)
    assert made.hub.status("syntax").phase == "failed"
    assert "SyntaxError" in made.hub.status("syntax").message


async def test_one_that_fails_does_not_hold_up_the_others(bench: MakeBench, tmp_path: Path) -> None:
    made = bench({"w": workshop("w", tmp_path), "bad": script(tmp_path, "bad", "1/0\n")})
    made.hub.start(["w", "bad"])
    assert await made.tool("w", "bare", count=1) == 2
    with pytest.raises(ServerStartFailed, match="ZeroDivisionError"):
        await made.tool("bad", "any")
    (tmp_path / "bad.py").write_text((SERVERS / "workshop.py").read_text())
    await made.hub.restart("bad")
    assert await made.tool("bad", "bare", count=1) == 2


@pytest.mark.parametrize("plain", [True, False])
async def test_stopping_while_servers_hang_in_their_start(bench: MakeBench, tmp_path: Path, plain: bool) -> None:
    text = "import time, sys\nprint('begins', file=sys.stderr, flush=True)\ntime.sleep(600)\n"
    names = ["a"] if plain else ["a", "b"]
    made = bench({name: script(tmp_path, name, text) for name in names})
    made.hub.start(names)
    await until(lambda: len(made.of("server_output")) == len(names))
    pids = [made.hub.status(name).pid or 0 for name in names]
    assert all(map(is_alive, pids))
    begun = time.perf_counter()
    await made.hub.close()
    assert time.perf_counter() - begun < 1.5
    assert not any(map(is_alive, pids))
    assert "was stopped while it started" in await failure(made, "a")


@pytest.mark.parametrize("seconds", [None, 0, 0.2])
async def test_closing_at_once(bench: MakeBench, tmp_path: Path, seconds: float | None) -> None:
    made = bench({name: workshop(name, tmp_path) for name in "abc"})
    made.hub.start("abc")
    waiting = asyncio.gather(made.hub.declaration("a"), return_exceptions=True)
    if seconds is not None:
        await asyncio.sleep(seconds)
    begun = time.perf_counter()
    await made.hub.close()
    assert time.perf_counter() - begun < 1.5
    assert "was stopped while it started" in str((await waiting)[0])


async def test_a_start_may_be_given_a_limit(bench: MakeBench, tmp_path: Path) -> None:
    made = bench({"a": script(tmp_path, "a", "import time; time.sleep(600)")}, start_timeout=0.3)
    assert "not ready within 0.3 s" in await failure(made, "a")


@pytest.mark.parametrize("plain", [True, False])
async def test_a_crash_names_code_and_last_words(bench: MakeBench, tmp_path: Path, plain: bool) -> None:
    made = bench({alias: workshop(alias, tmp_path, plain=plain) for alias in "wv"})
    made.hub.start("wv")
    child = (await made.tool("w", "start_child"))["pid"]
    with pytest.raises(ServerGone) as gone:
        await made.tool("w", "crash")
    assert str(gone.value).startswith("w.crash: server 'w' is gone: its process ended with exit code 7")
    assert "last words" in str(gone.value)
    assert [(event.server, event.code) for event in made.of("server_exited")] == [("w", 7)]
    status = made.hub.status("w")
    assert (status.phase, status.code) == ("exited", 7)
    await until(lambda: not is_alive(child))
    with pytest.raises(ServerGone):
        await made.tool("w", "bare", count=1)
    assert await made.tool("v", "bare", count=1) == 2
    await made.hub.restart("w")
    assert await made.tool("w", "bare", count=1) == 2


async def test_a_signal_is_named(bench: MakeBench, tmp_path: Path) -> None:
    made = bench({"w": workshop("w", tmp_path)})
    await made.hub.declaration("w")
    call = asyncio.create_task(made.tool("w", "slow", seconds=600))
    await until(lambda: bool(made.of("server_output")))
    os.kill(made.hub.status("w").pid or 0, signal.SIGKILL)
    with pytest.raises(ServerGone, match="ended by SIGKILL"):
        await call


async def test_nothing_is_left_after_close(bench: MakeBench, tmp_path: Path) -> None:
    before = open_files()
    made = bench({alias: workshop(alias, tmp_path, plain=alias == "p") for alias in "abp"})
    made.hub.start("abp")
    pids = [(await made.tool(alias, "start_child"))["pid"] for alias in "abp"]
    pids += [made.hub.status(alias).pid or 0 for alias in "abp"]
    hanging = [asyncio.create_task(made.tool(alias, "hang")) for alias in "ap"]
    await asyncio.sleep(0.1)
    begun = time.perf_counter()
    await made.hub.close()
    assert time.perf_counter() - begun < 3
    assert not any(map(is_alive, pids))
    for call in hanging:
        with pytest.raises(ServerGone):
            await call
    await until(lambda: open_files() <= before)
    await made.hub.close()


async def test_the_forking_parent_may_die(bench: MakeBench, tmp_path: Path) -> None:
    made = bench({alias: workshop(alias, tmp_path) for alias in "ab"})
    made.hub.start("ab")
    await asyncio.gather(*(made.hub.declaration(alias) for alias in "ab"))
    stat = Path(f"/proc/{made.hub.status('a').pid}/stat").read_text().rsplit(")", 1)[1].split()
    os.kill(int(stat[1]), signal.SIGKILL)
    await until(lambda: len(made.of("server_exited")) == 2)
    await made.hub.restart("a")
    assert await made.tool("a", "bare", count=1) == 2


HOLDER = """
import asyncio, json, sys
from pathlib import Path
from tests.mcp.conftest import Bench
from tests.mcp.test_life import workshop

async def main():
    folder = Path(sys.argv[1])
    bench = Bench({a: workshop(a, folder, plain=a == "p") for a in "abp"})
    bench.hub.start("abp")
    pids = [(await bench.tool(a, "start_child"))["pid"] for a in "abp"]
    pids += [bench.hub.status(a).pid for a in "abp"]
    hanging = [asyncio.create_task(bench.tool(a, "hang")) for a in "ap"]
    await asyncio.sleep(0.1)
    print(json.dumps(pids), flush=True)
    await asyncio.gather(*hanging)

asyncio.run(main())
"""


async def test_nothing_is_left_when_ragwb_is_killed(tmp_path: Path) -> None:
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, str(tmp_path), stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert holder.stdout is not None
    pids = json.loads(await holder.stdout.readline())
    assert all(map(is_alive, pids))
    holder.kill()
    await holder.wait()
    await until(lambda: not any(map(is_alive, pids)))


async def test_a_foreign_command(bench: MakeBench, tmp_path: Path) -> None:
    source = ServerSource(
        "raw", "x", "command", tmp_path, command=(sys.executable, str(SERVERS / "raw.py")), env={"A": "1"}
    )
    made = bench({"raw": source})
    assert list((await made.hub.declaration("raw")).tools) == ["tool0", "tool1", "tool2"]
    with pytest.raises(ServerStartFailed, match="there is no server 'other'"):
        await made.tool("other", "x")


def test_any_loop_in_any_thread(tmp_path: Path) -> None:
    results: list[object] = []

    async def work() -> None:
        made = Bench({alias: workshop(alias, tmp_path, plain=alias == "p") for alias in "abp"})
        made.hub.start("abp")
        results.extend([await made.tool(alias, "bare", count=1) for alias in "abp"])
        await made.hub.close()

    thread = threading.Thread(target=lambda: asyncio.run(work()))
    thread.start()
    thread.join(30)
    assert results == [2, 2, 2]


async def test_a_server_that_holds_a_model_is_told_to_free_it(bench: MakeBench, tmp_path: Path) -> None:
    text = """
        import pathlib
        from workbench.mcp.kit import ToolServer

        app = ToolServer("m")
        freed = pathlib.Path(__file__).parent / "freed"

        @app.tool(output="->")
        def vllm_shutdown() -> None:
            freed.write_text("yes")
            if (freed.parent / "trouble").exists():
                raise RuntimeError("the GPU is gone")

        @app.tool(output="->x")
        def give():
            return {"x": 1}

        app.run(transport="stdio")
    """
    made = bench({"m": script(tmp_path, "m", text)})
    await made.hub.declaration("m")
    await made.hub.stop("m")
    assert not (tmp_path / "freed").exists(), "nothing was called, so nothing is held"
    for trouble in (False, True):
        await made.hub.call(Call("m", "give", "tool", {}, 1))
        if trouble:
            (tmp_path / "trouble").write_text("")
        await made.hub.stop("m")
        assert (tmp_path / "freed").read_text() == "yes"
    said = [event.text for event in made.events if isinstance(event, ServerOutput)]
    assert any("vllm_shutdown failed at the end: RuntimeError: the GPU is gone" in text for text in said)
