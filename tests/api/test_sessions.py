"""The debugger in the hands of a program."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

import workbench
from tests.support import CONFORMANCE

LAB = "servers: {lab: servers/lab}\npipeline:\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "servers").mkdir()
    (tmp_path / "servers" / "lab").symlink_to(CONFORMANCE / "servers" / "lab")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAGWB_TRUST")
    return tmp_path


def write(project: Path, steps: str) -> Path:
    file = project / "p.yaml"
    file.write_text(LAB + steps, encoding="utf-8")
    return file


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_import_is_cheap() -> None:
    script = "import workbench, sys; print(' '.join(m for m in sys.modules if m.startswith('workbench')))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["workbench"]


@pytest.mark.parametrize("name", workbench._PLACES)
def test_everything_that_is_offered_is_there(name: str) -> None:
    assert getattr(workbench, name) is not None
    assert name in dir(workbench)
    stub = Path(workbench.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    assert f"import {name} as {name}\n" in stub


async def test_servers_are_stopped_whatever_happens(project: Path) -> None:
    pids: list[int] = []

    def note(event: workbench.Event) -> None:
        if event.type == "server_ready":
            pids.append(event.body()["pid"])

    async def fail() -> None:
        async with workbench.open(write(project, "- lab.get_items\n"), on_event=note) as debugger:
            await debugger.run("over")
            assert is_alive(pids[0])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert len(pids) == 1
    assert not is_alive(pids[0])


async def test_a_cancelled_program_leaves_nothing(project: Path) -> None:
    pids: list[int] = []

    async def forever() -> None:
        async with workbench.open(write(project, "- lab.get_items\n"), on_event=note):
            await asyncio.Event().wait()

    def note(event: workbench.Event) -> None:
        if event.type == "server_ready":
            pids.append(event.body()["pid"])
            task.cancel()

    task = asyncio.create_task(forever())
    await asyncio.wait([task])
    assert task.cancelled()
    assert not is_alive(pids[0])


async def test_a_server_that_does_not_start(project: Path) -> None:
    (project / "servers" / "broken.py").write_text("import a_package_nobody_has\n")
    (project / "b.yaml").write_text("servers: {broken: servers/broken.py}\npipeline: [broken.go]\n")
    with pytest.raises(workbench.ServerStartFailed, match="No module named 'a_package_nobody_has'"):
        async with workbench.open("b.yaml"):
            pass
    assert not list((project / "sessions").iterdir())


async def test_parameters_and_the_folder(project: Path) -> None:
    file = write(project, "- lab.get_items\n- lab.tag\n")
    for sets in (["lab.suffix='?'"], {"lab.suffix": "?"}):
        async with workbench.open(file, sets=sets, folder=project / "out", keeps_session=False) as debugger:
            await debugger.run("continue")
            assert debugger.evaluate("tagged_ls[0]") == "fig?"
            assert debugger.file is None
    assert Path(debugger.state.memory or "").parent == project / "out" / "output"
    assert not (project / "output").exists()


async def test_a_text_is_a_single_one(project: Path) -> None:
    file = write(project, "- lab.get_items\n- lab.tag\n")
    async with workbench.open(file, sets="lab.suffix='?'", breakpoints="2", watches="tagged_ls written") as debugger:
        assert (await debugger.run("continue")).step == "2"
        assert (await debugger.run("continue")).why == "watch: tagged_ls was written"
        assert debugger.evaluate("tagged_ls[0]") == "fig?"


async def test_a_step_that_fails_is_mended(project: Path) -> None:
    file = write(project, "- lab.get_items\n- lab.tag: {input: {q_ls: 3}}\n")
    async with workbench.open(file) as debugger:
        stopped = await debugger.run("continue")
        assert (stopped.reason, stopped.visit) == ("failed", 2)
        debugger.edit_input("q_ls", ["a", "b", "c", "d"])
        assert (await debugger.retry()).reason == "finished"


async def test_a_session_is_gone_on_with(project: Path) -> None:
    async with workbench.open(
        write(project, "- lab.get_items\n- lab.tag\n"), breakpoints=["2: round == 9"]
    ) as debugger:
        await debugger.run("over")
        session = debugger.file
    assert session is not None
    started: list[str] = []
    async with workbench.resume(session, starts_servers=False, on_event=lambda e: started.append(e.type)) as debugger:
        assert [visit.name for visit in debugger.visits] == ["lab.get_items"]
        assert debugger.breakpoints.by_step["2"].condition == "round == 9"
        assert "server_starting" not in started
        (called,) = [m for m in await debugger.heard() if m.type == "message" and m.method == "tools/call" and m.visit]
        assert (called.server, called.visit) == ("lab", 1)
        await debugger.run("continue")
        assert "server_starting" in started
    with pytest.raises(workbench.SessionUnreadable):
        async with workbench.resume(project / "p.yaml"):
            pass


async def test_what_on_event_raises_harms_no_step(project: Path, caplog: pytest.LogCaptureFixture) -> None:
    def fails(event: workbench.Event) -> None:
        raise ValueError("mine")

    with caplog.at_level(logging.ERROR, "ragwb"):
        async with workbench.open(write(project, "- lab.get_items\n"), on_event=fails) as debugger:
            assert (await debugger.run("continue")).reason == "finished"
    assert "ValueError: mine" in caplog.text


async def test_events_while_it_runs(project: Path) -> None:
    events = workbench.EventStream()

    async def drive() -> None:
        async with workbench.open(write(project, "- lab.get_items\n"), on_event=events) as debugger:
            await debugger.run("continue")

    task = asyncio.create_task(drive())
    kinds = [event.type async for event in events]
    await task
    assert kinds[0] == "session_started"
    assert kinds[-1] == "server_exited"


async def test_a_stream_ends_where_nothing_begins() -> None:
    events = workbench.EventStream()
    with pytest.raises(workbench.PipelineError):
        async with workbench.open("no-such.yaml", on_event=events):
            pass
