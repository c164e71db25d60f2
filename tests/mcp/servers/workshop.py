"""A server written with the kit, for the tests of the hub: everything that can happen in a call."""

import asyncio
import os
import subprocess
import sys
import time
from typing import Any

from workbench.mcp.kit import Message, PromptMessage, ToolServer, call_items, find_file, report

app = ToolServer("workshop")


@app.tool(output="q_ls,top_k->ret_psg")
def search(query_list: list[str], top_k: int = 2) -> dict[str, Any]:
    """Some passages for each question."""
    return {"ret_psg": [[f"{query}#{rank}" for rank in range(top_k)] for query in query_list]}


@app.tool(output="->table", whole=("table",), outputs_from="workshop.key_map", stateful=True)
def table() -> dict[str, Any]:
    return {"table": [1, 2], "pid": os.getpid()}


@app.tool
def bare(count: int) -> int:
    return count + 1


class Index:
    def __init__(self) -> None:
        self.items: tuple[int, ...] | None = None

    async def about(self) -> dict[str, Any]:
        """The items of the call."""
        for done, token in enumerate(["the ", "answer"], 1):
            await report(done, 2, token)
        self.items = call_items()
        return {"items": self.items}


index = Index()
app.tool(index.about, output="->items")


@app.tool
def words() -> str:
    return "plain words"


@app.tool
def nothing() -> None:
    print("a stray print")


@app.tool
def fails() -> None:
    raise ValueError("third question has no verb")


@app.tool
def not_a_number() -> dict[str, Any]:
    return {"score_ls": [1.0, float("nan")]}


@app.tool
def big(count: int) -> dict[str, Any]:
    return {"text_ls": [f"第{number}段 " + "检索增强生成" * 20 for number in range(count)]}


@app.tool
async def slow(seconds: float) -> str:
    sys.stderr.write("slow begins\n")
    sys.stderr.flush()
    await asyncio.sleep(seconds)
    return "done"


@app.tool
def hang() -> None:
    time.sleep(600)


@app.tool
def crash() -> None:
    print("last words", file=sys.stderr, flush=True)
    os._exit(7)


@app.tool
def start_child() -> dict[str, Any]:
    return {"pid": subprocess.Popen(["sleep", "600"]).pid}


@app.tool
def where() -> dict[str, Any]:
    return {"cwd": os.getcwd(), "found": str(find_file("notes.txt")), "path": sys.path[:2], "main": __name__}


@app.prompt(output="q_ls,template->prompt_ls")
def ask(q_ls: list[str], template: str, extra: list[Any] | str = "none", rest=None) -> list[Any]:
    return [
        *(f"{template}|{question}" for question in q_ls),
        Message(f"{extra!r}", role="assistant"),
        {"role": "user", "content": repr(rest)},
        PromptMessage.model_validate({"role": "user", "content": {"type": "text", "text": "last"}}),
    ]


@app.prompt
def broken(text: str) -> str:
    raise ValueError("no template")


if __name__ == "__main__":
    app.run(transport="stdio")
