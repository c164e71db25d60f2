"""Scripts that were written for UltraRAG's Python API."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import CONFORMANCE

SCRIPT_HEAD = """\
import asyncio, sys
from ultrarag.api import PipelineCall, ToolCall, initialize

def told(work):
    try:
        print(work())
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""
CALLS = """
initialize(["lab"], server_root="servers")
print(ToolCall.lab.tag(["a"], "?"))
print(ToolCall.lab.tag(q_ls=["a"]))
print(ToolCall.lab.search(["a"], top_k=1)["ret_psg"])
told(lambda: ToolCall.lab.tag())
told(lambda: ToolCall.lab.tag(q_ls=None))
told(lambda: ToolCall.lab.tag(["a"], "?", 3))
told(lambda: ToolCall.lab.tag(["a"], color=1))
told(lambda: ToolCall.lab.no_such())
told(lambda: ToolCall.other)
told(lambda: initialize(["nobody"], server_root="servers"))
"""
SAID = """\
{'tagged_ls': ['a?']}
{'tagged_ls': ['a!']}
[['a#0']]
ValueError: [UltraRAG Error] Missing value for key(s): ['q_ls']
ValueError: [UltraRAG Error] Missing value for key(s): ['q_ls']
ValueError: [UltraRAG Error] Expected at most 2 positional args, got 3
ValueError: [UltraRAG Error] Unexpected keyword arg: 'color'
ValueError: [UltraRAG Error] Tool no_such not found in server lab configuration!
AttributeError: Server other has not been initialized!
ValueError: Server path servers/nobody/src/nobody.py does not exist!
"""
COUNTER = """\
from ultrarag.server import UltraRAG_MCP_Server
app = UltraRAG_MCP_Server("counter")
count = 0

@app.tool(output="->n")
def count_on() -> dict:
    global count
    count += 1
    app.logger.info("counted")
    return {"n": count}

app.run(transport="stdio")
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "servers").mkdir()
    (tmp_path / "servers" / "lab").symlink_to(CONFORMANCE / "servers" / "lab")
    (tmp_path / "servers" / "counter" / "src").mkdir(parents=True)
    (tmp_path / "servers" / "counter" / "src" / "counter.py").write_text(COUNTER)
    (tmp_path / "p.yaml").write_text("servers: {lab: servers/lab}\npipeline:\n- lab.get_items\n- lab.tag\n")
    (tmp_path / "bad.yaml").write_text(
        "servers: {lab: servers/lab}\npipeline:\n- lab.get_items\n- lab.tag: {input: {q_ls: 3}}\n"
    )
    (tmp_path / "few.yaml").write_text("lab: {items: [one], suffix: '.'}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAGWB_TRUST")
    return tmp_path


def run(project: Path, script: str) -> subprocess.CompletedProcess[str]:
    (project / "script.py").write_text(SCRIPT_HEAD + script)
    command = [sys.executable, "-m", "workbench.ultrarag", "script.py", "an argument"]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, timeout=60)


def test_tools_are_functions(project: Path) -> None:
    done = run(project, CALLS)
    assert done.stdout == SAID, done.stderr


def test_a_server_lives_from_call_to_call_and_not_longer(project: Path) -> None:
    script = """
initialize(["counter"], "servers", log_level="info")
print(ToolCall.counter.count_on(), ToolCall.counter.count_on())
initialize(["counter"], "servers", log_level="error")
print(ToolCall.counter.count_on())
"""
    done = run(project, script)
    assert done.stdout == "{'n': 1} {'n': 2}\n{'n': 1}\n", done.stderr
    assert done.stderr.count("counted") == 2
    left = [p for p in Path("/proc").glob("[0-9]*/cwd") if _leads_to(p, project)]
    assert left == []


def _leads_to(link: Path, folder: Path) -> bool:
    try:
        return os.readlink(link) == str(folder) and link.parent.name != str(os.getpid())
    except OSError:
        return False


def test_pipelines_are_functions(project: Path) -> None:
    script = """
result = PipelineCall("p.yaml", "few.yaml")
print(result["final_result"])
print([entry["step"] for entry in result["all_results"]], result["all_results"][1]["memory"])
told(lambda: PipelineCall("bad.yaml", "few.yaml"))
told(lambda: PipelineCall("none.yaml", None))
print(sys.argv, __name__)
"""
    done = run(project, script)
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        "{'tagged_ls': ['one.']}",
        "['lab.get_items', 'lab.tag'] {'memory_tagged_ls': ['one.']}",
    ], done.stderr
    assert lines[2].startswith("StepFailed: step 2 failed: lab.tag")
    assert any(line.startswith("PipelineError: none.yaml: no such file") for line in lines)
    assert lines[-1] == "['script.py', 'an argument'] __main__"
    assert not (project / "sessions").exists()


def test_where_a_loop_runs_they_are_tasks(project: Path) -> None:
    script = """
async def main():
    initialize(["lab"], "servers")
    tagged, result = ToolCall.lab.tag(["a"]), PipelineCall("p.yaml", "few.yaml")
    print(type(tagged).__name__, (await tagged)["tagged_ls"], (await result)["final_result"])
    try:
        await ToolCall.lab.tag()
    except ValueError as error:
        print(error)

asyncio.run(main())
"""
    done = run(project, script)
    assert done.stdout.splitlines() == [
        "Task ['a!'] {'tagged_ls': ['one.']}",
        "[UltraRAG Error] Missing value for key(s): ['q_ls']",
    ], done.stderr


def test_a_script_that_is_not_there() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "workbench.ultrarag", "no.py"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "no.py: there is no such script\n")
