"""The evaluation server: normal form, scores, and the file they go to."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import evaluation
import pytest
import scores
from fastmcp.exceptions import ToolError
from stemming import stem

from workbench.cases.answer_text import tokens, words


def column(metric: str, *pairs: tuple[str, list[str]]) -> list[float]:
    return [round(scores.METRICS[metric](prediction, golds), 4) for prediction, golds in pairs]


CHOICES = [
    ("A", ["A"]),
    ("C", ["A"]),
    ("The", ["The"]),
    ("B", ["B"]),
    ("anything", [""]),
    ("anything", []),
    ("beatles", ["The Beatles"]),
]


@pytest.mark.parametrize("metric", ["acc", "em", "coverem", "f1"])
def test_articles_as_golds_and_no_golds(metric: str) -> None:
    assert column(metric, *CHOICES) == [1, 0, 1, 1, 0, 0, 1]


def test_em_is_never_above_f1_and_containment_is_not_em() -> None:
    pairs = [
        ("It was in December 1972.", ["14 December 1972 UTC", "December 1972"]),
        ("Ines Calder", ["Ines Calder"]),
        ("10 May", ["9 May"]),
    ]
    assert column("em", *pairs) == [0, 1, 0]
    assert column("acc", *pairs) == [1, 1, 0]
    assert column("coverem", *pairs) == [1, 1, 0]
    assert column("stringem", *pairs) == [0, 1, 0]
    assert column("f1", *pairs) == [0.5714, 1, 0.5]


def test_chinese_answers_are_compared_by_character() -> None:
    pairs = [
        ("白沙镇。", ["白沙镇"]),
        ("在白沙镇的河边", ["白沙镇"]),
        ("1972年", ["１９７２年"]),
        ("盐坊", ["《盐坊》"]),
        ("Paris,", ["Paris"]),
    ]
    assert column("em", *pairs) == [1, 0, 1, 1, 1]
    assert column("f1", *pairs) == [1, 0.6, 1, 1, 1]
    assert column("acc", *pairs) == [1, 1, 1, 1, 1]


def test_a_one_letter_gold_is_a_word_not_a_letter_of_another() -> None:
    assert column("acc", ("because", ["B"]), ("It is B.", ["B"]), ("", ["B"])) == [0, 1, 0]


def test_stringem_is_the_share_of_golds() -> None:
    assert column("stringem", ("x b", ["x b", "b", "c", "X B"])) == [0.5]


def test_rouge() -> None:
    same = "北灯塔由伊内斯看守"
    pairs = [(same, [same]), ("盐坊建在马罗镇", [same]), ("red kiln", ["red kiln"]), ("red clay kiln", ["red kiln"])]
    assert column("rouge-1", *pairs) == [1, 0, 1, 0.8]
    assert column("rouge-2", *pairs) == [1, 0, 1, 0]
    assert column("rouge-l", *pairs) == [1, 0, 1, 0.8]
    assert column("rouge-l", ("kiln red", ["red kiln"])) == [0.5]


def test_rouge_compares_stems() -> None:
    for metric in ("rouge-1", "rouge-2", "rouge-l"):
        assert column(metric, ("run kiln", ["running kilns"])) == [1]


STEMS = """
caresses caress ponies poni cats cat feed feed agreed agre plastered plaster bled bled motoring motor sing
sing conflated conflat troubled troubl sized size hopping hop tanned tan falling fall hissing hiss fizzed fizz
failing fail filing file happy happi relational relat conditional condit rational ration digitizer digit
vietnamization vietnam triplicate triplic formative form electrical electr hopeful hope goodness good revival
reviv allowance allow inference infer airliner airlin adjustable adjust replacement replac adoption adopt
communism commun activate activ probate probat rate rate controll control roll roll sky sky it it 1972s 1972s
"""


def test_stems_are_those_of_the_paper() -> None:
    pairs = STEMS.split()
    assert [stem(word) for word in pairs[::2]] == pairs[1::2]


def test_normal_form() -> None:
    assert words("The old_mill, at 3.5 km!") == ["the", "old", "mill", "at", "3", "5", "km"]
    assert tokens("The old mill") == ["old", "mill"]
    assert tokens("The") == ["the"]
    assert words("True") == ["yes"]


def test_all_metrics_without_a_choice() -> None:
    result = evaluation.score_all(["a"], [["a"]], None)
    assert list(result) == [name for metric in scores.METRICS for name in (metric, f"avg_{metric}")]


@pytest.mark.parametrize(
    ("predictions", "golds", "metrics", "message"),
    [
        (["a", "b"], [["a"], ["b"], ["c"]], ["em"], "pred_ls has 2 entries and gt_ls has 3"),
        ([], [], ["em"], "nothing to evaluate"),
        (["a"], [["a"]], ["bleu"], "unknown metric 'bleu'; known are acc, em"),
    ],
)
def test_what_can_not_be_scored(predictions: list[str], golds: Any, metrics: list[str], message: str) -> None:
    with pytest.raises(ToolError, match=message):
        evaluation.score_all(predictions, golds, metrics)


def test_results_are_kept_in_a_new_file_each_time(project: Path) -> None:
    first = evaluation.evaluate(["1972", "x"], [1972, None], ["em"], "output/deep/res.json")["eval_res"]
    second = evaluation.evaluate(["1972", "x"], [1972, None], ["em"], "output/deep/res.json")["eval_res"]
    assert first["em"] == [1.0, 0.0]
    assert first["avg_em"] == 0.5
    assert first["path"] != second["path"]
    assert Path(first["path"]).parent == project / "output" / "deep"
    assert json.loads(Path(first["path"]).read_text()) == {
        "em": [1.0, 0.0],
        "avg_em": 0.5,
        "intervals": {"em": [0.0, 1.0]},
    }


def test_the_file_has_the_date_in_its_name(tmp_path: Path) -> None:
    now = datetime(2026, 1, 2, 3, 4, 5)
    first = evaluation.stamped(tmp_path / "res.json", now)
    assert first.name == "res_20260102_030405.json"
    first.touch()
    assert evaluation.stamped(tmp_path / "res.json", now).name == "res_20260102_030405_2.json"
