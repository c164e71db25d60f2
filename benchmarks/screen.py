"""How quick the workbench is, measured in a real terminal: `uv run python benchmarks/screen.py [keys]`.

1. Key to paint: from a key that moves the cursor down to the row that comes into view for it, while a run of a loop
   gives 500 events a second: in a variable of 100,000 items, in a text of 10 MB, and in a traffic pane that holds
   100,000 messages. Only the tools of the pipeline are made up; the session is kept in its file. Aim: at most 50 ms
   for 95 of 100 keys.
2. First paint, from the start of the program to the pipeline's tree. Aim: at most 1.5 times the bare app.
3. CPU while nothing happens: a pipeline just opened with its servers, and the large run above, paused. Aim: under 1 %
   of a core.

The bare app is of Textual alone, in a terminal of the same size: a list of 100,000 rows, or one line for first paint.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import re
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterable, Iterator, Mapping
from fcntl import ioctl
from functools import partial
from pathlib import Path

from start import BARE_APP, ROOT, SUITE, first_paint, ratio

from workbench.api.wiring import Wiring
from workbench.engine.debugger import Debugger
from workbench.engine.events import Emit, Event, ServerReady, WireMessage
from workbench.engine.ports import Answering, Call, CallResult, Progress
from workbench.pipeline.declaration import Argument, ServerDeclaration, ToolDeclaration
from workbench.pipeline.prepare import prepare
from workbench.pipeline.project import ServerSource

MANY, TEXT_BYTES, RATE = 100_000, 10_000_000, 500
COLUMNS, ROWS = 160, 45
KEY_AIM, PAINT_AIM, IDLE_AIM = 0.050, 1.5, 0.01
IDLE_SECONDS = 15
ENTRY, LINE, MESSAGE, LATER = 7_000_000, 7_200_000, 7_400_000, 9_000_000
"""What stands in a row that is moved to: one of these, and its number."""
MARK = re.compile(rb"7\d{6}")
DOWN, RIGHT, LEFT = b"\x1b[B", b"\x1b[C", b"\x1b[D"

PIPELINE = """
servers: {lab: lab}
pipeline:
- lab.fill
- loop:
    times: 1000000
    steps: [lab.work]
"""
LAB = ServerDeclaration(
    "lab",
    {
        "fill": ToolDeclaration("fill", "tool", (), annotation="->many,text,count"),
        "work": ToolDeclaration("work", "tool", (Argument("count"),), annotation="count->count"),
    },
)

BARE_LIST = """
from rich.segment import Segment
from textual.app import App
from textual.binding import Binding
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

class Rows(ScrollView, can_focus=True):
    BINDINGS = [Binding("down", "next")]

    def on_mount(self):
        self.virtual_size = Size(100, 100_000)
        self.focus()

    def render_line(self, y):
        return Strip([Segment(f"row {7_000_000 + y + self.scroll_offset.y}")])

    def action_next(self):
        self.scroll_to(y=self.scroll_offset.y + 1, animate=False)

class Bare(App):
    def compose(self):
        yield Rows()

Bare().run()
"""


# ---- the app that is measured


class Busy:
    """Tools that fill the panes at the first call, and then answer just often enough for so many events a second."""

    def __init__(self, emit: Emit) -> None:
        self._emit, self._told, self._begun = emit, 0, 0.0

    def counted(self, emit: Emit, event: Event) -> None:
        self._told += 1
        emit(event)

    def start(self, aliases: Iterable[str]) -> None:
        for alias in aliases:
            self._emit(ServerReady(server=alias, seconds=0.0, tools=tuple(LAB.tools)))

    async def declaration(self, alias: str) -> ServerDeclaration:
        return LAB

    async def call(self, call: Call) -> CallResult:
        if call.tool == "fill":
            for number in range(MANY):
                self._message(call, MESSAGE + number)
                if number % 1000 == 0:
                    await asyncio.sleep(0.01)
            line = "line {} of a text that is large enough to be a nuisance to whoever has to show it\n"
            lines = TEXT_BYTES // len(line.format(LINE))
            text = "".join(line.format(LINE + number) for number in range(lines))
            self._begun, self._told = time.monotonic(), 0
            return CallResult({"many": [ENTRY + number for number in range(MANY)], "text": text, "count": 0})
        self._message(call, LATER + call.visit)
        if call.on_progress is not None:
            call.on_progress(Progress(1, 2, "half of it"))
        await asyncio.sleep(max(0.0, self._told / RATE - (time.monotonic() - self._begun)))
        return CallResult({"count": call.arguments["count"] + 1})

    def _message(self, call: Call, number: int) -> None:
        now = time.time()
        self._emit(
            WireMessage(
                server="lab", way="sent", started=now, at=now, size=2, line=b"{}", method="tools/call", id=number
            )
        )

    async def restart(self, alias: str) -> None: ...

    async def stop(self, alias: str) -> None: ...

    async def take(self, sources: Mapping[str, ServerSource]) -> tuple[str, ...]:
        return ()

    async def close(self) -> None: ...


def busy_app(folder: Path) -> None:
    from workbench.tui.app import run_workbench

    (folder / "busy.yaml").write_text(PIPELINE)
    (folder / "lab" / "src").mkdir(parents=True, exist_ok=True)
    (folder / "lab" / "src" / "lab.py").touch()
    made: list[Busy] = []

    def tools(emit: Emit) -> Busy:
        made.append(Busy(emit))
        return made[-1]

    wiring = Wiring(prepare(folder / "busy.yaml", checks=False), tools=tools, folder=folder)

    def debugger(emit: Emit, user: Answering | None = None) -> Debugger:
        return wiring.debugger(lambda event: made[0].counted(emit, event) if made else emit(event), user)

    begin = time.monotonic()
    run_workbench(wiring.prepared, debugger)
    busy = made[0]
    seconds = time.monotonic() - (busy._begun or begin)
    (folder / "told").write_text(f"{busy._told} events in {seconds:.0f} s")


# ---- the terminal it is measured in


class Terminal:
    """A program in a terminal, typed at and read."""

    def __init__(self, command: list[str], folder: str, env: dict[str, str]) -> None:
        self.pid, self._end = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(command[0], command, {**env, "TERM": "xterm-256color"})
        ioctl(self._end, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.last = 0
        """The row farthest down that was seen since one was moved to."""
        self._tail = b""

    def type(self, *keys: bytes) -> None:
        """Press keys, each after the one before has had its effect."""
        for key in keys:
            os.write(self._end, key)
            if len(keys) > 1:
                self.settle(0.5)

    def read(self, seconds: float) -> bytes:
        """What it shows next, within this time."""
        if not select.select([self._end], [], [], max(0.0, seconds))[0]:
            return b""
        got = os.read(self._end, 1 << 16)
        text = self._tail + got
        self._tail = text[-16:]
        for mark in map(int, MARK.findall(text)):
            if self.last < mark <= self.last + ROWS:
                self.last = mark
        return got

    def settle(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self.read(left)

    def until(self, text: bytes, seconds: float = 60) -> None:
        seen, end = b"", time.perf_counter() + seconds
        while text not in seen:
            if time.perf_counter() > end:
                raise SystemExit(f"{text!r} was never shown: {seen[-2000:]!r}")
            seen += self.read(0.5)

    def key_to_paint(self, key: bytes) -> float:
        """Seconds until a row is shown that was never seen before."""
        wanted, begin = self.last + 1, time.perf_counter()
        self.type(key)
        while self.last < wanted:
            self.read(0.5)
            if time.perf_counter() - begin > 10:
                raise SystemExit(f"row {wanted} was never shown")
        return time.perf_counter() - begin

    def cpu(self, seconds: float) -> float:
        """The part of a core that it takes."""
        before, begin = self._used(), time.perf_counter()
        self.settle(seconds)
        return (self._used() - before) / (time.perf_counter() - begin)

    def _used(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        with contextlib.suppress(OSError):
            while self.read(20):
                pass
        self.close()

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._end)


def keys_to_paint(terminal: Terminal, first: int, count: int) -> list[float]:
    """Move down, one row after another, at no steady beat."""
    terminal.last = first
    end = time.perf_counter() + 60
    while terminal.last < first + 60:  # until the cursor is at the lower edge and each key brings one new row
        terminal.type(DOWN)
        terminal.settle(0.05)
        if time.perf_counter() > end:
            raise SystemExit(f"row {terminal.last + 1} was never shown")
    taken = []
    for number in range(count):
        if first == ENTRY and (terminal.last + 1) % 100 == 0:  # the next hundred entries are opened first
            terminal.type(DOWN, RIGHT)
        taken.append(terminal.key_to_paint(DOWN))
        terminal.settle(0.02 + number % 7 * 0.011)
    return taken


@contextlib.contextmanager
def running(command: list[str], folder: str, env: dict[str, str]) -> Iterator[Terminal]:
    terminal = Terminal(command, folder, env)
    try:
        yield terminal
    finally:
        with contextlib.suppress(OSError):
            terminal.close()


# ---- what is told


def told_keys(label: str, ours: list[float], bare: list[float]) -> None:
    (half, most), (bare_half, bare_most) = (percentiles(taken) for taken in (ours, bare))
    print(
        f"key to paint, {label:<22} {half * 1000:4.0f} / {most * 1000:4.0f} ms (p50 / p95), bare app "
        f"{bare_half * 1000:.0f} / {bare_most * 1000:.0f} ms: {half / bare_half:.1f} / {most / bare_most:.1f} x "
        f"(aim: p95 at most {KEY_AIM * 1000:.0f} ms: {met(most <= KEY_AIM)})",
        flush=True,
    )


def told_idle(label: str, ours: float, bare: float) -> None:
    against = f"{ours / bare:.1f} x" if bare else "the bare app's is too small to measure"
    print(
        f"idle CPU, {label:<26} {ours:.2%}, bare app {bare:.2%}: {against} (aim: under 1 %: {met(ours < IDLE_AIM)})",
        flush=True,
    )


def percentiles(taken: list[float]) -> tuple[float, float]:
    return statistics.median(taken), statistics.quantiles(taken, n=20)[-1]


def met(is_met: bool) -> str:
    return "met" if is_met else "NOT MET"


def main() -> None:
    keys = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    ragwb = [sys.executable, "-m", "workbench.cli.main"]
    with tempfile.TemporaryDirectory() as folder:
        # Compiled modules are kept, as they are for everybody who starts a program twice.
        env = {**os.environ, "PYTHONPYCACHEPREFIX": f"{folder}/compiled", "RAGWB_TRUST": "all"}
        env["XDG_STATE_HOME"] = env["XDG_CONFIG_HOME"] = folder
        env["PYTHONPATH"] = os.pathsep.join([str(ROOT), env.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        opened = [*ragwb, str(SUITE / "pipelines" / "02-serial-prompt.yaml")]
        ratio(
            "first paint",
            partial(first_paint, opened, b"ask_with_passages", folder, env),
            partial(first_paint, [sys.executable, "-c", BARE_APP], b"ready to look at", folder, env),
            7,
            PAINT_AIM,
        )
        with running([sys.executable, "-c", BARE_LIST], folder, env) as bare:
            bare.until(b"7000001")
            bare.settle(1)
            bare_idle = bare.cpu(IDLE_SECONDS)
            bare_keys = keys_to_paint(bare, ENTRY, keys)
        with running(opened, folder, env) as app:
            app.until(b"ask_with_passages")
            app.settle(10)  # its servers are up, and its imports done
            told_idle("just opened", app.cpu(IDLE_SECONDS), bare_idle)
        with running([sys.executable, __file__, "--app", folder], folder, env) as app:
            app.until(b"lab.work")
            app.settle(1)
            app.type(b"c")
            app.until(b"9000", 120)
            app.settle(5)  # what the first step told has been shown
            app.type(b"3", RIGHT, DOWN, RIGHT, DOWN, RIGHT)
            told_keys("100,000 items", keys_to_paint(app, ENTRY, keys), bare_keys)
            app.type(b"g", LEFT, DOWN, b"\r")
            app.settle(2)
            told_keys("text of 10 MB", keys_to_paint(app, LINE, keys), bare_keys)
            app.type(b"q", b"5", b"g")
            told_keys("100,000 messages", keys_to_paint(app, MESSAGE, keys), bare_keys)
            app.type(b"p")
            app.settle(5)
            told_idle("large run, paused", app.cpu(IDLE_SECONDS), bare_idle)
            app.type(b"q")
            app.end()
        print(f"the run gave {(Path(folder) / 'told').read_text()}, pause and idle time included")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--app"]:
        busy_app(Path(sys.argv[2]))
    else:
        main()
