"""The router server: states by mark, by rule and by model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import router
from by_model import chosen_state
from fake_endpoint import FakeEndpoint
from fastmcp import Client
from fastmcp.exceptions import ToolError

from workbench.cli.main import main
from workbench.mcp.client_model import Unclear


@pytest.mark.parametrize(
    ("tool", "argument", "states"),
    [
        ("route1", "query_list", {"1": "state1", "2": "state2", "one": "state2"}),
        ("route2", "query_list", {"1": "state2"}),
        ("ircot_check_end", "ans_ls", {"So THE answer is 3": "complete", "3": "incomplete"}),
        ("search_r1_check", "ans_ls", {"x<|im_end|>": "complete", "</answer>": "incomplete"}),
        ("r1_searcher_check", "ans_ls", {"</answer>": "complete", "x": "incomplete"}),
        ("webnote_check_page", "page_ls", {"To be filled": "incomplete", "done": "complete"}),
        ("route_by_value", "values", {"search": "search", "answer": "answer"}),
        ("check_model_state", "ans_ls", {"<search>x": "continue", "Gullstead": "stop"}),
    ],
)
async def test_routers(tool: str, argument: str, states: dict[str, str]) -> None:
    async with Client(router.app) as client:
        result = await client.call_tool(tool, {argument: list(states)})
    assert result.structured_content == {argument: [{"data": v, "state": s} for v, s in states.items()]}


async def states_of(tool: str, **arguments: Any) -> list[str]:
    async with Client(router.app) as client:
        content = (await client.call_tool(tool, arguments)).structured_content or {}
    return [routed["state"] for routed in content["values"]]


async def test_several_lists_go_the_same_ways() -> None:
    lists = {
        "q_ls": ["q1", "q2"],
        "total_subq_list": [["<PAD>"], ["a"]],
        "total_reason_list": [["<PAD>"], ["b"]],
        "total_final_info_list": [["<PAD>"], ["c"]],
    }
    answers = ["x <|begin_search_query|>y<|end_search_query|>", "<|begin_search_query|>cut"]
    async with Client(router.app) as client:
        content = (await client.call_tool("search_o1_check", {"ans_ls": answers, **lists})).structured_content or {}
        assert set(content) == {"ans_ls", *lists}
        assert all([r["state"] for r in routed] == ["retrieve", "stop"] for routed in content.values())
        assert [r["data"] for r in content["total_subq_list"]] == lists["total_subq_list"]
        with pytest.raises(ToolError, match="ans_ls has 2, q_ls has 1, total_subq_list has 2"):
            await client.call_tool("search_o1_check", {"ans_ls": answers, **lists, "q_ls": ["q1"]})
        survey = {
            name: [1, 2] if name in ("step_ls", "extend_time_ls") else ["search", "done"]
            for name in ("state_ls", "cursor_ls", "survey_ls", "step_ls", "extend_time_ls", "extend_result_ls")
        }
        content = (await client.call_tool("surveycpm_state_router", survey)).structured_content or {}
        assert [(r["data"], r["state"]) for r in content["step_ls"]] == [(1, "search"), (2, "done")]


async def test_by_rule_the_first_that_holds() -> None:
    rules = {"number": "value is number", "short": "value | length < 4", "late": "item > 2"}
    values = [7, "abc", "abcdef", "abcdefg"]
    assert await states_of("route_by_rule", values=values, rules=rules, otherwise="rest") == [
        "number",
        "short",
        "rest",
        "late",
    ]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"a": "value =="}, "the rule of `a` can't be read: `value ==`"),
        ({"a": "valeu == 1"}, "the rule of `a` can't be evaluated for item .0.: `valeu == 1`: 'valeu' is undefined"),
        ({"a": "value.x.y"}, "can't be evaluated for item .0."),
        ({"a": "value.__class__.mro()"}, "can't be evaluated"),
        ({"a": "false"}, "no rule holds for item .0., and no state `otherwise` is given; rules: a"),
    ],
)
async def test_rules_that_do_not_work(rules: dict[str, str], said: str) -> None:
    with pytest.raises(ToolError, match=said):
        await states_of("route_by_rule", values=["x"], rules=rules)


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("easy", "easy"),
        (" **Hard**.", "hard"),
        ("<think>hard or easy?</think>\nThe text is easy.", "easy"),
        ("hard, or not?</think>easy", "easy"),
        ("uneasy, I would say hard", "hard"),
        ("这是难题", "难题"),
    ],
)
def test_what_a_models_answer_means(answer: str, state: str) -> None:
    assert chosen_state(answer, dict.fromkeys(("easy", "hard", "难题"), ""), "") == state


@pytest.mark.parametrize("answer", ["", "easy or hard", "neither", "<think>it may be easy, but"])
def test_an_answer_that_names_no_state(answer: str) -> None:
    states = {"easy": "", "hard": ""}
    assert chosen_state(answer, states, "hard") == "hard"
    with pytest.raises(Unclear, match=r"the model chose no state: it answered '"):
        chosen_state(answer, states, "")


PIPELINE = """\
servers: {benchmark: servers/benchmark, router: servers/router, generation: servers/generation}
pipeline:
- benchmark.get_data
- generation.generation_init
- branch:
    router:
    - router.route_by_llm: {input: {values: q_ls}, output: {values: q_ls}}
    branches: {streamed: [], light: []}
"""


def run(endpoint: FakeEndpoint, folder: Path, model: str, questions: list[str], states: str) -> int:
    """The pipeline over questions, with a model of the fake endpoint."""
    (folder / "p.yaml").write_text(PIPELINE, encoding="utf-8")
    rows = [json.dumps({"question": question, "golden_answers": ["x"]}) for question in questions]
    (folder / "q.jsonl").write_text("\n".join(rows), encoding="utf-8")
    configs = f"{{openai: {{model_name: {model}, retries: 0, base_url: '{endpoint.url}', api_key: abc}}}}"
    return main(
        [
            "run", "p.yaml", "--quiet", "--events",
            "--set", "benchmark.benchmark.path=q.jsonl",
            "--set", "generation.backend=openai",
            "--set", f"generation.backend_configs={configs}",
            "--set", f"router.states={states}",
        ]
    )  # fmt: skip


def test_the_pipelines_own_model_chooses(
    endpoint: FakeEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody is asked, and nothing is configured: a server that ragwb ships may ask the pipeline's model."""
    monkeypatch.chdir(tmp_path)
    code = run(endpoint, tmp_path, "whole", ["who grinds?"], "{streamed: a river, light: ships}")
    out, err = capsys.readouterr()
    assert code == 0, err
    (routed,) = [event for event in map(json.loads, out.splitlines()) if event["type"] == "branch_routed"]
    assert routed["states"] == {"streamed": [0]}
    assert "- light: ships" in endpoint.bodies[-1]["messages"][-1]["content"]
    assert (endpoint.bodies[-1]["max_tokens"], endpoint.bodies[-1]["temperature"]) == (256, 0)


def test_an_item_without_a_state_fails_alone(
    endpoint: FakeEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The model names no state for one item and refuses another: what it said of the third is not thrown away."""
    monkeypatch.chdir(tmp_path)
    questions = ["Is it streamed?", "Is it light or streamed?", "Is it bad?", "Is it long?"]
    code = run(endpoint, tmp_path, "chooser", questions, "{streamed: a river, light: ships}")
    out, err = capsys.readouterr()
    assert code == 0, err
    events = [json.loads(line) for line in out.splitlines()]
    (routed,) = [event for event in events if event["type"] == "branch_routed"]
    assert routed["states"] == {"streamed": [0]}
    (warned,) = [event["warnings"] for event in events if event["type"] == "visit_finished" and event["failed"]]
    assert warned[0].startswith("3 of 4 items failed")
    assert "[1] the model chose no state: it answered 'light or streamed'; states: streamed, light" in warned[0]
    assert "[2] no answer: " in warned[0]
    assert "The content was filtered" in warned[0]
    assert "(it was cut off after 4 characters: it may have 256 tokens)" in warned[0]


async def test_where_no_question_is_answered_the_search_for_states_ends() -> None:
    asked = []

    async def refuse(messages: Any, *_: Any) -> str:
        asked.append(messages)
        raise RuntimeError("the model is gone")

    async with Client(router.app, sampling_handler=refuse, mode="legacy") as client:
        with pytest.raises(ToolError, match=r"no answer to 8 questions in a row: .*the model is gone"):
            await client.call_tool("route_by_llm", {"values": ["x"] * 100, "states": {"a": "", "b": ""}})
    assert len(asked) < 20
