"""Finding the steps of a pipeline again after its file was edited."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.pipeline.outline import Outline, matched, moved, moved_place, outline_of
from workbench.pipeline.reader import read_pipeline

BEFORE = """\
- data.get
- loop:
    times: 3
    steps:
    - prompt.ask: {output: {prompt_ls: ask_ls}}
    - generation.generate
- branch:
    router: [router.route]
    branches:
      more: [prompt.ask, generation.generate]
      "no more": []
- prompt.ask
"""


def outline(tmp_path: Path, steps: str) -> Outline:
    file = tmp_path / "p.yaml"
    file.write_text("servers: {data: d, prompt: p, generation: g, router: r}\npipeline:\n" + steps)
    pipeline = read_pipeline(file).pipeline
    assert pipeline is not None
    return outline_of(pipeline)


CASES = {
    "unchanged": (BEFORE, {"1": "1", "2.2": "2.2", "3.more.1": "3.more.1", "4": "4"}),
    "a step put in before": (
        BEFORE.replace("- data.get\n", "- data.get\n- data.more\n"),
        {"2": "3", "2.1": "3.1", "3.router.1": "4.router.1", "4": "5"},
    ),
    "a step taken out of the loop": (
        BEFORE.replace("    - generation.generate\n- branch", "- branch"),
        {"2": "2", "2.1": "2.1", "2.2": None, "3.more.2": "3.more.2"},
    ),
    "the loop taken out": (
        BEFORE.replace(BEFORE[BEFORE.index("- loop") : BEFORE.index("- branch")], ""),
        {"2": None, "2.1": None, "3": "2", "3.more.1": "2.more.1", "4": "3"},
    ),
    "a branch of another name": (BEFORE.replace("more: [", "again: ["), {"3": "3", "3.more.1": None, "4": "4"}),
    "one of two steps of a name taken out": (BEFORE.rpartition("- prompt")[0], {"3": "3", "4": None}),
}


@pytest.mark.parametrize("case", CASES)
def test_steps_are_found_again(tmp_path: Path, case: str) -> None:
    text, expected = CASES[case]
    found = matched(outline(tmp_path, BEFORE), outline(tmp_path, text))
    assert {path: found.get(path) for path in expected} == expected


def test_of_two_steps_of_a_name_the_one_with_the_same_text_is_meant(tmp_path: Path) -> None:
    old = outline(tmp_path, "- prompt.ask: {output: {prompt_ls: a_ls}}\n- prompt.ask: {output: {prompt_ls: b_ls}}\n")
    new = outline(tmp_path, "- prompt.ask: {output: {prompt_ls: b_ls}}\n")
    assert matched(old, new) == {"2": "1"}


def test_a_step_that_was_put_into_a_loop_has_moved(tmp_path: Path) -> None:
    old = outline(tmp_path, "- data.get\n- prompt.ask\n- generation.generate\n")
    new = outline(tmp_path, "- data.get\n- loop: {times: 2, steps: [prompt.ask, generation.generate]}\n")
    assert matched(old, new) == {"1": "1"}
    assert moved(old, new) == {"1": "1", "2": "2.1", "3": "2.2"}


def test_the_paths_of_branches_move_with_them(tmp_path: Path) -> None:
    old = outline(tmp_path, BEFORE)
    found = moved(old, outline(tmp_path, "- data.more\n" + BEFORE))
    assert moved_place("3.more", old, found) == "4.more"
    assert moved_place('3."no more"', old, found) == '4."no more"'
    assert moved_place("2", old, found) == "3"
    assert moved_place("9", old, found) is None
