"""How quick the table of items is: `uv run python benchmarks/items_table.py [items]`.

A run of 100,000 items: seconds until the table is there, until every wrong item has its verdict, and to filter and
sort it; milliseconds from a key that moves the cursor to the new picture, while verdicts are still worked out and
after. Aim: 50 ms for 95 of 100 keys.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from why import made

from workbench.cases.opening import open_runs
from workbench.tui.app import ReplayApp
from workbench.tui.desk import Desk
from workbench.tui.items_screen import ItemsScreen

KEYS = ("down",) * 60 + ("pagedown",) * 30 + ("end", "home") * 5


async def main(items: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory_big_run_20250101_120000.json"
        file.write_text(json.dumps(made(items, 4)), encoding="utf-8")
        print(f"{items:,} items, {file.stat().st_size / 1e6:.0f} MB")
        began = time.perf_counter()
        desk = Desk(open_runs(file))
        print(f"opened        {time.perf_counter() - began:6.1f} s")
        await measure(desk)


async def measure(desk: Desk) -> None:
    app, studied = ReplayApp(desk), desk.studied
    async with app.run_test(size=(160, 45)) as pilot:
        await pilot.press("T")
        began = time.perf_counter()
        while not studied.rows:
            await pilot.pause(0.02)
        print(f"table         {time.perf_counter() - began:6.1f} s")
        told("keys meanwhile", await keys(app))
        while not studied.is_whole:
            await pilot.pause(0.02)
        print(f"verdicts      {time.perf_counter() - began:6.1f} s")
        told("keys after", await keys(app))
        for name, where, sort in (("filter", "f1 < 0.5 and item % 2 == 0", ""), ("sort", "", "-f1")):
            began = time.perf_counter()
            rows = await asyncio.to_thread(studied.arranged, where, sort)
            print(f"{name:<13} {time.perf_counter() - began:6.1f} s: {len(rows):,} items")


async def keys(app: Any) -> list[float]:
    """Seconds from each key to the picture that shows it."""
    screen = app.screen
    assert isinstance(screen, ItemsScreen)
    rows, found = screen._items.rows, []
    for key in KEYS:
        before = rows.cursor
        began = time.perf_counter()
        app.simulate_key(key)
        while rows.cursor == before:  # noqa: ASYNC110
            await asyncio.sleep(0)
        screen._compositor.render_strips()
        found.append(time.perf_counter() - began)
        await asyncio.sleep(0.005)
    return found


def told(name: str, seconds: list[float]) -> None:
    p95 = statistics.quantiles(seconds, n=20)[-1]
    print(f"{name:<14} p50 {statistics.median(seconds) * 1000:.1f} ms, p95 {p95 * 1000:.1f} ms")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
