"""Metrics that a model judges, with a judge whose answers are known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import evaluation
import pytest
from fastmcp import Client
from fastmcp.exceptions import ToolError
from judge import Unreadable, read_json

Answer = Callable[[str], Any]


async def judged(tool: str, answer: Answer, **arguments: Any) -> dict[str, Any]:
    """The result of a tool whose questions are answered by a function; texts go as they are, all else as JSON."""

    async def sample(messages: Any, *_: Any) -> str:
        said = answer(messages[0].content.text)
        return said if isinstance(said, str) else json.dumps(said)

    async with Client(evaluation.app, sampling_handler=sample, mode="legacy") as client:
        result = await client.call_tool(tool, {"save_path": "res.json", **arguments})
    found: dict[str, Any] = (result.structured_content or {})["eval_res"]
    warnings = ((result.meta or {}).get("ragwb") or {}).get("warnings", [])
    return {**found, "warnings": warnings}


ITEMS = {"q_ls": ["Who?", "When?"], "ans_ls": ["Ann. She rows.", "In 1848."]}
PASSAGES = {"ret_psg": [["Ann", "nothing"], ["It was in 1848."]]}


async def test_faithfulness_is_the_share_of_statements_that_are_borne_out(project: Path) -> None:
    def judge(prompt: str) -> Any:
        if "Take the answer apart" in prompt:
            return ["It is Ann.", "Ann rows."] if "Ann" in prompt else ["It was in 1848."]
        assert "1. Ann\n2. nothing" in prompt or "1. It was in 1848." in prompt
        return [1, 0] if "Ann rows." in prompt else "<think>[0]</think>```json\n[1]\n```"

    found = await judged("faithfulness", judge, **ITEMS, **PASSAGES)
    assert found["faithfulness"] == [0.5, 1.0]
    assert found["avg_faithfulness"] == 0.75
    assert found["steps"][0] == {"statements": ["It is Ann.", "Ann rows."], "supported": [True, False]}
    assert json.loads(Path(found["path"]).read_text())["avg_faithfulness"] == 0.75


async def test_context_precision_and_recall(project: Path) -> None:
    golds = {"gt_ls": [["Ann"], ["1848"]]}
    passages = {"ret_psg": [["a", "b", "c", "d"], []]}
    found = await judged("context_precision", lambda _: [1, 0, 1, 0], q_ls=ITEMS["q_ls"], **golds, **passages)
    assert found["context_precision"] == [pytest.approx((1 + 2 / 3) / 2), 0.0]
    answers: Answer = lambda prompt: ["x", "y", "z"] if "Take" in prompt else [1, 1, 0]  # noqa: E731
    found = await judged("context_recall", answers, q_ls=ITEMS["q_ls"], **golds, **passages)
    assert found["context_recall"] == [pytest.approx(2 / 3), 0.0]


async def test_answer_relevancy_is_nearness_to_the_question(project: Path) -> None:
    def judge(prompt: str) -> Any:
        if "1848" in prompt:
            return {"questions": ["x"], "evasive": 1}
        return {"questions": ["Who?", "Where is the salt kept in winter?"], "evasive": 0}

    found = await judged("answer_relevancy", judge, **ITEMS)
    near = found["steps"][0]["similarities"]
    assert near[0] == pytest.approx(1, abs=1e-5)
    assert near[1] < 0.6
    assert found["answer_relevancy"] == [pytest.approx(sum(near) / 2), 0.0]


async def test_grades_and_what_can_not_be_read(project: Path) -> None:
    def judge(prompt: str) -> Any:
        assert "kind" in prompt
        return {"grade": 4, "reason": "fine"} if "Ann" in prompt else "I would say 3."

    options = {**ITEMS, "gt_ls": [["Ann"], []], "criteria": "kind"}
    found = await judged("judge_pointwise", judge, **options)
    assert found["pointwise"] == [0.75, None]
    assert (found["avg_pointwise"], found["scored"]) == (0.75, 1)
    why = "[1] no JSON in 'I would say 3.'"
    assert found["warnings"] == [f"the judge can't be understood, and gives no score, for {why}"]
    with pytest.raises(ToolError, match="could not be understood for any item: no JSON in 'no'"):
        await judged("judge_pointwise", lambda _: "no", **{**options, "criteria": "kind"})


async def test_an_answer_that_wins_by_its_place_alone_ties(project: Path) -> None:
    def judge(prompt: str) -> Any:
        better = "A" if "When?" in prompt or "Answer A: good" in prompt else "B"
        return {"better": better}

    found = await judged(
        "judge_pairwise", judge, q_ls=["Who?", "When?"], first_ls=["good", "x"], second_ls=["bad", "y"], criteria="c"
    )
    assert [step["winner"] for step in found["steps"]] == ["first", "tie"]
    assert found["pairwise"] == [1.0, 0.5]


async def test_lists_of_unequal_length(project: Path) -> None:
    with pytest.raises(ToolError, match="q_ls has 2, ans_ls has 2, ret_psg has 1"):
        await judged("faithfulness", lambda _: [], **ITEMS, ret_psg=[["a"]])


@pytest.mark.parametrize(
    ("text", "value"),
    [('{"a": 1}', {"a": 1}), ("as follows: [1, 0].", [1, 0]), ("<think>[1]</think> [0]", [0]), ("[x] then [2]", [2])],
)
def test_json_is_found_in_what_a_model_says(text: str, value: Any) -> None:
    assert read_json(text) == value


@pytest.mark.parametrize(("text", "quoted"), [(" none ", "none"), ("<think>so [1, 0] it may", "")])
def test_no_json_at_all(text: str, quoted: str) -> None:
    with pytest.raises(Unreadable, match=f"no JSON in '{quoted}'"):
        read_json(text)
