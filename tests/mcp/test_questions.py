"""What servers ask while they work, answered by rule."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mcp.conftest import SERVERS, Bench, python_server, until
from workbench.engine.ports import Asked, AskedKind, Reply, ServerGone, ToolFailed
from workbench.mcp.rules import Rules
from workbench.mcp.sampling import PipelineModel

SERVER = """
import asyncio
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

@app.tool
async def dawdle(ctx: Context) -> str:
    await ctx.elicit("Shall I?", response_type=Choice)
    await asyncio.sleep(600)
    return "done"

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
    return lambda answering=None, **options: bench(sources, answering=answering, **options)


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

    def __init__(self, seconds: float = 600) -> None:
        self.seconds = seconds
        self.asked: list[Asked] = []

    async def answer(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        if asked.kind == "sampling":
            return Reply("accept", f"to {asked.message!r}: something")
        await asyncio.sleep(self.seconds)
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
    await until(lambda: bool(made.of("server_answered")))
    assert told(made) == [("cancel", "the call that asked is over", 1)]
    await until(lambda: any(b'"action":"cancel"' in message.line for message in made.of("message")))
    assert await made.tool("raw", "tool0")  # and whoever else is there works on


async def test_a_server_that_dies_takes_its_question_back(make: Callable[..., Bench]) -> None:
    made = make(Patient())
    call = asyncio.create_task(made.tool("asks", "choose"))
    await until(lambda: bool(made.of("server_asked")))
    os.kill(made.hub.status("asks").pid or 0, signal.SIGKILL)
    with pytest.raises(ServerGone):
        await call
    assert [action for action, _, _ in told(made)] == ["cancel"]


async def test_the_time_of_a_call_does_not_run_while_the_user_thinks(make: Callable[..., Bench]) -> None:
    made = make(Patient(0.8), call_timeout=0.5)
    assert await made.tool("asks", "choose") == "accept colour='green' count=3"
    begun = time.monotonic()
    with pytest.raises(ToolFailed, match=r"asks\.dawdle failed: no answer within 0\.5 s"):
        await made.tool("asks", "dawdle")
    assert 1.2 < time.monotonic() - begun < 3


async def test_questions_and_answers_belong_to_the_visit(make: Callable[..., Bench]) -> None:
    made = make(Patient(0))
    await made.tool("asks", "choose", visit=9)
    about = [message for message in made.of("message") if message.visit == 9]
    assert [(message.way, message.method) for message in about] == [
        ("sent", "tools/call"),
        ("received", "elicitation/create"),
        ("sent", None),
        ("received", None),
    ]
    assert made.of("server_answered")[0].content == {}


async def test_the_user_is_asked_unless_the_configuration_says_otherwise(make: Callable[..., Bench]) -> None:
    async def model(asked: Asked) -> Reply:
        return Reply("accept", f"model: {asked.message}")

    user = Patient(0)
    made = make(Rules(user=user, model=model))
    assert await made.tool("asks", "choose") == "accept colour='green' count=3"
    _, _, sampling = (await made.tool("raw", "tool1"))["answers"]
    assert sampling["result"]["content"]["text"].startswith("to 'Say something'")
    form, asked = user.asked
    assert form.by_model is None
    assert asked.by_model is not None
    assert await asked.by_model() == Reply("accept", "model: Say something")
    settled = make(Rules("refuse", "pipeline", user, model))
    assert await settled.tool("asks", "choose") == "decline None"
    _, _, sampling = (await settled.tool("raw", "tool1"))["answers"]
    assert sampling["result"]["content"]["text"] == "model: Say something"
    assert len(user.asked) == 2


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
    model = PipelineModel(made.hub.call, made.hub.declaration)

    def asked(*texts: str, server: str = "raw", **request: str) -> Asked:
        messages = [{"role": "user", "content": {"type": "text", "text": text}} for text in texts]
        return Asked(server, "sampling", "", {"messages": messages, **request}, 3)

    assert await model(asked("Say it")) == Reply("accept", "|Say it")
    assert await model(asked("a", "b", systemPrompt="Be kind")) == Reply("accept", "Be kind|user: a\n\nuser: b")
    refused = await model(asked("wrong"))
    assert refused.action == "decline"
    assert "no model is loaded" in refused.reason
    assert (await model(asked("a", server="generation"))).reason == "`generation` would have to answer itself"
