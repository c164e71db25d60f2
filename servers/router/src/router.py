"""Routers: each answers, for every item, its value and the state that chooses the item's branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from by_model import asked, chosen_state
from by_rule import chosen_by
from fastmcp import Context

from workbench.mcp.client_model import ClientModel, Unclear, each
from workbench.mcp.kit import MarkedResult, ToolServer, check_lengths, item_numbers

app = ToolServer("router")

END_OF_TEXT = ("<|endoftext|>", "<|im_end|>")
MOST_TOKENS = 256
"""Of `route_by_llm`: how long an answer may be."""

Routed = list[dict[str, Any]]
"""One ``{"data": value, "state": state}`` per item, in order."""


def routed(values: Sequence[Any], state_of: Callable[[Any], str]) -> Routed:
    """Pair every value with its state."""
    return paired(values, [state_of(value) for value in values])


def paired(values: Sequence[Any], states: Sequence[str | None]) -> Routed:
    return [{"data": value, "state": state} for value, state in zip(values, states, strict=True)]


def all_paired(states: Sequence[str], **lists: Sequence[Any]) -> dict[str, Routed]:
    """Several lists that go the same ways. Raises ``ToolError`` where one has another length."""
    check_lengths(**lists)
    return {name: paired(values, states) for name, values in lists.items()}


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


@app.tool(
    output="ans_ls,q_ls,total_subq_list,total_reason_list,total_final_info_list"
    "->ans_ls,q_ls,total_subq_list,total_reason_list,total_final_info_list",
    pure=True,
)
def search_o1_check(
    ans_ls: list[str],
    q_ls: list[str],
    total_subq_list: list[list[Any]],
    total_reason_list: list[list[Any]],
    total_final_info_list: list[list[Any]],
) -> dict[str, Routed]:
    """``retrieve`` if the model asks for a search with ``<|end_search_query|>``, else ``stop``."""
    return all_paired(
        ["retrieve" if "<|end_search_query|>" in answer else "stop" for answer in ans_ls],
        ans_ls=ans_ls,
        q_ls=q_ls,
        total_subq_list=total_subq_list,
        total_reason_list=total_reason_list,
        total_final_info_list=total_final_info_list,
    )


@app.tool(
    output="state_ls,cursor_ls,survey_ls,step_ls,extend_time_ls,extend_result_ls"
    "->state_ls,cursor_ls,survey_ls,step_ls,extend_time_ls,extend_result_ls",
    pure=True,
)
def surveycpm_state_router(  # noqa: PLR0917 - the dialect's signature
    state_ls: list[str],
    cursor_ls: list[str | None],
    survey_ls: list[str],
    step_ls: list[int],
    extend_time_ls: list[int],
    extend_result_ls: list[str],
) -> dict[str, Routed]:
    """Each item's own state."""
    return all_paired(
        state_ls,
        state_ls=state_ls,
        cursor_ls=cursor_ls,
        survey_ls=survey_ls,
        step_ls=step_ls,
        extend_time_ls=extend_time_ls,
        extend_result_ls=extend_result_ls,
    )


@app.tool(output="values,rules,otherwise->values", pure=True)
def route_by_rule(values: list[Any], rules: dict[str, str], otherwise: str = "") -> dict[str, Routed]:
    """For each item the first state whose rule holds, else ``otherwise``.

    A rule is a Jinja2 expression over ``value`` and ``item``, the item's number: ``{short: "value | length < 40"}``.
    """
    states = [
        chosen_by(rules, otherwise, value, item) for item, value in zip(item_numbers(len(values)), values, strict=True)
    ]
    return {"values": paired(values, states)}


@app.tool(output="values->values", pure=True)
def route_by_value(values: list[Any]) -> dict[str, Routed]:
    """Each item's value is its state: the action of an agent, say."""
    return {"values": routed(values, str)}


@app.tool(output="values,states,otherwise,question->values")
async def route_by_llm(
    values: list[Any], states: dict[str, str], ctx: Context, otherwise: str = "", question: str = ""
) -> MarkedResult:
    """For each item the state that a model chooses; ``states`` describes them: ``{easy: "one fact is asked for"}``.

    The client's model is asked: in ragwb that of the pipeline's generation server. ``otherwise`` is the state where
    the answer names none; without it that item fails, and the others go their ways.
    """
    model = ClientModel(ctx, MOST_TOKENS)

    async def choose(place: int) -> str:
        prompt = asked(values[place], states, question)
        return await model.ask(prompt, lambda answer: chosen_state(answer, states, otherwise))

    chosen = await each(len(values), choose)
    failed = {place: str(state) for place, state in enumerate(chosen) if isinstance(state, Unclear)}
    known = [None if isinstance(state, Unclear) else state for state in chosen]
    return MarkedResult({"values": paired(values, known)}, failed=failed)


if __name__ == "__main__":
    app.run(transport="stdio")
