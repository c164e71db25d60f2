"""How a large saved run opens, against `json.load` of the same file: `uv run python benchmarks/open_saved.py [MB ...]`.

For each size (10, 100, 1000 MB): seconds until the first visit, with one item of its lists, can be shown; seconds until
all is indexed; peak resident memory. Aims at 1 GB: 2 s and 300 MB. The file is made in a temporary folder.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ITEMS, PASSAGES = 2000, 5
FREE = 4_000_000_000
"""Bytes that must be free on the disk for the largest file."""

MEASURED = """
import resource, sys, time
from pathlib import Path
began = time.perf_counter()
file = Path(sys.argv[2])
if sys.argv[1] == "json.load":
    import json
    with file.open() as opened:
        visits = json.load(opened)
    first = time.perf_counter() - began
    visits[0], visits[0]["memory"]["memory_q_ls"][7]
else:
    from workbench.cases.large_file import LargeFile
    large = LargeFile(file)
    thread = large.start()
    while not large.runs():
        time.sleep(0.002)
    run = large.runs()[0]
    run.of_item(run.visits[0].saved["q_ls"], 7)
    first = time.perf_counter() - began
    thread.join()
    run = large.runs()[0]
    last = run.visits[-1].saved
    [run.of_item(last[name], 7) for name in last]
print(first, time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def main(sizes: list[int]) -> None:
    print(f"{'file':>8} {'':<10} {'first':>8} {'all':>8} {'memory':>9}")
    with tempfile.TemporaryDirectory() as name:
        for size in sizes:
            if shutil.disk_usage(name).free < max(FREE if size >= 1000 else 0, 3 * size * 1_000_000):
                print(f"{size:>5} MB left out: the disk has too little room")
                continue
            file = made(Path(name) / f"memory_{size}.json", size * 1_000_000)
            for way in ("json.load", "ragwb"):
                command = [sys.executable, "-c", MEASURED, way, str(file)]
                printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
                first, whole, memory = map(float, printed.split())
                print(f"{size:>5} MB {way:<10} {first:>6.2f} s {whole:>6.2f} s {memory:>6.0f} MB")
            file.unlink()


def made(file: Path, size: int) -> Path:
    """A memory file of about that many bytes: questions, then searches over and over."""
    draw = random.Random(1)
    words = ["harbour", "keeper", "the", "of", 'the "old" mill', "1342", "盐坊", "light", "built\\n", "crab soup"]
    texts = [" ".join(draw.choices(words, k=draw.randint(30, 120))) for _ in range(500)]
    begin = {"step": "benchmark.get_data", "memory": {"memory_q_ls": [f"question {n}?" for n in range(ITEMS)]}}
    with file.open("w", encoding="utf-8") as opened:
        opened.write("[" + json.dumps(begin, indent=2))
        while opened.tell() < size:
            found = [draw.choices(texts, k=PASSAGES) for _ in range(ITEMS)]
            visit = {"step": "retriever.bm25_search", "memory": {"memory_ret_psg": found}}
            opened.write(",\n" + json.dumps(visit, indent=2, ensure_ascii=False))
        opened.write("]\n")
    return file


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [10, 100, 1000])
