"""Real servers that ask over stdio, from the pipeline's file to the session file."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tui.support import Keys, Opened
from workbench.api.wiring import Wiring
from workbench.engine.events import ServerReady
from workbench.pipeline.prepare import prepare
from workbench.tui.app import WorkbenchApp
from workbench.tui.form_dialog import FormDialog
from workbench.tui.writing_dialog import SamplingDialog

SERVER = """
from fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent
from pydantic import BaseModel, Field

app = FastMCP("desk")

class Booking(BaseModel):
    seats: int = Field(default=2, ge=1, le=8)
    api_key: str

@app.tool
async def book(ctx: Context) -> dict:
    answer = await ctx.elicit("Which table?", response_type=Booking)
    seats, key = answer.data.seats, answer.data.api_key
    return {"table": f"for {seats}, with a key of {len(key)} letters"}

@app.tool
async def write(ctx: Context) -> dict:
    said = SamplingMessage(role="user", content=TextContent(type="text", text="Say it"))
    answer = await ctx.session.create_message([said], max_tokens=9, system_prompt="Be brief")
    return {"said": answer.content.text}

app.run(show_banner=False)
"""
MODEL = """
from workbench.mcp.kit import ToolServer

app = ToolServer("generation")

@app.tool(output="prompt_ls->ans_ls")
def generate(prompt_ls: list[str], system_prompt: str = "") -> dict:
    return {"ans_ls": [f"{system_prompt}: {prompt}!" for prompt in prompt_ls]}

app.run()
"""
PIPELINE = """
servers: {desk: servers/desk, generation: servers/generation}
pipeline:
- desk.book
- desk.write
- generation.generate: {input: {prompt_ls: [x]}}
"""
KEY = "sesame-open-0815"


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("workbench.tui.question_dialog.HASTE_SECONDS", 0)
    for name, text in (("desk", SERVER), ("generation", MODEL)):
        file = tmp_path / "servers" / name / "src" / f"{name}.py"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    (tmp_path / "p.yaml").write_text(PIPELINE)
    (tmp_path / ".ragwb.yaml").write_text("call_timeout: 0.8\n")
    prepared = prepare(tmp_path / "p.yaml")
    yield Opened(WorkbenchApp(prepared, Wiring(prepared).debugger), tools=None)  # type: ignore[arg-type]
    monkeypatch.undo()


async def test_a_form_and_a_models_answer(opened: Opened, tmp_path: Path) -> None:
    app = opened.app
    async with app.run_test(size=(160, 45)) as pilot:
        keys = Keys(opened, pilot)
        await keys.until(lambda: "generation is ready" in keys.text(), 20)
        await pilot.press("n")
        await keys.until(lambda: isinstance(app.screen, FormDialog), 10)
        assert "desk asks · 1 desk.book · visit 1" in keys.text()
        await pilot.press("backspace", "5", "down")
        for _ in range(10):  # longer than a call may take
            await pilot.pause(0.1)
        await pilot.press(*KEY, "enter")
        await keys.settle()
        assert opened.debugger.state.pool.variables["result"].value == {"table": "for 5, with a key of 16 letters"}
        await pilot.press("n")
        await keys.until(lambda: isinstance(app.screen, SamplingDialog), 10)
        await pilot.press("ctrl+g")
        await keys.until(lambda: "Be brief: Say it!" in keys.text(), 10)
        await pilot.press("ctrl+a", *"edited", "ctrl+s")
        await keys.settle()
        assert opened.debugger.state.pool.variables["result"].value == {"said": "edited"}
        await pilot.press("5", "m")
        await pilot.pause()
        rows = [line for line in keys.text().splitlines() if "elicitation/create" in line or "sampling/create" in line]
        assert [("←" in row, "→" in row, "visit" in row) for row in rows] == [
            (True, False, True),
            (False, True, True),
        ] * 2
        await pilot.press("q")
        await keys.until(lambda: opened.debugger.state.status == "closed", 10)
    files = [file for folder in ("sessions", "output") for file in (tmp_path / folder).iterdir()]
    assert files
    assert all(KEY.encode() not in file.read_bytes() for file in files)


async def test_a_server_that_dies_takes_its_form_along(opened: Opened) -> None:
    app = opened.app
    async with app.run_test(size=(100, 30)) as pilot:
        keys = Keys(opened, pilot)
        pids: dict[str, int | None] = {}
        await keys.until(
            lambda: "desk" in {name for name, s in opened.screen._model.servers.items() if s.phase == "ready"}, 20
        )
        for line in opened.screen._model.traffic.lines:
            if isinstance(line.event, ServerReady):
                pids[line.event.server] = line.event.pid
        await pilot.press("n")
        await keys.until(lambda: isinstance(app.screen, FormDialog), 10)
        os.kill(pids["desk"] or 0, signal.SIGKILL)
        await keys.until(lambda: app.screen is opened.screen, 10)
        await keys.until(lambda: opened.debugger.state.status == "stopped", 10)
        await keys.until(lambda: "failed 1 desk.book" in keys.text())
        assert "waits for an answer" not in keys.text()
        await pilot.press("q")
        await keys.until(lambda: opened.debugger.state.status == "closed", 10)
