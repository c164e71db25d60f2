"""Prompts from templates: one message per item."""

from __future__ import annotations

from typing import Any

from outline import outline, task
from parts import found_so_far, ircot_items, joined, lettered, steps, text_of, unpadded, with_images
from rendering import messages, own, render_any

from workbench.mcp.kit import Message, ToolServer, call_item_lists, call_items, check_lengths
from workbench.mcp.templates import render_items

app = ToolServer("prompt")

SEARCH_R1_PASSAGES, R1_SEARCHER_PASSAGES = 3, 5
"""How many passages of a search these models are given, as they were trained."""


@app.prompt(output="template->prompt_ls", more_inputs="variables")
def render(template: str, variables: dict[str, Any] | None = None) -> list[Message]:
    """Any template from any variables: ``input: {template: $my_template, question: q_ls, notes: page_ls}``.

    An item list gives each prompt its own entry; any other value is the same in all of them.
    """
    items = call_items()
    count = None if items is None else len(items)
    return [Message(text) for text in render_any(template, variables or {}, call_item_lists(), count)]


# ---- questions and answers


@app.prompt(output="q_ls,template->prompt_ls")
def qa_boxed(q_ls: list[str], template: str) -> list[Message]:
    """Ask each question as it is. Template variable: question."""
    return messages(template or own("qa_boxed"), question=q_ls)


@app.prompt(output="q_ls,global_memory_content,project_memory_content,template->prompt_ls")
def qa_with_memory(
    q_ls: list[str], global_memory_content: str, project_memory_content: list[Any], template: str
) -> list[Message]:
    """Ask each question with what is remembered. Template variables: question, global_memory, project_memory."""
    return messages(
        template or own("qa_with_memory"),
        question=q_ls,
        global_memory=[global_memory_content] * len(q_ls),
        project_memory=[joined(found) for found in project_memory_content],
    )


@app.prompt(output="q_ls,choices_ls,template->prompt_ls")
def qa_boxed_multiple_choice(q_ls: list[str], choices_ls: list[list[str]], template: str) -> list[Message]:
    """Ask each question with its lettered choices. Template variables: question, choices."""
    choices = [lettered(choices) for choices in choices_ls]
    return messages(template or own("qa_boxed_multiple_choice"), question=q_ls, choices=choices)


@app.prompt(output="q_ls,ret_psg,template->prompt_ls")
def qa_rag_boxed(q_ls: list[str], ret_psg: list[Any], template: str) -> list[Message]:
    """Ask each question with its passages. Template variables: question, documents."""
    documents = [joined(passages) for passages in ret_psg]
    return messages(template or own("qa_rag_boxed"), question=q_ls, documents=documents)


@app.prompt(output="q_ls,global_memory_content,project_memory_content,ret_psg,template->prompt_ls")
def qa_rag_with_memory(
    q_ls: list[str],
    global_memory_content: str,
    project_memory_content: list[Any],
    ret_psg: list[Any],
    template: str,
) -> list[Message]:
    """The same with passages. Template variables: question, global_memory, project_memory, documents."""
    return messages(
        template or own("qa_rag_with_memory"),
        question=q_ls,
        global_memory=[global_memory_content] * len(q_ls),
        project_memory=[joined(found) for found in project_memory_content],
        documents=[joined(passages) for passages in ret_psg],
    )


@app.prompt(output="q_ls,choices_ls,ret_psg,template->prompt_ls")
def qa_rag_boxed_multiple_choice(
    q_ls: list[str], choices_ls: list[list[str]], ret_psg: list[Any], template: str
) -> list[Message]:
    """Ask each question with its choices and passages. Template variables: question, choices, documents."""
    return messages(
        template or own("qa_rag_boxed_multiple_choice"),
        question=q_ls,
        choices=[lettered(choices) for choices in choices_ls],
        documents=[joined(passages) for passages in ret_psg],
    )


@app.prompt(output="q_ls,ret_psg,kr_template->prompt_ls")
def RankCoT_kr(q_ls: list[str], ret_psg: list[Any], template: str) -> list[Message]:
    """Ask what the passages say to the question. Template variables: question, documents."""
    return messages(template, question=q_ls, documents=[joined(passages) for passages in ret_psg])


@app.prompt(output="q_ls,kr_ls,qa_template->prompt_ls")
def RankCoT_qa(q_ls: list[str], kr_ls: list[str], template: str) -> list[Message]:
    """Ask each question with what the passages said to it. Template variables: question, CoT."""
    return messages(template, question=q_ls, CoT=kr_ls)


# ---- rounds of search


@app.prompt(output="q_ls,ret_psg,gen_subq_template->prompt_ls")
def gen_subq(q_ls: list[str], ret_psg: list[Any], template: str) -> list[Message]:
    """Ask for the next sub-question. Template variables: question, documents."""
    return messages(template, question=q_ls, documents=[joined(passages) for passages in ret_psg])


@app.prompt(output="q_ls,ret_psg,check_psg_template->prompt_ls")
def check_passages(q_ls: list[str], ret_psg: list[Any], template: str) -> list[Message]:
    """Ask whether the passages suffice. Template variables: question, documents."""
    return messages(template, question=q_ls, documents=[joined(passages) for passages in ret_psg])


@app.prompt(output="memory_q_ls,memory_ret_psg,template->prompt_ls")
def ircot_next_prompt(
    memory_q_ls: list[list[str | None]], memory_ret_psg: list[list[Any] | None], template: str
) -> list[Message]:
    """Ask for the next sentence of the reasoning. Template variables: documents, question, cur_answer."""
    rows = list(ircot_items(memory_q_ls, memory_ret_psg))
    return messages(
        template or own("ircot"),
        question=[question for question, _, _ in rows],
        documents=[documents for _, documents, _ in rows],
        cur_answer=[reasoned for _, _, reasoned in rows],
    )


@app.prompt(output="prompt_ls,ans_ls,ret_psg,search_r1_gen_template->prompt_ls")
def search_r1_gen(prompt_ls: list[Any], ans_ls: list[str], ret_psg: list[Any], template: str) -> list[Message]:
    """Go on after a search. Template variables: history, answer, passages (the first three)."""
    return gone_on(template, prompt_ls, ans_ls, ret_psg, SEARCH_R1_PASSAGES)


@app.prompt(output="prompt_ls,ans_ls,ret_psg,r1_searcher_gen_template->prompt_ls")
def r1_searcher_gen(prompt_ls: list[Any], ans_ls: list[str], ret_psg: list[Any], template: str) -> list[Message]:
    """Go on after a search. Template variables: history, answer, passages (the first five)."""
    return gone_on(template, prompt_ls, ans_ls, ret_psg, R1_SEARCHER_PASSAGES)


@app.prompt(output="q_ls,searcho1_reasoning_template->prompt_ls")
def search_o1_init(q_ls: list[str], template: str) -> list[Message]:
    """Ask each question of a model that may search. Template variable: question."""
    return messages(template, question=q_ls)


@app.prompt(output="extract_query_list,ret_psg,total_reason_list,searcho1_refine_template->prompt_ls")
def search_o1_reasoning_indocument(
    extract_query_list: list[str], ret_psg: list[Any], total_reason_list: list[list[str]], template: str
) -> list[Message]:
    """Ask what the passages say to a query. Template variables: prev_reasoning, search_query, document."""
    return messages(
        template,
        search_query=[unpadded(query) for query in extract_query_list],
        document=[joined(passages) for passages in ret_psg],
        prev_reasoning=[steps(reasons) for reasons in total_reason_list],
    )


@app.prompt(output="q_ls,total_subq_list,total_final_info_list,searcho1_reasoning_template->prompt_ls")
def search_o1_insert(
    q_ls: list[str], total_subq_list: list[list[str]], total_final_info_list: list[list[str]], template: str
) -> list[Message]:
    """Go on with all that was searched and found. Template variable: question."""
    check_lengths(q_ls=q_ls, total_subq_list=total_subq_list, total_final_info_list=total_final_info_list)
    rows = zip(render_items(template, question=q_ls), total_subq_list, total_final_info_list, strict=True)
    return [Message(text + found_so_far(queries, results)) for text, queries, results in rows]


# ---- WebNote


@app.prompt(output="q_ls,plan_ls,webnote_init_page_template->prompt_ls")
def webnote_init_page(q_ls: list[str], plan_ls: list[str], template: str) -> list[Message]:
    """Ask for a page with what is to be filled in. Template variables: question, plan."""
    return messages(template, question=q_ls, plan=plan_ls)


@app.prompt(output="q_ls,webnote_gen_plan_template->prompt_ls")
def webnote_gen_plan(q_ls: list[str], template: str) -> list[Message]:
    """Ask for a plan. Template variable: question."""
    return messages(template, question=q_ls)


@app.prompt(output="q_ls,plan_ls,page_ls,webnote_gen_subq_template->prompt_ls")
def webnote_gen_subq(q_ls: list[str], plan_ls: list[str], page_ls: list[str], template: str) -> list[Message]:
    """Ask what to search for next. Template variables: question, plan, page."""
    return messages(template, question=q_ls, plan=plan_ls, page=page_ls)


@app.prompt(output="q_ls,plan_ls,page_ls,subq_ls,psg_ls,webnote_fill_page_template->prompt_ls")
def webnote_fill_page(  # noqa: PLR0917 - UltraRAG's signature
    q_ls: list[str], plan_ls: list[str], page_ls: list[str], subq_ls: list[str], psg_ls: list[Any], template: str
) -> list[Message]:
    """Ask for the page, filled in. Template variables: question, plan, sub_question, docs_text, page."""
    return messages(
        template,
        question=q_ls,
        plan=plan_ls,
        sub_question=subq_ls,
        docs_text=[joined(passages) for passages in psg_ls],
        page=page_ls,
    )


@app.prompt(output="q_ls,page_ls,webnote_gen_answer_template->prompt_ls")
def webnote_gen_answer(q_ls: list[str], page_ls: list[str], template: str) -> list[Message]:
    """Ask for the answer. Template variables: page, question."""
    return messages(template, page=page_ls, question=q_ls)


# ---- pictures


@app.prompt(output="q_ls,ret_psg,evisrag_template->prompt_ls")
def evisrag_vqa(q_ls: list[str], ret_psg: list[Any], template: str) -> list[Message]:
    """Ask each question of its pictures; ``<image>`` stands once for each. Template variable: question."""
    check_lengths(q_ls=q_ls, ret_psg=ret_psg)
    asked = render_items(template, question=q_ls)
    return [Message(with_images(text, images)) for text, images in zip(asked, ret_psg, strict=True)]


# ---- surveys


@app.prompt(output="instruction_ls,survey_ls,cursor_ls,surveycpm_search_template->prompt_ls")
def surveycpm_search(
    instruction_ls: list[str], survey_ls: list[str], cursor_ls: list[str | None], surveycpm_search_template: str
) -> list[Message]:
    """Ask what to search for. Template variables: instruction, survey, task."""
    return messages(
        surveycpm_search_template,
        instruction=instruction_ls,
        survey=outlines(survey_ls),
        task=[task(cursor) for cursor in cursor_ls],
    )


@app.prompt(output="instruction_ls,retrieved_info_ls,surveycpm_init_plan_template->prompt_ls")
def surveycpm_init_plan(
    instruction_ls: list[str], retrieved_info_ls: list[str], surveycpm_init_plan_template: str
) -> list[Message]:
    """Ask for the outline. Template variables: instruction, information."""
    return messages(
        surveycpm_init_plan_template,
        instruction=instruction_ls,
        information=[unpadded(information) for information in retrieved_info_ls],
    )


@app.prompt(output="instruction_ls,survey_ls,cursor_ls,retrieved_info_ls,surveycpm_write_template->prompt_ls")
def surveycpm_write(
    instruction_ls: list[str],
    survey_ls: list[str],
    cursor_ls: list[str | None],
    retrieved_info_ls: list[str],
    surveycpm_write_template: str,
) -> list[Message]:
    """Ask for the text of a section. Template variables: instruction, survey, task, information."""
    return messages(
        surveycpm_write_template,
        instruction=instruction_ls,
        survey=outlines(survey_ls),
        task=[task(cursor) for cursor in cursor_ls],
        information=[unpadded(information) for information in retrieved_info_ls],
    )


@app.prompt(output="instruction_ls,survey_ls,surveycpm_extend_plan_template->prompt_ls")
def surveycpm_extend_plan(
    instruction_ls: list[str], survey_ls: list[str], surveycpm_extend_plan_template: str
) -> list[Message]:
    """Ask whether a section is to have parts. Template variables: instruction, survey."""
    return messages(surveycpm_extend_plan_template, instruction=instruction_ls, survey=outlines(survey_ls))


def gone_on(template: str, prompt_ls: list[Any], ans_ls: list[str], ret_psg: list[Any], most: int) -> list[Message]:
    """Each dialogue so far, what was answered last, and so many passages at most of what was found for it."""
    return messages(
        template,
        history=[text_of(prompt) for prompt in prompt_ls],
        answer=ans_ls,
        passages=[joined(passages, most) for passages in ret_psg],
    )


def outlines(survey_ls: list[str]) -> list[str]:
    return [outline(survey, position) for position, survey in enumerate(survey_ls)]


if __name__ == "__main__":
    app.run(transport="stdio")
