"""Small steps between a model's text and the next step: extract, merge, ask again."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from boxed import last_boxed
from fastmcp.exceptions import ToolError
from search_tags import R1_SEARCHER, SEARCH, last_query

from workbench.mcp.kit import ToolServer, call_items

app = ToolServer("custom")


@app.tool(output="ans_ls->pred_ls")
def output_extract_from_boxed(ans_ls: list[str]) -> dict[str, list[str]]:
    r"""The content of each answer's last ``\boxed{}``, or the whole answer where there is no box."""
    extracts = [last_boxed(answer) for answer in ans_ls]
    items = call_items() or range(len(ans_ls))
    for item, extract in zip(items, extracts, strict=False):
        if not extract.closed:
            print(
                f"item [{item}]: the box is not closed; taken up to the end: {extract.text!r}",
                file=sys.stderr,
            )
    return {"pred_ls": [extract.text for extract in extracts]}


@app.tool(output="temp_psg,ret_psg->ret_psg")
def merge_passages(temp_psg: list[Any], ret_psg: list[Any]) -> dict[str, list[Any]]:
    """Append each item's new passages to those it has."""
    return {"ret_psg": merged(temp_psg, ret_psg)}


@app.tool(output="ans_ls->extract_query_list")
def search_r1_query_extract(ans_ls: list[str]) -> dict[str, list[str]]:
    """The last ``<search>`` query of each answer."""
    return {"extract_query_list": [last_query(answer, SEARCH) for answer in ans_ls]}


@app.tool(output="ans_ls->extract_query_list")
def r1_searcher_query_extract(ans_ls: list[str]) -> dict[str, list[str]]:
    """The last ``<|begin_of_query|>`` query of each answer."""
    return {"extract_query_list": [last_query(answer, R1_SEARCHER) for answer in ans_ls]}


# The second input is bound to ret_psg, as in UltraRAG; pipelines give `input: {ans_ls: ans_ls}`.
@app.tool(output="q_ls,ret_psg->nextq_ls")
def iterretgen_nextquery(q_ls: list[str], ans_ls: list[Any]) -> dict[str, list[str]]:
    """The next query of each item: its question, a blank, its last answer."""
    check_lengths(q_ls=q_ls, ans_ls=ans_ls)
    return {"nextq_ls": [f"{question} {answer}" for question, answer in zip(q_ls, ans_ls, strict=True)]}


def merged(temp_psg: Sequence[Any], ret_psg: Sequence[Any]) -> list[list[Any]]:
    """Items x passages. Order and repetitions are kept: what was found twice is there twice."""
    check_lengths(temp_psg=temp_psg, ret_psg=ret_psg)
    return [as_list(old) + as_list(new) for new, old in zip(temp_psg, ret_psg, strict=True)]


def as_list(passages: Any) -> list[Any]:
    """A lone passage is a list of one."""
    return list(passages) if isinstance(passages, list) else [passages]


def check_lengths(**lists: Sequence[Any]) -> None:
    """Lists of one call belong together item by item; unequal ones would be paired wrongly."""
    if len({len(values) for values in lists.values()}) > 1:
        sizes = ", ".join(f"{name} has {len(values)}" for name, values in lists.items())
        raise ToolError(f"one entry per item is needed in each list, but {sizes}")


if __name__ == "__main__":
    app.run(transport="stdio")
