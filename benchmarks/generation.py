"""What the generation server costs on top of its backend: `python benchmarks/generation.py [ITEMS]`.

An endpoint on this machine answers every request at once. The same prompts go through the bare openai client, in this
process, and through the server's `generate`, over stdio as a pipeline has it. Both have 64 requests under way. Aims: an
item costs at most 1 ms more, and the throughput is at least 0.9 of the bare client's.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from openai import AsyncOpenAI

ROOT = Path(__file__).resolve().parents[1]
ITEMS = int(sys.argv[1]) if sys.argv[1:] and sys.argv[1].isdigit() else 10_000
AT_ONCE, ROUNDS = 64, 3
ANSWER = {
    "id": "x",
    "object": "chat.completion",
    "created": 0,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "It is Oslo. " * 8}}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 9, "total_tokens": 16},
}


async def serve() -> None:
    """Answer all requests of all connections at once; the port is the first line of stdout."""
    body = json.dumps(ANSWER).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                lines = request.lower().split(b"\r\n")
                length = next((line for line in lines if line.startswith(b"content-length:")), b"content-length:0")
                await reader.readexactly(int(length.partition(b":")[2]))
                writer.write(head + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def bare(url: str, prompts: list[str]) -> float:
    """Seconds of the openai client alone."""
    left = iter(prompts)
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

        async def work() -> None:
            for prompt in left:
                await client.chat.completions.create(model="m", messages=[{"role": "user", "content": prompt}])

        begun = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
        return time.perf_counter() - begun


async def through_the_server(client: Client, prompts: list[str]) -> float:
    begun = time.perf_counter()
    result = await client.call_tool("generate", {"prompt_ls": prompts})
    seconds = time.perf_counter() - begun
    assert len(result.structured_content["ans_ls"]) == len(prompts)
    return seconds


async def main(url: str) -> None:
    prompts = [f"Question {number}: where is it? {'A passage. ' * 40}" for number in range(ITEMS)]
    with tempfile.TemporaryDirectory() as folder:
        env = {"RAGWB_PROJECT": folder, "RAGWB_OUTPUT": folder, "PYTHONPATH": str(ROOT)}
        script = str(ROOT / "servers/generation/src/generation.py")
        async with Client(StdioTransport(sys.executable, [script], env=env, keep_alive=False)) as client:
            configs = {"openai": {"model_name": "m", "base_url": url, "concurrency": AT_ONCE}}
            await client.call_tool(
                "generation_init", {"backend": "openai", "backend_configs": configs, "sampling_params": {}}
            )
            await through_the_server(client, prompts[:200])
            for _ in range(ROUNDS):
                alone, ours = await bare(url, prompts), await through_the_server(client, prompts)
                print(
                    f"{ITEMS} items, {AT_ONCE} at once: bare client {alone:.2f} s, server {ours:.2f} s; "
                    f"own cost {(ours - alone) / ITEMS * 1000:.2f} ms an item, throughput x {alone / ours:.2f}"
                )


def with_endpoint() -> None:
    endpoint = subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True)
    assert endpoint.stdout is not None
    try:
        asyncio.run(main(f"http://127.0.0.1:{int(endpoint.stdout.readline())}/v1"))
    finally:
        endpoint.kill()


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    else:
        with_endpoint()
