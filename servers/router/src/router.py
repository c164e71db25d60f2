"""Routers: each answers, for every item, its value and the state that chooses the item's branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.mcp.kit import ToolServer

app = ToolServer("router")

END_OF_TEXT = ("<|endoftext|>", "<|im_end|>")

Routed = list[dict[str, str]]
"""One ``{"data": value, "state": state}`` per item, in order."""


def routed(values: Sequence[str], state_of: Callable[[str], str]) -> Routed:
    """Pair every value with its state."""
    return [{"data": value, "state": state_of(value)} for value in values]


def holds(text: str, marks: Sequence[str]) -> bool:
    """Whether any of the marks is in the text."""
    return any(mark in text for mark in marks)


def route1_state(value: str) -> str:
    """``state1`` for the number 1, ``state2`` for everything else."""
    try:
        return "state1" if int(value) == 1 else "state2"
    except ValueError:
        return "state2"


@app.tool(output="query_list->query_list", pure=True)
def route1(query_list: list[str]) -> dict[str, Routed]:
    """``state1`` for the number 1, else ``state2``."""
    return {"query_list": routed(query_list, route1_state)}


@app.tool(output="query_list->query_list", pure=True)
def route2(query_list: list[str]) -> dict[str, Routed]:
    """``state2`` for every item."""
    return {"query_list": routed(query_list, lambda _: "state2")}


@app.tool(output="ans_ls->ans_ls", pure=True)
def ircot_check_end(ans_ls: list[str]) -> dict[str, Routed]:
    """``complete`` once the chain of thought says "so the answer is"."""
    return {"ans_ls": routed(ans_ls, lambda a: "complete" if "so the answer is" in a.lower() else "incomplete")}


@app.tool(output="ans_ls->ans_ls", pure=True)
def search_r1_check(ans_ls: list[str]) -> dict[str, Routed]:
    """``complete`` once the model has ended its text."""
    return {"ans_ls": routed(ans_ls, lambda a: "complete" if holds(a, END_OF_TEXT) else "incomplete")}


@app.tool(output="ans_ls->ans_ls", pure=True)
def r1_searcher_check(ans_ls: list[str]) -> dict[str, Routed]:
    """``complete`` once the model has ended its text or closed its answer."""
    ends = (*END_OF_TEXT, "</answer>")
    return {"ans_ls": routed(ans_ls, lambda a: "complete" if holds(a, ends) else "incomplete")}


@app.tool(output="page_ls->page_ls", pure=True)
def webnote_check_page(page_ls: list[str]) -> dict[str, Routed]:
    """``incomplete`` while something on the page is still "to be filled"."""
    return {"page_ls": routed(page_ls, lambda p: "incomplete" if "to be filled" in p.lower() else "complete")}


@app.tool(output="ans_ls->ans_ls", pure=True)
def check_model_state(ans_ls: list[str]) -> dict[str, Routed]:
    """``continue`` if the model asks for a search with ``<search>``, else ``stop``."""
    return {"ans_ls": routed(ans_ls, lambda a: "continue" if "<search>" in a else "stop")}


if __name__ == "__main__":
    app.run(transport="stdio")
