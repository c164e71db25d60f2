"""Agents: what their models are told and offered, how what they say is read, and where their budget ends."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import generation
import pytest
import pytest_asyncio
from fake_endpoint import FakeEndpoint
from fake_ollama import FakeOllama
from fastmcp import Client
from fastmcp.exceptions import ToolError

from workbench.cli.main import main

TOOLS: dict[str, Any] = {"search": "Finds passages. Its input is a question."}
WEATHER = {
    "description": "The weather.",
    "parameters": {"type": "object", "properties": {"town": {"type": "string"}, "day": {"type": "integer"}}},
}


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def _fresh() -> AsyncIterator[None]:
    await generation.shutdown()
    yield
    await generation.shutdown()


class Agents:
    """Agents over several turns, as a pipeline's loop has them: what a turn gives goes into the next one."""

    def __init__(self, client: Client[Any], **settings: Any) -> None:
        self.client = client
        self.settings = {"agent_tools": TOOLS, "agent_style": "text", **settings}
        self.agents: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        self.failed: dict[str, str] = {}
        self.answers: list[str | None] = []
        self.inputs: list[Any] = []

    async def begin(self, *prompts: str) -> None:
        settings = {name: self.settings[name] for name in ("agent_tools", "agent_style")}
        result = await self.client.call_tool("agent_init", {"prompt_ls": list(prompts), **settings})
        content = result.structured_content or {}
        assert content["observation_ls"] == [""] * len(prompts)
        self.agents = content["agent_ls"]

    async def turn(self, *observations: Any) -> list[str]:
        """Their actions."""
        heard: Sequence[Any] = observations or [""] * len(self.agents)
        given = {"agent_ls": self.agents, "observation_ls": list(heard), **self.settings}
        result = await self.client.call_tool("agent_generate", given)
        content = result.structured_content or {}
        marks = (result.meta or {}).get("ragwb", {})
        self.warnings, self.failed = marks.get("warnings", []), marks.get("failed", {})
        self.agents, self.answers, self.inputs = content["agent_ls"], content["ans_ls"], content["action_input_ls"]
        return content["action_ls"]


async def agents_of(client: Client[Any], endpoint: FakeEndpoint, **settings: Any) -> Agents:
    """Agents whose model is the one that a test plays in the endpoint."""
    configs = {"model_name": "agent", "base_url": endpoint.url, "retries": 0, "concurrency": 4}
    given = {"backend": "openai", "backend_configs": {"openai": configs}, "sampling_params": {}}
    await client.call_tool("generation_init", given)
    return Agents(client, **settings)


def last(body: Mapping[str, Any]) -> str:
    return body["messages"][-1]["content"]


def searcher(body: dict[str, Any]) -> str:
    """Searches once, and answers with what it found."""
    if "Observation:" not in last(body):
        question = last(body).rpartition("Question: ")[2]
        return f"Thought: I must look.\nAction: search\nInput: {question}\nObservation: I make something up"
    return f"Thought: There it is.\nAnswer: {last(body).removeprefix('Observation: ')}"


async def test_an_agent_searches_reads_and_answers(endpoint: FakeEndpoint) -> None:
    endpoint.parts["agent"] = searcher
    async with Client(generation.app) as client:
        agents = await agents_of(client, endpoint)
        await agents.begin("Who keeps it?", "Who built it?")
        assert await agents.turn() == ["search", "search"]
        assert agents.inputs == ["Who keeps it?", "Who built it?"]
        assert "search: Finds passages." in endpoint.bodies[0]["messages"][0]["content"]
        assert "make something up" not in json.dumps(agents.agents)
        assert await agents.turn(["Ada keeps it.", "It is lit."], "Tom.") == ["answer", "answer"]
        assert agents.answers == ["Ada keeps it.\n\nIt is lit.", "Tom."]
        assert agents.warnings == []
        asked = endpoint.seen["agent"]
        assert await agents.turn("stale", "stale") == ["answer", "answer"]
        assert agents.answers == ["Ada keeps it.\n\nIt is lit.", "Tom."]
        assert endpoint.seen["agent"] == asked == 4, "who has answered costs nothing"


@pytest.mark.parametrize(
    ("said", "action", "given"),
    [
        ("Action: search[the keeper]", "search", "the keeper"),
        ("Action: Search(the keeper)\nObservation: x", "search", "the keeper"),
        ('**Action:** search\n**Action Input:** "the keeper"', "search", "the keeper"),
        ("Action: search\nInput: the keeper\nThought: then\nAnswer: Ada", "search", "the keeper"),
        ("<think>Action: nothing</think>Action: search\nInput: a\nb", "search", "a\nb"),
        ('{"thought": "t", "action": "search", "input": "the keeper"}', "search", "the keeper"),
        ("Final Answer: Ada\nof Thornby", "answer", ""),
    ],
)
async def test_ways_of_writing_an_action(endpoint: FakeEndpoint, said: str, action: str, given: str) -> None:
    endpoint.parts["agent"] = lambda body: said
    async with Client(generation.app) as client:
        agents = await agents_of(client, endpoint)
        await agents.begin("q")
        assert (await agents.turn(), agents.inputs) == ([action], [given])
        assert agents.warnings == []


async def test_what_names_nothing_is_the_answer_and_a_wrong_tool_is_told_at_once(endpoint: FakeEndpoint) -> None:
    replies = iter(["Action: dance\nInput: x", "It is Ada."])
    endpoint.parts["agent"] = lambda body: next(replies)
    async with Client(generation.app) as client:
        agents = await agents_of(client, endpoint)
        await agents.begin("q")
        assert await agents.turn() == ["answer"]
        assert agents.answers == ["It is Ada."]
        assert last(endpoint.bodies[-1]) == "Observation: there is no tool 'dance'; there are search"
        assert agents.warnings == [
            "there is no tool 'dance'; there are search: [0]",
            "neither an action nor an answer was named, what was said is taken as the answer: [0]",
        ]


async def test_steps_are_a_budget_for_each_item(endpoint: FakeEndpoint) -> None:
    endpoint.parts["agent"] = lambda body: "Thought: once more\nAction: search\nInput: x"
    async with Client(generation.app) as client:
        agents = await agents_of(client, endpoint, agent_steps=3)
        await agents.begin("q")
        assert [await agents.turn("found") for _ in range(3)] == [["search"], ["search"], ["answer"]]
        assert last(endpoint.bodies[-1]).startswith("Observation: found\n\nThis is your last turn")
        assert agents.answers == ["Thought: once more\nAction: search\nInput: x"]
        assert agents.warnings == ["without an answer after 3 steps, the last that was said is taken: [0]"]
        assert endpoint.seen["agent"] == 3


async def test_tokens_are_a_budget_for_each_item(endpoint: FakeEndpoint) -> None:
    def play(body: dict[str, Any]) -> dict[str, Any]:
        return {"name": "search", "arguments": '{"input": "x"}'}

    endpoint.parts["agent"] = play
    async with Client(generation.app) as client:
        agents = await agents_of(client, endpoint, agent_style="native", agent_tokens=20)
        await agents.begin("q", "r")
        assert [await agents.turn("found", "found") for _ in range(3)][2] == ["answer", "answer"]
        assert endpoint.seen["agent"] == 4, "10 tokens a turn each"
        assert agents.agents[0]["ended_by"] == "tokens"
        assert agents.warnings == ["without an answer after 20 tokens, the last that was said is taken: [0], [1]"]


@pytest.mark.parametrize("prompts", [["q"], ["q", "r"]], ids=["streamed", "whole"])
async def test_tool_calls_of_the_protocol(endpoint: FakeEndpoint, prompts: list[str]) -> None:
    def play(body: dict[str, Any]) -> str | dict[str, Any]:
        if body["messages"][-1]["role"] == "tool":
            return f"It is {last(body)}."
        return {"name": "weather", "arguments": '{"town": "Thornby", "day": 3}'}

    endpoint.parts["agent"] = play
    async with Client(generation.app) as client:
        tools = {**TOOLS, "weather": WEATHER}
        agents = await agents_of(client, endpoint, agent_style="native", agent_tools=tools)
        await agents.begin(*prompts)
        assert await agents.turn() == ["weather"] * len(prompts)
        assert agents.inputs == [{"town": "Thornby", "day": 3}] * len(prompts)
        offered = [tool["function"] for tool in endpoint.bodies[0]["tools"]]
        assert [tool["name"] for tool in offered] == ["search", "weather"]
        assert offered[0]["parameters"]["required"] == ["input"]
        assert offered[1]["parameters"] == WEATHER["parameters"]
        assert last(endpoint.bodies[0]) in prompts, "the tools are not told in words"
        assert await agents.turn(*["rain"] * len(prompts)) == ["answer"] * len(prompts)
        assert agents.answers == ["It is rain."] * len(prompts)
        messages = endpoint.bodies[-1]["messages"]
        assert messages[-2]["tool_calls"][0]["id"] == messages[-1]["tool_call_id"] == "call_7"


async def test_arguments_that_are_no_json_are_told_at_once(endpoint: FakeEndpoint) -> None:
    replies = iter([{"name": "weather", "arguments": "Thornby"}, "I can't."])
    endpoint.parts["agent"] = lambda body: next(replies)
    async with Client(generation.app) as client:
        agents = await agents_of(client, endpoint, agent_style="native", agent_tools={"weather": WEATHER})
        await agents.begin("q")
        assert await agents.turn() == ["answer"]
        assert last(endpoint.bodies[-1]).startswith("weather takes a JSON object")


async def test_a_turn_that_is_held_to_a_schema(endpoint: FakeEndpoint) -> None:
    def play(body: dict[str, Any]) -> str:
        actions = body["response_format"]["json_schema"]["schema"]["properties"]["action"]["enum"]
        return json.dumps({"thought": "t", "action": actions[0], "input": "Ada"})

    endpoint.parts["agent"] = play
    async with Client(generation.app) as client:
        agents = await agents_of(client, endpoint, agent_style="json", agent_steps=2)
        await agents.begin("q")
        assert [await agents.turn("found") for _ in range(2)] == [["search"], ["answer"]]
        assert agents.answers == ["Ada"]
        assert agents.warnings == []


async def test_an_agent_whose_model_fails_is_named_and_the_others_go_on(endpoint: FakeEndpoint) -> None:
    endpoint.parts["agent"] = searcher
    async with Client(generation.app) as client:
        agents = await agents_of(client, endpoint)
        await agents.begin("q", "r")
        await agents.turn()
        await client.call_tool(
            "generation_init",
            {
                "backend": "openai",
                "backend_configs": {"openai": {"model_name": "choosy", "base_url": endpoint.url, "retries": 0}},
                "sampling_params": {},
            },
        )
        assert await agents.turn("good", "bad") == ["answer", ""]
        assert list(agents.failed) == ["1"]
        assert "The content was filtered" in agents.failed["1"]


async def test_ollama_calls_tools_in_its_own_way() -> None:
    with FakeOllama() as server:
        async with Client(generation.app) as client:
            configs = {"model_name": "smol", "base_url": server.url}
            given = {"backend": "ollama", "backend_configs": {"ollama": configs}, "sampling_params": {}}
            await client.call_tool("generation_init", given)
            agents = Agents(client, agent_style="native")
            await agents.begin("who?")
            assert (await agents.turn(), agents.inputs) == (["search"], ["who?"])
            assert await agents.turn("Ada") == ["answer"]
            assert agents.answers == ["It is Ada"]
            messages = server.bodies[-1][1]["messages"]
            assert messages[-2]["tool_calls"] == [{"function": {"name": "search", "arguments": {"input": "who?"}}}]
            assert messages[-1] == {"role": "tool", "content": "Ada"}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"agent_tools": {}}, "agent_tools names no tool"),
        ({"agent_tools": {"Answer": "x"}}, "no tool can be called Answer"),
        ({"agent_tools": {"x": {"description": "y"}}}, "agent_tools.x is a description, or a map"),
        ({"agent_style": "free"}, "agent_style is text or json or native, not 'free'"),
    ],
)
async def test_settings_that_mean_nothing(settings: dict[str, Any], said: str) -> None:
    async with Client(generation.app) as client:
        with pytest.raises(ToolError, match=said):
            await Agents(client, **settings).begin("q")


async def test_what_is_no_agent_and_a_backend_without_tool_calls(endpoint: FakeEndpoint) -> None:
    async with Client(generation.app) as client:
        agents = await agents_of(client, endpoint, agent_steps=0)
        await agents.begin("q")
        with pytest.raises(ToolError, match="agent_steps and agent_tokens are 1 or more"):
            await agents.turn()
        agents.settings["agent_steps"] = 2
        agents.agents = [{"text": "q"}]
        with pytest.raises(ToolError, match="agent_init begins them"):
            await agents.turn()
        given = {"backend": "llama_cpp", "backend_configs": {}, "sampling_params": {}}
        await client.call_tool("generation_init", given)
        native = Agents(client, agent_style="native")
        await native.begin("q")
        with pytest.raises(ToolError, match=r"set generation\.agent_style to text"):
            await native.turn()


def keeper(body: dict[str, Any]) -> str:
    """Answers from the first passage; questions about a ferry take two searches, of which the second is by meaning."""
    question = body["messages"][0]["content"].rpartition("Question: ")[2].strip()
    seen = [m["content"] for m in body["messages"] if m["role"] == "user"][1:]
    if len(seen) == (2 if "ferry" in question else 1):
        passage = seen[-1].removeprefix("Observation: ").splitlines()[0]
        return json.dumps({"thought": "there it is", "action": "answer", "input": f"{question} {passage}"})
    return json.dumps({"thought": "look", "action": "meaning" if seen else "words", "input": question})


def test_the_shipped_agent_shows_every_call_as_a_visit(
    endpoint: FakeEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    endpoint.parts["agent"] = keeper
    configs = f"{{openai: {{model_name: agent, base_url: '{endpoint.url}', concurrency: 4}}}}"
    react = Path(__file__).parents[2] / "pipelines" / "react.yaml"
    asked = "benchmark.benchmark.path=pipelines/data/questions_two_hop.jsonl"
    sets = ["generation.backend=openai", f"generation.backend_configs={configs}", asked, "benchmark.benchmark.limit=6"]
    code = main(["run", str(react), "--quiet", "--events", *(part for each in sets for part in ("--set", each))])
    out, err = capsys.readouterr()
    assert code == 0, err
    events = [json.loads(line) for line in out.splitlines()]
    steps = [(e["step"], e["round"], e["items"]) for e in events if e["type"] == "visit_finished" and e["round"]]
    assert [step for step, _, _ in steps] == [
        *("6.1", "6.2.router.1", "6.2.words.1"),
        *("6.1", "6.2.router.1", "6.2.meaning.1"),
        *("6.1", "6.2.router.1"),
    ]
    assert steps[2][2] == [0, 1, 2, 3, 4, 5]
    assert steps[5][2] == [3, 4], "the two questions about a ferry"
    (memory,) = Path("output").glob("memory_harbour_react_*.json")
    values = {k: v for entry in json.loads(memory.read_text("utf-8")) for k, v in entry["memory"].items()}
    for question, answer, agent in zip(*(values[f"memory_{n}"] for n in ("q_ls", "ans_ls", "agent_ls")), strict=True):
        assert answer.startswith(question)
        assert agent["messages"][0]["content"].endswith(f"Question: {question}")
    assert endpoint.seen["agent"] == 4 * 2 + 2 * 3


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Thought: t\nAction: answer\nInput: bones", "bones"),
        ("Action: Answer\nInput: bones\n\nAnswer: and more", "bones\n\nAnswer: and more"),
        ("Action: answer\nAnswer: bones", "bones"),
        ("Action: answer[bones]", "bones"),
        ({"name": "answer", "arguments": '{"input": "bones"}'}, "bones"),
        ({"name": "answer", "arguments": '{"answer": "bones"}'}, "bones"),
        ({"name": "answer", "arguments": "bones"}, "bones"),
        ('{"action": "answer", "input": "a\\ud800"}', "a\ufffd"),
    ],
)
async def test_the_action_answer_ends_with_its_input(endpoint: FakeEndpoint, said: Any, answer: str) -> None:
    endpoint.parts["agent"] = lambda body: said
    async with Client(generation.app) as client:
        agents = await agents_of(client, endpoint, agent_style="native" if isinstance(said, dict) else "text")
        await agents.begin("q")
        assert (await agents.turn(), agents.answers, agents.warnings) == (["answer"], [answer], [])


async def test_who_is_not_done_has_no_answer(endpoint: FakeEndpoint) -> None:
    endpoint.parts["agent"] = searcher
    async with Client(generation.app) as client:
        agents = await agents_of(client, endpoint)
        await agents.begin("q")
        assert (await agents.turn(), agents.answers) == (["search"], [""])
        assert "I must look" in agents.agents[0]["messages"][-1]["content"]


@pytest.mark.parametrize("arguments", ["{}", '{"question": "x"}', '{"input": ["x"]}', "[1]", "{x"])
async def test_a_plain_tool_without_its_text_is_told_at_once(endpoint: FakeEndpoint, arguments: str) -> None:
    replies: Any = iter([{"name": "search", "arguments": arguments}, {"name": "search", "arguments": '"who?"'}])
    endpoint.parts["agent"] = lambda body: next(replies)
    async with Client(generation.app) as client:
        agents = await agents_of(client, endpoint, agent_style="native")
        await agents.begin("q")
        assert (await agents.turn(), agents.inputs) == (["search"], ["who?"])
        assert last(endpoint.bodies[-1]) == 'search takes one text: {"input": "..."}'


async def test_of_two_calls_in_a_turn_the_second_is_named() -> None:
    with FakeOllama() as server:
        server.calls = 2
        async with Client(generation.app) as client:
            configs = {"model_name": "smol", "base_url": server.url}
            given = {"backend": "ollama", "backend_configs": {"ollama": configs}, "sampling_params": {}}
            await client.call_tool("generation_init", given)
            agents = Agents(client, agent_style="native")
            await agents.begin("who?")
            assert await agents.turn() == ["search"]
            assert agents.warnings == ["one tool is called in a turn, the further calls were passed over: search: [0]"]
