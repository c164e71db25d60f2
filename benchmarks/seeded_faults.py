"""How many planted faults `ragwb why` names rightly: `uv run python benchmarks/seeded_faults.py`.

Each fault is planted in a pipeline that runs well, and run with real servers (the model is scripted). Items that were
right before and are wrong now must be said to suffer from the planted stage and step. A fault counts as named when
most of them are. Asked of the session file, of the memory file with its pipeline, and of the memory file alone (there
only the stage counts).
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.cases.faults.planted import FAULTS, UNSEEN  # noqa: E402
from tests.cases.faults.running import WAYS, Named, run_all, servers  # noqa: E402


async def main() -> None:
    for faults, which in ((FAULTS, "faults"), (UNSEEN, "faults planted after the rules were written")):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            async with servers(folder) as hub:
                told(await run_all(folder, hub, faults), which)


def told(found: list[Named], which: str) -> None:
    for way in WAYS:
        its = [named for named in found if named.way == way]
        items, right = sum(len(named.affected) for named in its), sum(named.right for named in its)
        print(f"{way}: {sum(named.is_right for named in its)} of {len(its)} {which}, {right} of {items} items")
        for named in its:
            said = ", ".join(f"{count} x {stage} {step or ''}".strip() for (stage, step), count in named.said.items())
            mark = "ok  " if named.is_right else "MISS"
            print(f"  {mark} {named.fault.name:<42} planted: {named.fault.stage} {named.fault.step:<15} said: {said}")


if __name__ == "__main__":
    asyncio.run(main())
