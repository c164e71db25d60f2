"""How long a render takes: `python benchmarks/prompt.py [ITEMS]`.

A question with five passages for each item: rendered in this process, and by the server, called as a run calls it.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from workbench.engine.ports import Call
from workbench.mcp.hub import ServerHub
from workbench.mcp.templates import render_items
from workbench.pipeline.prepare import prepare

ROOT = Path(__file__).resolve().parents[1]
ITEMS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
TEMPLATE = "pipelines/prompts/qa_rag_boxed.jinja"
PASSAGE = "It stands by the harbour. " * 12


async def main() -> None:
    questions = [f"Where is number {number}?" for number in range(ITEMS)]
    passages = [[f"Passage {n} of {question} {PASSAGE}" for n in range(5)] for question in questions]
    sys.path.insert(0, str(ROOT / "servers/prompt/src"))
    from parts import joined

    begun = time.perf_counter()
    texts = render_items(TEMPLATE, question=questions, documents=[joined(found) for found in passages])
    print(
        f"{ITEMS} items, {sum(map(len, texts)) / 1e6:.1f} MB: rendered in {time.perf_counter() - begun:.2f} s", end="; "
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "p.yaml"
        file.write_text("servers: {prompt: servers/prompt}\npipeline: [prompt.qa_boxed]\n")
        hub = ServerHub(prepare(file, checks=False).used_sources(), lambda event: None)
        try:
            await hub.declaration("prompt")
            arguments = {"q_ls": questions, "ret_psg": passages, "template": TEMPLATE}
            begun = time.perf_counter()
            result = await hub.call(Call("prompt", "qa_rag_boxed", "prompt", arguments, 1, tuple(range(ITEMS))))
            assert len(result.value) == ITEMS
            print(f"by the server, there and back, in {time.perf_counter() - begun:.2f} s")
        finally:
            await hub.close()


if __name__ == "__main__":
    asyncio.run(main())
