"""Prompts from templates: one message per item."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

from fastmcp.exceptions import ToolError

from templates import PromptTemplate, PromptTemplateError
from workbench.mcp.kit import Message, ToolServer, find_file

app = ToolServer("prompt")


@app.prompt(output="q_ls,template->prompt_ls")
def qa_boxed(q_ls: list[str], template: str) -> list[Message]:
    """Ask each question as it is. Template variable: question."""
    return messages(template or own("qa_boxed"), question=q_ls)


@app.prompt(output="q_ls,ret_psg,template->prompt_ls")
def qa_rag_boxed(q_ls: list[str], ret_psg: list[Any], template: str) -> list[Message]:
    """Ask each question with its passages. Template variables: question, documents."""
    documents = [joined(passages) for passages in ret_psg]
    return messages(template or own("qa_rag_boxed"), question=q_ls, documents=documents)


@app.prompt(output="q_ls,choices_ls,template->prompt_ls")
def qa_boxed_multiple_choice(q_ls: list[str], choices_ls: list[list[str]], template: str) -> list[Message]:
    """Ask each question with its lettered choices. Template variables: question, choices."""
    choices = [lettered(choices) for choices in choices_ls]
    return messages(template or own("qa_boxed_multiple_choice"), question=q_ls, choices=choices)


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


@app.prompt(output="q_ls,ret_psg,gen_subq_template->prompt_ls")
def gen_subq(q_ls: list[str], ret_psg: list[Any], template: str) -> list[Message]:
    """Ask for the next sub-question. Template variables: question, documents."""
    return messages(template, question=q_ls, documents=[joined(passages) for passages in ret_psg])


@app.prompt(output="q_ls,ret_psg,check_psg_template->prompt_ls")
def check_passages(q_ls: list[str], ret_psg: list[Any], template: str) -> list[Message]:
    """Ask whether the passages suffice. Template variables: question, documents."""
    return messages(template, question=q_ls, documents=[joined(passages) for passages in ret_psg])


def own(prompt: str) -> str:
    """The template that ragwb ships for a prompt, where no other is asked for."""
    return f"pipelines/prompts/{prompt}.jinja"


def messages(template: str, **columns: Sequence[str]) -> list[Message]:
    """One user message per item; ``columns`` are the template's variables, one entry per item each."""
    try:
        return [Message(text) for text in render_items(template, **columns)]
    except PromptTemplateError as error:
        raise ToolError(str(error)) from error


def render_items(template: str, **columns: Sequence[str]) -> list[str]:
    """One prompt per item. Raises ``PromptTemplateError``; ``ToolError`` for lists of unequal length."""
    compiled = PromptTemplate(find_file(template))
    if len({len(values) for values in columns.values()}) > 1:
        sizes = ", ".join(f"{name} {len(values)}" for name, values in columns.items())
        raise ToolError(f"{template}: every variable needs one entry per item, but their lengths are: {sizes}")
    return [compiled.render(dict(zip(columns, values, strict=True))) for values in zip(*columns.values(), strict=True)]


def joined(passages: Any) -> str:
    """The passages of one item, one a line."""
    return "\n".join(map(str, passages)) if isinstance(passages, list) else str(passages)


def lettered(choices: Sequence[str]) -> str:
    """``A: first``, ``B: second`` ... one a line; at most 26."""
    if len(choices) > len(ascii_uppercase):
        raise ToolError(f"a question has {len(choices)} choices; letters are there for {len(ascii_uppercase)}")
    return "\n".join(f"{letter}: {choice}" for letter, choice in zip(ascii_uppercase, choices, strict=False))


if __name__ == "__main__":
    app.run(transport="stdio")
