"""The server's functions, and the pipeline as a whole; the fixture `ragwb_pipeline` comes with ragwb."""

from __future__ import annotations

from words import count, longest


def test_words_are_counted_in_both_scripts() -> None:
    assert count(["one two", "土星", ""]) == {"count_ls": [2, 2, 0]}


def test_short_words_are_passed_over() -> None:
    assert longest(["a pond of carp", "a b"], shortest=4) == {"longest_ls": ["pond", ""]}


def test_the_pipeline_runs(ragwb_pipeline) -> None:
    run = ragwb_pipeline.run("pipelines/words.yaml")
    run.assert_finished()
    assert run.variable("longest_ls") == ["observatory", "skating", ""]
