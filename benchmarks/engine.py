"""What the engine itself costs.

`uv run --with langgraph --with langgraph-checkpoint-sqlite python benchmarks/engine.py`

1. A step with 1,000 items in 50 variables, the tool answering at once: without a record against a bare langgraph step
   without checkpointer (aim: at most 1), and with the session file against its SQLite checkpointer (aim: at most 1/3).
2. The same step after 10,000 visits against after 10 (aim: about 1).
3. Memory and session file for 1,000 visits that each change one of 50 variables of 1 MB, and for a loop that changes
   3 of 10,000 items, against the bytes that changed (aim: at most 1.2).
4. Going back 1,000 visits against going back one (aim: about 1).

Without langgraph its lines are left out.
"""

from __future__ import annotations

import asyncio
import importlib.util
import random
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterable, Mapping
from pathlib import Path

from workbench.engine.debugger import Debugger
from workbench.engine.ports import Call, CallResult
from workbench.engine.timeline import Timeline
from workbench.pipeline.declaration import Argument, ServerDeclaration, ToolDeclaration
from workbench.pipeline.prepare import Prepared, prepare
from workbench.pipeline.project import ServerSource
from workbench.record.memory_file import MemoryFile
from workbench.record.pipeline_then import PipelineThen
from workbench.record.run_record import RunRecord
from workbench.record.session_writer import SessionWriter

VARIABLES, ITEMS = 50, 1000
WORDS = [a + b + c + " " for a in "bdfgklmnprst" for b in "aeiou" for c in "lmnrst"]
NAMES = ["q_ls", *(f"v{n}_ls" for n in range(1, VARIABLES))]
LAB = ServerDeclaration(
    "lab",
    {
        "give": ToolDeclaration("give", "tool", (), annotation=f"->{','.join(NAMES)}"),
        "change": ToolDeclaration("change", "tool", (Argument("values"),), annotation="q_ls->q_ls"),
    },
)


class Instant:
    """Tools that answer at once. ``sizes`` are the letters of each item; ``changed`` items differ in each answer."""

    def __init__(self, items: int, letters: int, changed: int | None = None) -> None:
        self.items, self.letters, self.changed = items, letters, changed
        self.count = 0

    def start(self, aliases: Iterable[str]) -> None:
        pass

    async def declaration(self, alias: str) -> ServerDeclaration:
        return LAB

    async def call(self, call: Call) -> CallResult:
        self.count += 1
        if call.tool == "give":
            return CallResult({name: self._list(name) for name in NAMES})
        values = list(call.arguments["values"])
        for place in range(self.changed if self.changed is not None else self.items):
            values[place * 7 % self.items] = self.text(f"{self.count}.{place}")
        return CallResult({"q_ls": values})

    def _list(self, name: str) -> list[str]:
        return [self.text(f"{name}.{n}") for n in range(self.items)]

    def text(self, begin: str) -> str:
        """Letters that do not compress to nothing, as real text does not."""
        words = random.Random(begin)
        return (begin + " " + "".join(words.choices(WORDS, k=self.letters // 4 + 1)))[: self.letters]

    async def restart(self, alias: str) -> None:
        pass

    async def stop(self, alias: str) -> None:
        pass

    async def take(self, sources: Mapping[str, ServerSource]) -> tuple[str, ...]:
        return ()

    async def close(self) -> None:
        pass


class Unwritten(RunRecord):
    """A record that writes no memory file: only the session's cost is looked at."""

    async def complete(self, timeline: Timeline) -> str | None:
        return None


def prepared(folder: Path, rounds: int) -> Prepared:
    server = folder / "servers" / "lab" / "src"
    server.mkdir(parents=True, exist_ok=True)
    (server / "lab.py").write_text("raise SystemExit\n")
    file = folder / f"p{rounds}.yaml"
    steps = f"- lab.give\n- loop: {{times: {rounds}, steps: [lab.change]}}\n"
    file.write_text(f"servers: {{lab: servers/lab}}\npipeline:\n{steps}")
    return prepare(file, checks=False)


async def steps(folder: Path, rounds: int, tools: Instant, *, keeps: bool) -> tuple[list[float], Debugger, Path | None]:
    """Seconds of each round of a run."""
    path = folder / f"s{time.monotonic_ns()}.ragwb" if keeps else None
    session = SessionWriter(path, {}, PipelineThen()) if path is not None else None
    record = Unwritten(MemoryFile(folder, "p"), session)
    debugger = Debugger(prepared(folder, rounds), tools, emit=lambda event: None, record=lambda: record)
    await debugger.open(wait_for_servers=True)
    await debugger.run("over")
    await debugger.run("into")
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        await debugger.run("into")
        times.append(time.perf_counter() - begin)
    await debugger.close()
    return times, debugger, path


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


async def cost_of_a_step(folder: Path) -> None:
    bare, _, _ = await steps(folder, 300, Instant(ITEMS, 40, changed=0), keeps=False)
    kept, _, _ = await steps(folder, 300, Instant(ITEMS, 40, changed=3), keeps=True)
    mine, mine_kept = statistics.median(bare), statistics.median(kept)
    print(f"a step: {ms(mine)} without a record, {ms(mine_kept)} with the session file")
    if importlib.util.find_spec("langgraph") is not None:
        from langgraph_step import langgraph_steps

        theirs, theirs_kept = langgraph_steps(folder, VARIABLES, ITEMS)
        print(f"  langgraph: {ms(theirs)} without checkpointer: {mine / theirs:.2f} (aim: at most 1)")
        print(f"  langgraph: {ms(theirs_kept)} with SQLite: {mine_kept / theirs_kept:.2f} (aim: at most 0.33)")


async def cost_after_many_visits(folder: Path) -> None:
    times, _, _ = await steps(folder, 10_000, Instant(ITEMS, 40, changed=3), keeps=False)
    early, late = statistics.median(times[5:105]), statistics.median(times[-100:])
    print(f"a step after 10,000 visits: {ms(late)}, after 10: {ms(early)}: {late / early:.2f} (aim: about 1)")


async def size_of_a_timeline(folder: Path, label: str, tools: Instant, rounds: int) -> None:
    """First values count as changed too. In memory, a text is taken to be as large as Python holds it."""
    items = VARIABLES * tools.items + rounds * (tools.items if tools.changed is None else tools.changed)
    held = items * (sys.getsizeof(tools.text("")) + 8)
    tracemalloc.start()
    _, debugger, path = await steps(folder, rounds, tools, keeps=True)
    memory, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path is not None
    written = items * tools.letters
    print(
        f"{label}: {written / 1e6:.1f} MB changed; memory {memory / held:.2f} x of {held / 1e6:.1f} MB held, "
        f"file {path.stat().st_size / written:.2f} x (aim: at most 1.2)"
    )
    await debugger.close()


async def going_back(folder: Path) -> None:
    _, debugger, _ = await steps(folder, 1_000, Instant(ITEMS, 40, changed=3), keeps=False)
    debugger.state = type(debugger.state)(**{**vars(debugger.state), "status": "stopped"})
    near, far = [], []
    for _ in range(200):
        begin = time.perf_counter()
        await debugger.go_to(1000)
        near.append(time.perf_counter() - begin)
        await debugger.go_to_end()
        begin = time.perf_counter()
        await debugger.go_to(2)
        far.append(time.perf_counter() - begin)
        await debugger.go_to_end()
    one, many = statistics.median(near), statistics.median(far)
    print(f"going back: one visit {ms(one)}, 999 visits {ms(many)}: {many / one:.2f} (aim: about 1)")


async def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        await cost_of_a_step(folder)
        await cost_after_many_visits(folder)
        whole = Instant(100, 10_000)
        await size_of_a_timeline(folder, "1,000 visits of 1 MB", whole, 1_000)
        few = Instant(10_000, 100, changed=3)
        await size_of_a_timeline(folder, "3 of 10,000 items, 1,000 rounds", few, 1_000)
        await going_back(folder)


if __name__ == "__main__":
    asyncio.run(main())
