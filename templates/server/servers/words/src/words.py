"""A server of this project: a Python file whose functions become steps of pipelines."""

from __future__ import annotations

import re

from workbench.mcp.kit import ToolServer

app = ToolServer("words")


# "inputs->outputs". text_ls is a variable of the pipeline: a list with an entry for each item, and the output has
# one for each, too. `shortest` is no variable, so it is the parameter of that name.
@app.tool(output="text_ls->count_ls")
def count(text_ls: list[str]) -> dict[str, list[int]]:
    """How many words each text has; a Chinese character counts as one."""
    return {"count_ls": [len(words(text)) for text in text_ls]}


@app.tool(output="text_ls,shortest->longest_ls")
def longest(text_ls: list[str], shortest: int) -> dict[str, list[str]]:
    """The longest word of each text, the first of several; empty where all are too short."""
    return {"longest_ls": [max(long_words(text, shortest), key=len, default="") for text in text_ls]}


def words(text: str) -> list[str]:
    return re.findall(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+", text)


def long_words(text: str, shortest: int) -> list[str]:
    return [word for word in words(text) if len(word) >= shortest]


if __name__ == "__main__":
    app.run(transport="stdio")
