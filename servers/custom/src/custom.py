"""Small steps between a model's text and the next step: extract, merge, ask again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import search_o1
import survey_actions
from boxed import last_boxed
from citations import CitationRegistry, numbered
from fastmcp.exceptions import ToolError
from items import Notes, as_list, columns, merged, noted
from lines import filter_of, lines_of
from search_tags import R1_SEARCHER, SEARCH, last_query
from sentences import final_answer, first_sentence
from survey import NONE_YET, OUTLINE, Section, SurveyUnreadable, markdown, next_unwritten, read_survey, section_at
from survey import written as as_text
from survey_passages import FOR_A_SECTION, FOR_THE_PLAN, chosen, listed, with_keys
from survey_state import DONE, NOTHING, SurveyState
from survey_state import SEARCH as SEARCHING

from workbench.mcp.kit import MarkedResult, ToolServer, check_lengths, item_numbers

app = ToolServer("custom")
citations, survey_citations = CitationRegistry(), CitationRegistry()
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)


@app.tool(output="ans_ls->pred_ls")
def output_extract_from_boxed(ans_ls: list[str]) -> MarkedResult:
    r"""The content of each answer's last ``\boxed{}``, or the whole answer where there is no box."""
    extracts = [last_boxed(answer) for answer in ans_ls]
    notes = [
        (item, f"the box is not closed; taken up to the end: {extract.text!r}")
        for item, extract in zip(item_numbers(len(extracts)), extracts, strict=True)
        if not extract.closed
    ]
    return MarkedResult({"pred_ls": [extract.text for extract in extracts]}, warnings=noted(notes))


@app.tool(output="temp_psg,ret_psg->ret_psg")
def merge_passages(temp_psg: list[Any], ret_psg: list[Any]) -> dict[str, list[Any]]:
    """Append each item's new passages to those it has."""
    return {"ret_psg": merged(temp_psg, ret_psg)}


@app.tool(output="ans_ls,most_lines->line_ls")
def lines_of_answers(ans_ls: list[str], most_lines: int = 4) -> dict[str, list[list[str]]]:
    """The lines of each answer, without bullets and numbers: items x lines."""
    return {"line_ls": [lines_of(answer, most_lines) for answer in ans_ls]}


@app.tool(output="q_ls,ans_ls,most_lines->batch_query_list")
def queries_of_answers(q_ls: list[str], ans_ls: list[str], most_lines: int = 4) -> dict[str, list[list[str]]]:
    """Each question, and the lines of its answer as further queries: items x queries."""
    check_lengths(q_ls=q_ls, ans_ls=ans_ls)
    rows = zip(q_ls, ans_ls, strict=True)
    return {"batch_query_list": [list(dict.fromkeys([q, *lines_of(answer, most_lines)])) for q, answer in rows]}


@app.tool(output="ans_ls,filter_keys->filter_ls")
def read_filters(ans_ls: list[str], filter_keys: list[str]) -> MarkedResult:
    """The search filter in each answer, a JSON object of which these keys count; none where it can't be read."""
    notes: Notes = []
    filters: list[dict[str, Any]] = []
    for item, answer in zip(item_numbers(len(ans_ls)), ans_ls, strict=True):
        try:
            found, left_out = filter_of(answer, filter_keys)
        except ValueError as error:
            filters.append({})
            notes.append((item, f"no filter is used, its answer has none that can be read: {error}"))
        else:
            filters.append(found)
            if left_out:
                named = ", ".join(left_out[:5])
                notes.append((item, f"left out of its filter, not among filter_keys: {named[:200]}"))
    return MarkedResult({"filter_ls": filters}, warnings=noted(notes))


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


# ---- IRCoT


@app.tool(output="ans_ls->q_ls")
def ircot_get_first_sent(ans_ls: list[str]) -> dict[str, list[str]]:
    """The first sentence of each answer, which is the next query."""
    return {"q_ls": [first_sentence(answer) for answer in ans_ls]}


@app.tool(output="ans_ls->pred_ls")
def ircot_extract_ans(ans_ls: list[str]) -> dict[str, list[str]]:
    """What follows "so the answer is" in each answer, or the whole answer."""
    return {"pred_ls": [final_answer(answer) for answer in ans_ls]}


# ---- Search-o1: histories are items x rounds


@app.tool(output="q_ls->total_subq_list,total_reason_list,total_final_info_list")
def search_o1_init_list(q_ls: list[str]) -> dict[str, list[list[str]]]:
    """Three histories for each item, with nothing in them yet."""
    names = ("total_subq_list", "total_reason_list", "total_final_info_list")
    return {name: [[search_o1.PAD] for _ in q_ls] for name in names}


@app.tool(
    output="total_subq_list,extract_query_list,total_reason_list,extract_reason_list->total_subq_list,total_reason_list"
)
def search_o1_combine_list(
    total_subq_list: list[list[Any]],
    extract_query_list: list[str],
    total_reason_list: list[list[Any]],
    extract_reason_list: list[str],
) -> dict[str, list[list[Any]]]:
    """Each item's histories with this round's query and reasoning."""
    check_lengths(
        total_subq_list=total_subq_list,
        extract_query_list=extract_query_list,
        total_reason_list=total_reason_list,
        extract_reason_list=extract_reason_list,
    )
    return {
        "total_subq_list": list(map(search_o1.appended, total_subq_list, extract_query_list)),
        "total_reason_list": list(map(search_o1.appended, total_reason_list, extract_reason_list)),
    }


@app.tool(output="ans_ls->extract_query_list")
def search_o1_query_extract(ans_ls: list[str]) -> MarkedResult:
    """The last query of each answer, or nothing."""
    notes = [
        (item, "a search query was begun and not ended; it is left out")
        for item, answer in zip(item_numbers(len(ans_ls)), ans_ls, strict=True)
        if search_o1.is_cut_off(answer)
    ]
    queries = [search_o1.asked_query(answer) for answer in ans_ls]
    return MarkedResult({"extract_query_list": queries}, warnings=noted(notes))


@app.tool(output="ans_ls->extract_reason_list")
def search_o1_reasoning_extract(ans_ls: list[str]) -> dict[str, list[str]]:
    """What each answer says before its first query."""
    return {"extract_reason_list": [search_o1.reasoning(answer) for answer in ans_ls]}


@app.tool(output="ans_ls->extract_final_infor_list")
def search_o1_extract_final_information(ans_ls: list[str]) -> dict[str, list[str]]:
    """What each answer found in the documents, under its heading, or nothing."""
    return {"extract_final_infor_list": [search_o1.final_information(answer) for answer in ans_ls]}


@app.tool(output="total_final_info_list,extract_final_infor_list->total_final_info_list")
def search_o1_combine_final_information(
    total_final_info_list: list[list[str]], extract_final_infor_list: list[str]
) -> dict[str, list[list[str]]]:
    """Each item's history with what this round found."""
    check_lengths(total_final_info_list=total_final_info_list, extract_final_infor_list=extract_final_infor_list)
    return {"total_final_info_list": list(map(search_o1.appended, total_final_info_list, extract_final_infor_list))}


# ---- EVisRAG, citations


@app.tool(output="ans_ls->pred_ls")
def evisrag_output_extract_from_special(ans_ls: list[str]) -> dict[str, list[str]]:
    """The text between ``<answer>`` and ``</answer>``, or the whole answer."""
    found = [_ANSWER.search(answer) for answer in ans_ls]
    return {"pred_ls": [(tag[1] if tag else answer).strip() for tag, answer in zip(found, ans_ls, strict=True)]}


@app.tool(output="ret_psg->ret_psg")
def assign_citation_ids(ret_psg: list[list[str]]) -> dict[str, list[list[str]]]:
    """Each item's passages numbered from 1: ``[1] text``."""
    return {"ret_psg": [numbered(as_list(passages)) for passages in ret_psg]}


@app.tool(output="q_ls->q_ls", stateful=True)
def init_citation_registry(q_ls: list[str]) -> dict[str, list[str]]:
    """Forget all numbers that passages were given."""
    citations.begin()
    return {"q_ls": q_ls}


@app.tool(output="ret_psg->ret_psg", stateful=True)
def assign_citation_ids_stateful(ret_psg: list[list[str]]) -> dict[str, list[list[str]]]:
    """As ``assign_citation_ids``, but a passage that an item had before keeps the number it had."""
    return {
        "ret_psg": [
            citations.numbered(item, as_list(passages))
            for item, passages in zip(item_numbers(len(ret_psg)), ret_psg, strict=True)
        ]
    }


# ---- SurveyCPM


@app.tool(output="instruction_ls->instruction_ls", stateful=True)
def surveycpm_init_citation_registry(instruction_ls: list[str]) -> dict[str, list[str]]:
    """Forget all keys that passages were given."""
    survey_citations.begin()
    return {"instruction_ls": instruction_ls}


@app.tool(
    output="instruction_ls->state_ls,cursor_ls,survey_ls,step_ls,extend_time_ls,extend_result_ls,retrieved_info_ls,parsed_ls"
)
def surveycpm_state_init(instruction_ls: list[str]) -> dict[str, list[Any]]:
    """Where each survey begins."""
    begin = {
        "state_ls": SEARCHING,
        "cursor_ls": OUTLINE,
        "survey_ls": NONE_YET,
        "step_ls": 0,
        "extend_time_ls": 0,
        "extend_result_ls": NONE_YET,
        "retrieved_info_ls": NONE_YET,
        "parsed_ls": True,
    }
    return {name: [value for _ in instruction_ls] for name, value in begin.items()}


@app.tool(output="response_ls,surveycpm_hard_mode->keywords_ls,parsed_ls")
def surveycpm_parse_search_response(response_ls: list[str], surveycpm_hard_mode: bool = True) -> MarkedResult:
    """What each item searches for: items x keywords; none where the answer can't be read."""
    notes: Notes = []
    found = [
        attempted(item, notes, lambda answer=answer: survey_actions.keywords(answer, is_strict=surveycpm_hard_mode))
        for item, answer in zip(item_numbers(len(response_ls)), response_ls, strict=True)
    ]
    outputs = {"keywords_ls": [words or [] for words in found], "parsed_ls": [words is not None for words in found]}
    return MarkedResult(outputs, warnings=noted(notes))


@app.tool(output="ret_psg_ls->retrieved_info_ls")
def surveycpm_process_passages(ret_psg_ls: list[list[list[str]]]) -> dict[str, list[str]]:
    """Of items x queries x passages, one text for each item."""
    return {"retrieved_info_ls": [listed(chosen(found, FOR_THE_PLAN)) for found in ret_psg_ls]}


@app.tool(output="ret_psg_ls,survey_ls->retrieved_info_ls,ret_psg", stateful=True)
def surveycpm_process_passages_with_citation(
    ret_psg_ls: list[list[list[str]]], survey_ls: list[str]
) -> dict[str, list[Any]]:
    """The same, each passage with the key by which it is cited; and the passages themselves."""
    check_lengths(ret_psg_ls=ret_psg_ls, survey_ls=survey_ls)
    picked = [
        chosen(found, FOR_THE_PLAN if survey in ("", NONE_YET) else FOR_A_SECTION)
        for found, survey in zip(ret_psg_ls, survey_ls, strict=True)
    ]
    keyed = [
        with_keys(passages, item, survey_citations)
        for item, passages in zip(item_numbers(len(picked)), picked, strict=True)
    ]
    return {"retrieved_info_ls": [listed(passages) for passages in keyed], "ret_psg": keyed}


@app.tool(output="response_ls,survey_ls,instruction_ls,surveycpm_hard_mode->survey_ls,cursor_ls,parsed_ls")
def surveycpm_after_init_plan(
    response_ls: list[str], survey_ls: list[str], instruction_ls: list[str], surveycpm_hard_mode: bool = True
) -> MarkedResult:
    """The outline that each item planned; where it can't be read, all stays as it was."""
    check_lengths(response_ls=response_ls, survey_ls=survey_ls, instruction_ls=instruction_ls)
    after: list[tuple[Any, ...]] = []
    notes: Notes = []
    lists = (response_ls, survey_ls, instruction_ls)
    for item, answer, survey, instruction in zip(item_numbers(len(response_ls)), *lists, strict=True):
        planned = attempted(
            item,
            notes,
            lambda a=answer, i=instruction: survey_actions.plan(a, i, is_strict=surveycpm_hard_mode),
        )
        after.append((as_text(planned), next_unwritten(planned), True) if planned else (survey, OUTLINE, False))
    return MarkedResult(columns(after, "survey_ls", "cursor_ls", "parsed_ls"), warnings=noted(notes))


@app.tool(
    output="response_ls,survey_ls,cursor_ls,instruction_ls,retrieved_info_ls,surveycpm_hard_mode->survey_ls,cursor_ls,parsed_ls"
)
def surveycpm_after_write(  # noqa: PLR0917 - the dialect's signature
    response_ls: list[str],
    survey_ls: list[str],
    cursor_ls: list[str | None],
    instruction_ls: list[str],
    retrieved_info_ls: list[str],
    surveycpm_hard_mode: bool = True,
) -> MarkedResult:
    """Each survey with the section that was written; where it can't be used, all stays as it was."""
    lists = (response_ls, survey_ls, cursor_ls, instruction_ls, retrieved_info_ls)
    check_lengths(
        **dict(
            zip(("response_ls", "survey_ls", "cursor_ls", "instruction_ls", "retrieved_info_ls"), lists, strict=True)
        )
    )
    after: list[tuple[Any, ...]] = []
    notes: Notes = []
    for item, answer, survey, cursor, instruction, known in zip(item_numbers(len(response_ls)), *lists, strict=True):
        content = attempted(
            item,
            notes,
            lambda a=answer, i=instruction, k=known: survey_actions.text(a, i, k, is_strict=surveycpm_hard_mode),
        )
        tree = survey_of(item, survey)
        section = section_at(tree, cursor or "")
        if content is None or section is None:
            after.append((survey, cursor, False))
            continue
        section["content"] = content
        after.append((as_text(tree), next_unwritten(tree), True))
    return MarkedResult(columns(after, "survey_ls", "cursor_ls", "parsed_ls"), warnings=noted(notes))


@app.tool(
    output="response_ls,survey_ls,cursor_ls,instruction_ls,surveycpm_hard_mode->survey_ls,cursor_ls,extend_result_ls,parsed_ls"
)
def surveycpm_after_extend(
    response_ls: list[str],
    survey_ls: list[str],
    cursor_ls: list[str | None],
    instruction_ls: list[str],
    surveycpm_hard_mode: bool = True,
) -> MarkedResult:
    """Each survey with the parts that a section was given, if any."""
    lists = (response_ls, survey_ls, cursor_ls, instruction_ls)
    check_lengths(**dict(zip(("response_ls", "survey_ls", "cursor_ls", "instruction_ls"), lists, strict=True)))
    after: list[tuple[Any, ...]] = []
    notes: Notes = []
    for item, answer, survey, cursor, instruction in zip(item_numbers(len(response_ls)), *lists, strict=True):
        tree = survey_of(item, survey)
        try:
            found = survey_actions.extension(answer, tree, cursor, instruction, is_strict=surveycpm_hard_mode)
        except survey_actions.BadAction as error:
            notes.append((item, str(error)))
            after.append((survey, cursor, NONE_YET, False))
            continue
        if found is None:
            after.append((survey, cursor, NOTHING, True))
            continue
        place, parts = found
        section = section_at(tree, place)
        assert section is not None  # the action was held against the survey
        section["sections"] = parts
        after.append((as_text(tree), next_unwritten(tree), "extended", True))
    return MarkedResult(
        columns(after, "survey_ls", "cursor_ls", "extend_result_ls", "parsed_ls"), warnings=noted(notes)
    )


@app.tool(
    output="state_ls,cursor_ls,extend_time_ls,extend_result_ls,step_ls,parsed_ls,surveycpm_max_step,surveycpm_max_extend_step->state_ls,extend_time_ls,step_ls"
)
def surveycpm_update_state(  # noqa: PLR0917 - the dialect's signature
    state_ls: list[str],
    cursor_ls: list[str | None],
    extend_time_ls: list[int],
    extend_result_ls: list[str],
    step_ls: list[int],
    parsed_ls: list[bool],
    surveycpm_max_step: int = 140,
    surveycpm_max_extend_step: int = 12,
) -> dict[str, list[Any]]:
    """What each item does next."""
    lists = (state_ls, cursor_ls, extend_time_ls, extend_result_ls, step_ls, parsed_ls)
    names = ("state_ls", "cursor_ls", "extend_time_ls", "extend_result_ls", "step_ls", "parsed_ls")
    check_lengths(**dict(zip(names, lists, strict=True)))
    now = [
        SurveyState(*values).following(max_step=surveycpm_max_step, max_extend_step=surveycpm_max_extend_step)
        for values in zip(*lists, strict=True)
    ]
    return {
        "state_ls": [state.state for state in now],
        "extend_time_ls": [state.extend_time for state in now],
        "step_ls": [state.step for state in now],
    }


@app.tool(output="step_ls,state_ls,surveycpm_max_step->state_ls")
def surveycpm_check_completion(
    step_ls: list[int], state_ls: list[str], surveycpm_max_step: int = 140
) -> dict[str, list[str]]:
    """``done`` for the items that have used up their steps."""
    check_lengths(step_ls=step_ls, state_ls=state_ls)
    return {
        "state_ls": [
            DONE if step >= surveycpm_max_step else state for step, state in zip(step_ls, state_ls, strict=True)
        ]
    }


@app.tool(output="survey_ls,instruction_ls->ans_ls")
def surveycpm_format_output(survey_ls: list[str], instruction_ls: list[str]) -> MarkedResult:
    """Each survey as a document in Markdown; empty where none was begun."""
    check_lengths(survey_ls=survey_ls, instruction_ls=instruction_ls)
    trees = [survey_of(item, survey) for item, survey in zip(item_numbers(len(survey_ls)), survey_ls, strict=True)]
    rows = zip(item_numbers(len(trees)), trees, strict=True)
    notes: Notes = [(item, "no survey was begun: no plan of its could be read") for item, tree in rows if not tree]
    return MarkedResult({"ans_ls": [markdown(tree) if tree else "" for tree in trees]}, warnings=noted(notes))


# ---- what the tools share


def attempted(item: int, notes: Notes, read: Callable[[], Any]) -> Any:
    """What an answer says; None, and the reason in the notes, where it can't be read."""
    try:
        return read()
    except survey_actions.BadAction as error:
        notes.append((item, str(error)))
        return None


def survey_of(item: int, text: str) -> Section:
    """An item's survey; empty where there is none yet."""
    try:
        return read_survey(text) or {}
    except SurveyUnreadable as error:
        raise ToolError(f"survey_ls[{item}]: {error}") from None


if __name__ == "__main__":
    app.run(transport="stdio")
