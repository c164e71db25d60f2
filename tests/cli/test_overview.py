"""``ragwb`` alone, and pipelines called by their names."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workbench.cli.main import main

SAYHELLO = "# Says hello.\nservers: {sayhello: servers/sayhello}\npipeline: [sayhello.greet]\n"
SLEEPS = """\
import time
from workbench.mcp.kit import ToolServer
app = ToolServer("sleeps")
@app.tool(output="->x")
def nap() -> dict:
    return {"x": "rested"}
@app.tool(output="x->x")
def sleep(x: str) -> dict:
    time.sleep(60)
    return {"x": x}
app.run()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines_with(text: str, shown: str) -> list[str]:
    return [line for line in shown.splitlines() if text in line]


def test_an_empty_folder_says_what_can_be_done(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    out, err = capsys.readouterr()
    assert "ragwb new DIR" in out
    assert re.search(r"  sayhello +The smallest pipeline: one server, one step\.", out)
    assert "bm25 " in out
    assert err == ""


def test_a_folder_lists_the_newest_first_with_date_size_and_state(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "old.yaml").write_text(SAYHELLO)
    (folder / "notes.yaml").write_text("just: notes\n")
    os.utime(folder / "old.yaml", (1_000_000_000, 1_000_000_000))
    (folder / "pipelines").mkdir()
    (folder / "pipelines" / "new.yaml").write_text(SAYHELLO)
    assert main(["run", "old.yaml"]) == 0
    assert main(["run", "old.yaml", "--set", "sayhello.name=[1]"]) == 1
    capsys.readouterr()
    assert main([]) == 0
    out = capsys.readouterr().out
    new, old = lines_with(".yaml", out)
    assert "pipelines/new.yaml  Says hello." in new
    assert "2001-09-09" in old
    assert f"{len(SAYHELLO)} B" in old
    (session,) = lines_with(".ragwb", out)
    assert session.endswith("finished, 1 visit")
    runs = lines_with("output/memory__old_", out)
    assert len(runs) == 2
    assert any(run.endswith("1 visit, the last of sayhello.greet") for run in runs)


def test_many_files_and_names_that_play_tricks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "output").mkdir()
    for number in range(20):
        (folder / "output" / f"memory_\x1b[2J_{number}.json").write_text("{not json")
    (folder / "sessions").mkdir()
    (folder / "sessions" / "no.ragwb").write_text("no session")
    (folder / "sessions" / "half.ragwb").write_bytes(b"SQLite format 3\0" + b"\0" * 100)
    (folder / "folder.yaml").mkdir()
    assert main([]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "and 12 older" in out
    assert len(lines_with("can't be read", out)) == 2


def test_states_of_sessions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = folder / "servers" / "sleeps" / "src"
    server.mkdir(parents=True)
    (server / "sleeps.py").write_text(SLEEPS)
    pipeline = "servers: {sleeps: servers/sleeps}\npipeline: [sleeps.nap, sleeps.sleep]\n"
    (folder / "cut.yaml").write_text(pipeline)
    (folder / "stopped.yaml").write_text(pipeline)
    wrong = "sleeps.sleep: {input: {x: $y}}"
    (folder / "failed.yaml").write_text(f"servers: {{sleeps: servers/sleeps}}\npipeline: [sleeps.nap, {wrong}]\n")
    (folder / "servers" / "sleeps" / "parameter.yaml").write_text("y: [1]\n")
    assert main(["run", "failed.yaml"]) == 1
    for name, number in (("cut", signal.SIGKILL), ("stopped", signal.SIGTERM)):
        command = [sys.executable, "-m", "workbench.cli.main", "run", f"{name}.yaml"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        while "sleeps.nap" not in process.stderr.readline():
            pass
        time.sleep(0.3)
        process.send_signal(number)
        process.communicate()
    capsys.readouterr()
    main([])
    out = capsys.readouterr().out
    assert lines_with("failed-", out)[0].endswith("failed at 2, 1 visit")
    assert lines_with("stopped-", out)[0].endswith("interrupted, 1 visit")
    assert lines_with("cut-", out)[0].endswith("cut off, or running, 1 visit")


def test_a_name_is_looked_up_here_and_then_among_the_shipped(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "sayhello"]) == 0
    out, err = capsys.readouterr()
    assert out == "msg: Hello, harbour!\n"
    assert "sayhello: no file of this folder; taken as the pipeline that ragwb ships" in err
    (folder / "pipelines").mkdir()
    (folder / "pipelines" / "sayhello.yaml").write_text(SAYHELLO)
    assert main(["run", "sayhello.yaml"]) == 0
    out, err = capsys.readouterr()
    assert out == "msg: Hello, world!\n"
    assert "sayhello.yaml: taken as pipelines/sayhello.yaml" in err
    assert main(["check", "bm25"]) == 0
    assert main(["sayhello"]) == 2
    assert "needs a terminal" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["nothing", "pipelines/sayhello.yaml", "../sayhello", "sayhello.json"])
def test_other_names_are_files_that_are_not_there(folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["run", name]) == 2
    assert "no such file" in capsys.readouterr().err
