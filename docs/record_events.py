"""Records a line of every type of event for `docs/events.md`: `uv run python docs/record_events.py`.

It runs a small pipeline through all that can happen to it, in a folder of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from workbench.api.sessions import opened, places
from workbench.api.wiring import Wiring
from workbench.engine.breakpoint_text import read_breakpoint
from workbench.engine.debugger import Debugger
from workbench.engine.events import Event
from workbench.engine.ports import ServerStartFailed
from workbench.engine.program import Program
from workbench.pipeline.prepare import prepare

DOCS = Path(__file__).parent
SERVER = """\
import sys
from fastmcp import Context
from workbench.mcp.kit import ToolServer

app = ToolServer("demo")


@app.tool(output="->None")
def init() -> None:
    print("warming up", file=sys.stderr, flush=True)


@app.tool(output="->q_ls")
def give() -> dict:
    return {"q_ls": ["fig", "apple"]}


@app.tool(output="q_ls->q_ls")
async def refine(q_ls: list[str], ctx: Context) -> dict:
    await ctx.report_progress(1, 2, "half way")
    return {"q_ls": [q + "?" for q in q_ls]}


@app.tool(output="q_ls->q_ls")
def route(q_ls: list[str]) -> dict:
    return {"q_ls": [{"data": q, "state": "long" if len(q) > 6 else "short"} for q in q_ls]}


@app.tool(output="q_ls->loud_ls")
def shout(q_ls: list[str]) -> dict:
    return {"loud_ls": [q.upper() for q in q_ls]}


@app.tool(output="q_ls->rare_ls")
def never(q_ls: list[str]) -> dict:
    return {"rare_ls": q_ls}


@app.tool(output="rare_ls->polished_ls")
def polish(rare_ls: list[str]) -> dict:
    return {"polished_ls": rare_ls}


@app.tool(output="q_ls->asked")
async def ask(q_ls: list[str], ctx: Context) -> dict:
    answer = await ctx.elicit("Which one?", response_type=str)
    return {"asked": answer.action}


@app.tool(output="asked->answer")
def picky(asked: str) -> dict:
    if asked != "accept":
        raise ValueError(f"nobody chose: {asked}")
    return {"answer": asked}


app.run()
"""
PIPELINE = """\
servers: {demo: servers/demo.py}
pipeline:
- demo.init
- demo.give
- loop: {times: 2, steps: [demo.refine]}
- branch:
    router: [demo.route]
    branches: {long: [demo.shout], short: [], odd: [demo.never]}
- demo.polish
- demo.ask
- demo.picky
"""
BROKEN = "servers: {broken: servers/broken.py}\npipeline: [broken.go]\n"


def project(folder: Path) -> None:
    """A project with a server for everything, and one that can't be started."""
    (folder / "servers").mkdir()
    (folder / "servers" / "demo.py").write_text(SERVER)
    (folder / "servers" / "broken.py").write_text("import a_package_nobody_has\n")
    (folder / "demo.yaml").write_text(PIPELINE)
    (folder / "broken.yaml").write_text(BROKEN)


def recorded(folder: Path) -> list[dict[str, Any]]:
    """Every event of all that happens in the project, as `--events` prints them."""
    lines: list[dict[str, Any]] = []
    for pipeline in ("demo.yaml", "broken.yaml"):
        asyncio.run(_debugged(folder, pipeline, lines))
    return lines + printed(folder, "--break", "4", "--on-break", "dump")


def printed(folder: Path, *options: str) -> list[dict[str, Any]]:
    """What the command prints."""
    command = [sys.executable, "-m", "workbench.cli.main", "run", "demo.yaml", "--events", "--quiet", "--yes", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


async def _debugged(folder: Path, pipeline: str, lines: list[dict[str, Any]]) -> None:
    prepared = prepare(folder / pipeline, checks=pipeline == "demo.yaml")
    breaks = [read_breakpoint("3.1 => {{ q_ls[0] }}", Program.of(prepared.pipeline))] if "demo" in pipeline else []
    wiring = Wiring(prepared, breaks=breaks, **places(folder))
    # As the command does it: through JSON.
    log = wiring.event_log(lambda line: lines.append(json.loads(json.dumps(line, default=str))))
    pids: list[int] = []

    def tell(event: Event) -> None:
        pids.extend([event.pid] if event.type == "server_ready" else [])
        log(event)

    try:
        async with opened(wiring, tell) as debugger:
            await _everything(debugger, folder, pids)
    except ServerStartFailed:
        pass


async def _everything(debugger: Debugger, folder: Path, pids: list[int]) -> None:
    failed = await debugger.run("continue")
    assert failed.reason == "failed", failed
    debugger.edit_variable("asked", "accept")
    finished = await debugger.retry()
    assert finished.reason == "finished", finished
    await debugger.go_to(3)
    debugger.edit_input("q_ls", ["pear", "quince"])
    await debugger.run("over")
    os.kill(pids[-1], signal.SIGKILL)
    while (await debugger.run("over")).reason == "step":
        pass
    await debugger.retry()
    shutil.rmtree(folder / "output")
    (folder / "output").touch()
    await debugger.switch_to(1)
    (folder / "output").unlink()
    pipeline = debugger.prepared.pipeline.file
    pipeline.write_text(PIPELINE.replace("times: 2", "times: 1"))
    await debugger.reload(debugger.prepared.again(), ("demo",))
    pipeline.write_text(PIPELINE)


def examples(lines: list[dict[str, Any]], folder: Path) -> list[str]:
    """One line of each type: the one with the most fields, and of those the shortest; no path of this machine's."""
    best: dict[str, str] = {}
    for line in sorted(lines, key=lambda line: (-len(line), len(json.dumps(line)))):
        best.setdefault(line["type"], json.dumps(line, ensure_ascii=False))
    replaced = [(str(folder.resolve()), "/home/you/project"), (sys.executable, "/usr/bin/python3")]
    for old, new in replaced:
        best = {kind: text.replace(old, new) for kind, text in best.items()}
    return [best[kind] for kind in sorted(best)]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        project(here)
        (DOCS / "events.examples.jsonl").write_text("\n".join(examples(recorded(here), here)) + "\n", encoding="utf-8")
