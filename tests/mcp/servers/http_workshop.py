"""A FastMCP server on loopback: ``http_workshop.py http|sse|stateless|json PATH``; prints its port."""

import asyncio
import os
import sys

import uvicorn
from fastmcp import Context, FastMCP
from pydantic import BaseModel

app = FastMCP("workshop")


class Choice(BaseModel):
    colour: str = "green"


@app.tool
def upper(q_ls: list[str]) -> dict:
    return {"out_ls": [q.upper() for q in q_ls]}


@app.tool
def big(n: int) -> dict:
    return {"text": "字" * n}


@app.tool
async def slow(seconds: float, ctx: Context) -> str:
    print("slow begins", file=sys.stderr, flush=True)
    for done in range(3):
        await ctx.report_progress(done + 1, 3, f"part {done}")
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        print("slow was cancelled", file=sys.stderr, flush=True)
        raise
    return "done"


@app.tool
async def choose(ctx: Context) -> str:
    answer = await ctx.elicit("Which one?", response_type=Choice)
    return f"{answer.action} {getattr(answer, 'data', None)}"


@app.tool
def crash() -> None:
    os._exit(7)


@app.tool
def fails() -> None:
    raise ValueError("third question has no verb")


@app.prompt
def ask(q: str) -> str:
    return f"Answer: {q}"


def main() -> None:
    kind, path = sys.argv[1:3]
    port = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    options = {"stateless_http": True} if kind == "stateless" else {"json_response": True} if kind == "json" else {}
    web = app.http_app(path=path, transport="sse" if kind == "sse" else "http", **options)
    config = uvicorn.Config(web, host="127.0.0.1", port=port, log_level="error", timeout_graceful_shutdown=0)
    socket = config.bind_socket()
    socket.listen()
    print(socket.getsockname()[1], flush=True)
    uvicorn.Server(config).run(sockets=[socket])


main()
