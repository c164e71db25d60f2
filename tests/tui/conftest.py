from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.tui.fakes import NOW, FakeRecord, FakeTools, Lab
from tests.tui.support import Opened, kept_mistakes, wait_less
from workbench.engine.debugger import Debugger
from workbench.engine.ports import Answering
from workbench.pipeline.prepare import prepare
from workbench.tui.app import WorkbenchApp
from workbench.tui.reloading import AskAbout

PROJECT = {
    "servers/lab/src/lab.py": "@app.tool\ndef search(query_list, top_k):\n    return []\n",
    "servers/lab/parameter.yaml": "items: [fig, apple, kiwi, date]\ntop_k: 2\nlong_enough: 7\n",
}


@pytest.fixture(autouse=True)
def same_in_every_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No clock, colour setting, time zone or folder of this machine shows in a picture."""
    for name in ("NO_COLOR", "TEXTUAL_THEME", "COLORTERM", "TEXTUAL_ANIMATIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    time.tzset()
    still = SimpleNamespace(time=lambda: NOW, monotonic=lambda: 0.0)
    for module in ("running", "session", "visiting"):
        monkeypatch.setattr(f"workbench.engine.{module}.time", still)
    monkeypatch.setattr("workbench.tui.question_dialog.HASTE_SECONDS", 0)
    wait_less(monkeypatch)
    yield
    os.environ.pop("TZ", None)
    time.tzset()


@pytest.fixture(autouse=True)
def mistakes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[BaseException]]:
    """Mistakes that the net under the screen caught: none, unless a test makes them and clears this."""
    made = kept_mistakes(monkeypatch)
    yield made
    assert not made, made


@pytest.fixture
def open_pipeline(tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Make the app for a pipeline text, over fake tools; what is left of it is closed after the test."""
    opened: list[Opened] = []

    def make(text: str, lab: Lab | None = None, *, ask_about: AskAbout | None = None, **settings: Any) -> Opened:
        for name, content in PROJECT.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        file = tmp_path / "lab.yaml"
        file.write_text("servers:\n  lab: servers/lab\n" + text, encoding="utf-8")
        tools: list[FakeTools] = []

        def make_debugger(emit: Any, user: Answering) -> Debugger:
            tools.append(FakeTools(emit, lab, user=user, **settings))
            return Debugger(prepare(file), tools[0], emit=emit, record=FakeRecord)

        app = WorkbenchApp(prepare(file), make_debugger, clock=lambda: NOW, ask_about=ask_about)
        opened.append(Opened(app, tools[0]))
        return opened[-1]

    yield make
    for one in opened:
        if one.app.engine.debugger.state.status != "closed" and one.was_started:
            asyncio.new_event_loop().run_until_complete(one.app.engine.close(3))
