"""How long a start takes, as ratios within one run: `uv run python benchmarks/start.py [rounds]`.

1. `ragwb run` of conformance 01 (one server) and 02 (two servers), build included, against a bare `fastmcp.Client`
   that starts the same servers one after another and makes the same calls. Aims: at most 1.3 and 0.6.
2. First paint of the workbench against a Textual app that shows one line. Aim: at most 1.5.

Every figure is the median of alternating runs; the absolute times depend on the machine and say little.
"""

from __future__ import annotations

import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUITE = ROOT / "tests" / "conformance"
PIPELINES = {"01 (one server)": "01-single-server", "02 (two servers)": "02-serial-prompt"}

BARE_CLIENT = """
import asyncio, os, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

suite, name = sys.argv[1:]
env = {**os.environ, "PYTHONPATH": os.environ["COMPAT"]}

def client(server):
    script = f"{suite}/servers/{server}/src/{server}.py"
    return Client(StdioTransport(sys.executable, [script], env=env, keep_alive=False))

async def main():
    async with client("lab") as lab:
        got = (await lab.call_tool("get_items", {"items": ["fig", "apple", "kiwi", "date"]})).structured_content
        found = (await lab.call_tool("search", {"query_list": got["q_ls"], "top_k": 2})).structured_content
        if name.startswith("02"):
            async with client("prompt") as prompt:
                import json
                given = {"q_ls": json.dumps(got["q_ls"]), "ret_psg": json.dumps(found["ret_psg"]), "greeting": "hi"}
                asked = await prompt.get_prompt("ask_with_passages", given)
                texts = [message.content.text for message in asked.messages]
                await lab.call_tool("generate", {"prompt_ls": texts})

asyncio.run(main())
"""

BARE_APP = """
from textual.app import App
from textual.widgets import Static

class Bare(App):
    def compose(self):
        yield Static("ready to look at")

Bare().run()
"""


def seconds(command: list[str], folder: str, env: dict[str, str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def first_paint(command: list[str], mark: bytes, folder: str, env: dict[str, str]) -> float:
    """Seconds from exec until the mark has been written to a terminal of 160 x 45."""
    begin = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(command[0], command, {**env, "TERM": "xterm-256color", "COLUMNS": "160", "LINES": "45"})
    seen = b""
    while mark not in seen and time.perf_counter() - begin < 30:
        if select.select([terminal], [], [], 0.5)[0]:
            try:
                seen += os.read(terminal, 1 << 16)
            except OSError:
                break
    taken = time.perf_counter() - begin
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    os.close(terminal)
    if mark not in seen:
        raise SystemExit(f"{command} never showed {mark!r}")
    return taken


def ratio(label: str, ours: Callable[[], float], theirs: Callable[[], float], rounds: int, aim: float) -> None:
    ours(), theirs()  # once, so that compiled modules and files are warm for both
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    mine, other = (statistics.median(pair[n] for pair in pairs) for n in (0, 1))
    print(f"{label:<28} {mine:6.2f} s against {other:6.2f} s: {mine / other:.2f} (aim: at most {aim})", flush=True)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    ragwb = [sys.executable, "-m", "workbench.cli.main"]
    with tempfile.TemporaryDirectory() as folder:
        # Compiled modules are kept, as they are for everybody who starts a program twice.
        env = {**os.environ, "COMPAT": str(ROOT / "workbench" / "mcp" / "compat"), "RAGWB_TRUST": "all"}
        env["PYTHONPYCACHEPREFIX"] = f"{folder}/compiled"
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        for (label, name), aim in zip(PIPELINES.items(), (1.3, 0.6), strict=True):
            pipeline = str(SUITE / "pipelines" / f"{name}.yaml")
            ratio(
                f"run of {label}",
                lambda pipeline=pipeline: seconds([*ragwb, "run", pipeline], folder, env),
                lambda name=name: seconds([sys.executable, "-c", BARE_CLIENT, str(SUITE), name], folder, env),
                rounds,
                aim,
            )
        opened = [*ragwb, str(SUITE / "pipelines" / "02-serial-prompt.yaml")]
        ratio(
            "first paint",
            lambda: first_paint(opened, b"ask_with_passages", folder, env),
            lambda: first_paint([sys.executable, "-c", BARE_APP], b"ready to look at", folder, env),
            rounds,
            1.5,
        )


if __name__ == "__main__":
    main()
