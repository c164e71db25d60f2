"""What servers ask while they work, answered by rule."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mcp.conftest import SERVERS, Bench, python_server, until
from workbench.engine.ports import Asked, AskedKind, Reply
from workbench.mcp.rules import Rules
from workbench.mcp.sampling import PipelineModel

SERVER = """
from pydantic import BaseModel
from fastmcp import Context, FastMCP

app = FastMCP("asks")

class Choice(BaseModel):
    colour: str = "green"
    count: int = 3

class Name(BaseModel):
    name: str

@app.tool
async def choose(ctx: Context) -> str:
    answer = await ctx.elicit("Which one?", response_type=Choice)
    return f"{answer.action} {getattr(answer, 'data', None)}"

@app.tool
async def name(ctx: Context) -> str:
    return (await ctx.elicit("Who are you?", response_type=Name)).action

app.run(show_banner=False)
"""

MakeBench = Callable[..., Bench]


@pytest.fixture
def make(bench: MakeBench, tmp_path: Path) -> Callable[..., Bench]:
    file = tmp_path / "asks.py"
    file.write_text(SERVER)
    sources = {
        "asks": python_server("asks", file, tmp_path),
        "raw": python_server("raw", SERVERS / "raw.py", tmp_path),
    }
    return lambda answering=None: bench(sources, answering=answering)


def told(made: Bench) -> list[tuple[str, str, int | None]]:
    return [(event.action, event.reason, event.visit) for event in made.of("server_answered")]


async def test_by_default_all_is_refused_with_the_reason(make: Callable[..., Bench]) -> None:
    made = make()
    assert await made.tool("asks", "choose", visit=7) == "decline None"
    [asked] = made.of("server_asked")
    assert (asked.kind, asked.message, asked.visit, asked.number) == ("elicitation", "Which one?", 7, 1)
    assert asked.request["requestedSchema"]["properties"]["colour"]["default"] == "green"
    [(action, reason, visit)] = told(made)
    assert (action, visit) == ("decline", 7)
    assert "`elicitation: defaults`" in reason
    _, _, sampling = (await made.tool("raw", "tool1"))["answers"]
    assert sampling["error"]["message"].startswith("sampling is refused: ")


async def test_a_form_is_filled_in_with_its_defaults(make: Callable[..., Bench]) -> None:
    made = make(Rules("defaults"))
    assert await made.tool("asks", "choose") == "accept colour='green' count=3"
    assert await made.tool("asks", "name") == "decline"
    assert [(action, reason) for action, reason, _ in told(made)] == [
        ("accept", ""),
        ("decline", "required fields without a default: name"),
    ]


class Patient:
    """Somebody who takes his time over forms, and answers a model's questions at once."""

    kinds: frozenset[AskedKind] = frozenset({"elicitation", "sampling"})

    async def answer(self, asked: Asked) -> Reply:
        if asked.kind == "sampling":
            return Reply("accept", f"to {asked.message!r}: something")
        await asyncio.sleep(600)
        return Reply("accept", {})


async def test_whoever_answers_may_be_another(make: Callable[..., Bench]) -> None:
    made = make(Patient())
    _, _, sampling = (await made.tool("raw", "tool1", visit=3))["answers"]
    assert sampling["result"]["content"] == {"type": "text", "text": "to 'Say something': something"}
    assert b'"sampling":{}' in made.of("message", "raw")[0].line
    assert [(event.kind, event.action, event.visit) for event in made.of("server_answered")] == [
        ("sampling", "accept", 3)
    ]


async def test_a_cancelled_call_takes_its_question_back(make: Callable[..., Bench]) -> None:
    made = make(Patient())
    call = asyncio.create_task(made.tool("asks", "choose"))
    await until(lambda: bool(made.of("server_asked")))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await made.hub.stop("asks")
    await until(lambda: bool(made.of("server_answered")))
    assert told(made)[0][:2] == ("cancel", "the server did not wait for an answer")


async def test_the_pipelines_model_answers(bench: MakeBench, tmp_path: Path) -> None:
    """`sampling: pipeline`: the tool `generate` of the server `generation`."""
    (tmp_path / "generation.py").write_text(
        "from workbench.mcp.kit import ToolServer\napp = ToolServer('generation')\n"
        "@app.tool(output='prompt_ls->ans_ls')\n"
        "def generate(prompt_ls: list[str], system_prompt: str = '') -> dict:\n"
        "    if 'wrong' in prompt_ls[0]: raise ValueError('no model is loaded')\n"
        "    return {'ans_ls': [f'{system_prompt}|{prompt}' for prompt in prompt_ls]}\n"
        "app.run()\n"
    )
    made = bench({"generation": python_server("generation", tmp_path / "generation.py", tmp_path)})
    model = PipelineModel(made.hub.call)

    def asked(*texts: str, server: str = "raw", **request: str) -> Asked:
        messages = [{"role": "user", "content": {"type": "text", "text": text}} for text in texts]
        return Asked(server, "sampling", "", {"messages": messages, **request}, 3)

    assert await model(asked("Say it")) == Reply("accept", "|Say it")
    assert await model(asked("a", "b", systemPrompt="Be kind")) == Reply("accept", "Be kind|user: a\n\nuser: b")
    refused = await model(asked("wrong"))
    assert refused.action == "decline"
    assert "no model is loaded" in refused.reason
    assert (await model(asked("a", server="generation"))).reason == "`generation` would have to answer itself"
