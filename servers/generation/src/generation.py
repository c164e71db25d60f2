"""Answers of a language model to prompts; tokens are reported as they come."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from agent import Agent, Rules
from agents import take_turns
from answer import Answer, GenerationError
from answering import Handling, Model, Outcome
from backend import Messages, Wish
from context_window import window_of
from conversation import conversation, dialogue, missing_images, prompt_text, with_images
from fastmcp.exceptions import ToolError
from labels import item_labels, listed
from settings import part_of

from workbench.mcp.backends import Backends
from workbench.mcp.kit import MarkedResult, ToolServer, check_lengths, report
from workbench.mcp.templates import render_items

app = ToolServer("generation")

BACKENDS = Backends(
    "generation.backend",
    {
        "llama_cpp": "local_model:load_local",
        "openai": "endpoint:Endpoint",
        "ollama": "ollama:Ollama",
        "hf": "transformers_model:load_transformers",
        "vllm": "vllm_model:load_vllm",
    },
)
AGENT_TEMPLATES = {"text": "pipelines/prompts/agent.jinja", "json": "pipelines/prompts/agent_json.jinja"}
COMMON = "common"
"""The part of ``backend_configs`` that holds for every backend."""

model: Model | None = None
"""Loaded by ``generation_init``."""


@app.tool(output="backend_configs,sampling_params,extra_params,backend->")
async def generation_init(
    backend_configs: dict[str, Any],
    sampling_params: dict[str, Any],
    extra_params: dict[str, Any] | None = None,
    backend: str = "llama_cpp",
) -> MarkedResult:
    """Load a local model, or set up the client of an endpoint. The visit shows how many tokens its context holds."""
    global model  # noqa: PLW0603 - the one thing this server holds
    await shut_down(endpoints_too=True)
    options = {**sampling_params, **(extra_params or {})}
    try:
        handling = Handling.of(part_of(backend_configs, COMMON))
        # In a thread: a model takes a second to load, and the server must hear a cancellation meanwhile.
        configs = part_of(backend_configs, backend)
        loaded = await asyncio.to_thread(BACKENDS.load(backend), configs, options)
        await loaded.prepare(report)
        window = await window_of(backend, configs)
        model = Model(loaded, options, handling, window)
    except GenerationError as error:
        raise ToolError(str(error)) from error
    context = window.tokens or loaded.context_tokens
    return MarkedResult({"context_tokens": context} if context else {}, warnings=loaded.warnings)


@app.tool(output="prompt_ls,system_prompt->ans_ls")
async def generate(
    prompt_ls: list[Any],
    system_prompt: str = "",
    response_schema: dict[str, Any] | None = None,
    request_options: dict[str, Any] | None = None,
) -> MarkedResult:
    """One answer per prompt; with a JSON schema, each is JSON that follows it.

    ``request_options`` come before ``sampling_params``: servers that ask the model set how long an answer may be.

    Progress: of one answer at a time its tokens, of several at once how many are there. What is known of each answer
    (tokens, finish reason, seconds, thinking) is in ``usage_ls``. Items that fail are named, the others kept.
    """
    labels = item_labels(len(prompt_ls))
    warnings: list[str] = []

    def conversations() -> list[Messages]:
        texts = [prompt_text(prompt, label) for prompt, label in zip(prompt_ls, labels, strict=True)]
        empty = [label for text, label in zip(texts, labels, strict=True) if not text.strip()]
        if empty:
            warnings.append(f"the prompt is empty, and the model has nothing to answer: {listed(empty)}")
        return [conversation(text, system_prompt) for text in texts]

    return await answered(conversations, labels, Wish(response_schema, options=request_options or {}), warnings)


@app.tool(output="multimodal_path,prompt_ls,system_prompt,image_tag->ans_ls")
async def multimodal_generate(
    multimodal_path: list[list[str]],
    prompt_ls: list[Any],
    system_prompt: str = "",
    image_tag: str | None = None,
    response_schema: dict[str, Any] | None = None,
) -> MarkedResult:
    """The same with images (items x files or addresses): before the text, or where the tag stands in it."""
    check_lengths(multimodal_path=multimodal_path, prompt_ls=prompt_ls)
    if loaded().backend.takes_images is False:
        raise ToolError(
            "this backend takes no images: generation.backend openai or ollama does, with a model that sees"
        )
    labels = item_labels(len(prompt_ls))

    def conversations() -> list[Messages]:
        rows = zip(prompt_ls, multimodal_path, labels, strict=True)
        parts = (with_images(prompt_text(p, label), images, image_tag, label) for p, images, label in rows)
        return [conversation(part, system_prompt) for part in parts]

    gone = [
        f"{label} {name}"
        for label, images in zip(labels, multimodal_path, strict=True)
        for name in missing_images(images)
    ]
    warnings = [f"images that are not there were left out: {listed(gone)}"] if gone else []
    return await answered(conversations, labels, Wish(response_schema), warnings)


@app.tool(output="messages,system_prompt->ans_ls")
async def multiturn_generate(messages: list[dict[str, Any]], system_prompt: str = "") -> MarkedResult:
    """The next turn of one dialogue: one answer."""
    return await answered(lambda: [dialogue(messages, system_prompt)], ["[0]"], Wish())


@app.tool(output="->")
async def vllm_shutdown() -> None:
    """Free the memory of a model that this process holds; what is reached over the network stays as it is."""
    await shut_down()


@app.tool(output="->")
async def shutdown() -> None:
    """Free whatever model there is; `generation_init` must come before the next answer."""
    await shut_down(endpoints_too=True)


@app.tool(output="prompt_ls,agent_tools,system_prompt,agent_style,agent_template->agent_ls,observation_ls")
def agent_init(
    prompt_ls: list[Any],
    agent_tools: dict[str, Any],
    system_prompt: str = "",
    agent_style: str = "text",
    agent_template: str = "",
) -> dict[str, list[Any]]:
    """An agent for each item, with its prompt as the task; nothing was observed yet.

    In the styles ``text`` and ``json`` the template tells the model of the tools and how to call them.
    """
    try:
        texts = [prompt_text(p, label) for p, label in zip(prompt_ls, item_labels(len(prompt_ls)), strict=True)]
        rules = Rules.of(agent_tools, agent_style)
    except GenerationError as error:
        raise ToolError(str(error)) from error
    if rules.style in AGENT_TEMPLATES:
        tools = [[tool.described() for tool in rules.tools.values()]] * len(texts)
        texts = render_items(agent_template or AGENT_TEMPLATES[rules.style], question=texts, tools=tools)
    agents = [Agent(conversation(text, system_prompt)).state() for text in texts]
    return {"agent_ls": agents, "observation_ls": [""] * len(agents)}


@app.tool(
    output="agent_ls,observation_ls,agent_tools,agent_style,agent_steps,agent_tokens"
    "->agent_ls,action_ls,action_input_ls,ans_ls"
)
async def agent_generate(  # noqa: PLR0917 - the order in which they are bound
    agent_ls: list[dict[str, Any]],
    observation_ls: list[Any],
    agent_tools: dict[str, Any],
    agent_style: str = "text",
    agent_steps: int = 6,
    agent_tokens: int | None = None,
) -> MarkedResult:
    """The next turn of each item's agent: a tool that it wishes to call, or its answer.

    ``action_ls`` has the tool's name, ``action_input_ls`` its input (a text, or a map where the tool's ``parameters``
    are a schema), ``ans_ls`` the answer: empty as long as there is none, so that an agent whose loop ends too early is
    not scored by a thought of its (what it said stands in ``agent_ls``). The pipeline routes by the action to the steps
    that are the tool; what they write to ``observation_ls`` is read in the next turn. Who has answered has the action
    ``answer``, and its model is not asked again.
    """
    check_lengths(agent_ls=agent_ls, observation_ls=observation_ls)
    try:
        rules = Rules.of(agent_tools, agent_style, agent_steps, agent_tokens)
        return await take_turns(loaded(), agent_ls, observation_ls, rules)
    except GenerationError as error:
        raise ToolError(str(error)) from error


# ---- what the tools share


def loaded() -> Model:
    if model is None:
        raise ToolError("no model is loaded: generation.generation_init must come before this step")
    return model


async def answered(
    make: Callable[[], list[Messages]],
    labels: Sequence[str],
    wish: Wish,
    warnings: Sequence[str] = (),
) -> MarkedResult:
    """The outputs for conversations that ``make`` gives, with ``warnings`` and what is odd about the answers."""
    now = loaded()
    try:
        outcomes = await now.answers(make(), labels, wish)
    except GenerationError as error:
        raise ToolError(str(error)) from error
    texts = [outcome.text if isinstance(outcome, Answer) else None for outcome in outcomes]
    usage = [outcome.usage() if isinstance(outcome, Answer) else {"error": str(outcome)} for outcome in outcomes]
    failed = {place: str(o) for place, o in enumerate(outcomes) if isinstance(o, GenerationError)}
    odd = oddities(outcomes, labels, is_json=wish.schema is not None)
    return MarkedResult({"ans_ls": texts, "usage_ls": usage}, failed=failed, warnings=[*warnings, *odd, *now.warnings])


def oddities(outcomes: Sequence[Outcome], labels: Sequence[str], *, is_json: bool) -> list[str]:
    """What is odd about answers: cut off, empty, no JSON; and prompts that were shortened."""
    answers = [(label, outcome) for label, outcome in zip(labels, outcomes, strict=True) if isinstance(outcome, Answer)]
    cut = [label for label, answer in answers if answer.finish_reason == "length"]
    empty = [f"{label} (finish_reason: {answer.finish_reason})" for label, answer in answers if not answer.text]
    broken = [label for label, answer in answers if is_json and not _is_json(answer.text)]
    said = [
        (cut, "cut off at sampling_params.max_tokens: the answer of"),
        (empty, "the model gave no content for"),
        (broken, "no JSON, as the schema asks: the answer of"),
    ]
    shortened = [f"{label} {answer.shortened}" for label, answer in answers if answer.shortened]
    return [
        *(f"{words} {listed(which)}" for which, words in said if which),
        *([f"too long, and shortened: the prompt of {listed(shortened, '; ')}"] if shortened else []),
    ]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


async def shut_down(*, endpoints_too: bool = False) -> None:
    """Close what is loaded."""
    global model
    if model is not None and (endpoints_too or model.backend.holds_model):
        closing, model = model, None
        await closing.close()


if __name__ == "__main__":
    app.run(transport="stdio")
