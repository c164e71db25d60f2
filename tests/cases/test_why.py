"""Items of a run: their scores and columns, and what is said of those that are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases.toy import ANSWERS, GOLDS, PASSAGES, PREDICTIONS, PROMPTS, QUESTIONS, study, visits, write
from workbench.cases.gold import Golds
from workbench.cases.numerals import as_number
from workbench.cases.opening import open_runs
from workbench.cases.roles import RoleError, read_role
from workbench.cases.study import Study
from workbench.cases.table import TableError, filtered, ordered, table
from workbench.cases.verdict import totals_text
from workbench.cases.why import verdicts


def changed(values: list[Any], item: int, value: Any) -> list[Any]:
    return [*values[:item], value, *values[item + 1 :]]


def test_each_item_has_its_own_fault(tmp_path: Path) -> None:
    found = verdicts(study(tmp_path))
    said = [(verdict.item, verdict.stage, verdict.reason, verdict.name) for verdict in found]
    assert said == [
        (1, "retrieval", "not found", "retriever.bm25_search"),
        (2, "generation", "not answered", "generation.generate"),
        (3, "extraction", "lost", "custom.output_extract_from_boxed"),
        (4, "evaluation", "same answer", None),
    ]
    assert totals_text(found) == "4 wrong: 1 retrieval, 1 generation, 1 extraction, 1 evaluation"
    lost = found[2]
    assert (lost.expected.text, lost.found.text) == ("It is \\boxed{oat flour}", "It is")
    assert (lost.expected.visit, lost.found.visit, lost.sure) == (5, 6, "certain")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"gt_ls": changed(GOLDS, 0, []), "pred_ls": changed(PREDICTIONS, 0, "x")}, None),
        ({"q_ls": changed(QUESTIONS, 0, " "), "pred_ls": changed(PREDICTIONS, 0, "x")}, ("data", "no question")),
        ({"pred_ls": changed(PREDICTIONS, 0, "")}, ("extraction", "empty")),
        ({"pred_ls": changed(PREDICTIONS, 0, None)}, ("extraction", "empty")),
        (
            {"ans_ls": changed(ANSWERS, 0, ""), "pred_ls": changed(PREDICTIONS, 0, "")},
            ("generation", "empty"),
        ),
        (
            {"ans_ls": changed(ANSWERS, 0, "Error: 500"), "pred_ls": changed(PREDICTIONS, 0, "Error: 500")},
            ("generation", "error"),
        ),
        (
            {"ans_ls": changed(ANSWERS, 0, "\\boxed{Ada"), "pred_ls": changed(PREDICTIONS, 0, "Ada")},
            ("generation", "cut off"),
        ),
        (
            {
                "prompt_ls": changed(PROMPTS, 0, "The keep\nwho keeps it?"),
                "ans_ls": changed(ANSWERS, 0, "?"),
                "pred_ls": changed(PREDICTIONS, 0, "?"),
            },
            ("prompt", "dropped"),
        ),
        (
            {
                "prompt_ls": changed(PROMPTS, 0, PROMPTS[1]),
                "ans_ls": changed(ANSWERS, 0, "?"),
                "pred_ls": changed(PREDICTIONS, 0, "?"),
            },
            ("prompt", "other item"),
        ),
        ({"pred_ls": changed(PREDICTIONS, 0, "It is Ada Fenwick, I think")}, ("evaluation", "more words")),
        ({"pred_ls": changed(PREDICTIONS, 0, "Fenwick, Ada")}, ("evaluation", "same answer")),
        (
            {"gt_ls": changed(GOLDS, 0, ["艾达"]), "pred_ls": changed(PREDICTIONS, 0, "Ada")},
            ("evaluation", "other script"),
        ),
    ],
)
def test_the_first_item(tmp_path: Path, values: dict[str, Any], said: tuple[str, str] | None) -> None:
    found = {verdict.item: verdict for verdict in verdicts(study(tmp_path, **values))}
    assert (said is None and 0 not in found) or said == (found[0].stage, found[0].reason)


def test_golds_that_are_everywhere_are_never_certain(tmp_path: Path) -> None:
    values = {
        "gt_ls": changed(GOLDS, 0, ["yes"]),
        "pred_ls": changed(PREDICTIONS, 0, "no"),
        "ans_ls": changed(ANSWERS, 0, "no"),
    }
    found = verdicts(study(tmp_path, **values))[0]
    assert (found.item, found.sure) == (0, "possible")


def test_a_right_answer_that_was_scored_wrong(tmp_path: Path) -> None:
    scores = {"em": [1, 0, 0, 0, 0, 0], "avg_em": 1 / 6}
    content = [*visits(), {"step": "evaluation.evaluate", "memory": {"memory_eval_res": scores}}]
    found = verdicts(Study(open_runs(write(tmp_path, content))[0]))
    last = found[-1]
    assert (last.item, last.stage, last.reason, last.name) == (5, "evaluation", "scored wrong", "evaluation.evaluate")


def test_roles_that_are_named(tmp_path: Path) -> None:
    opened = open_runs(write(tmp_path, visits()))[0]
    assert Study(opened, dict([read_role("prediction=ans_ls")])).rows[3].prediction == ANSWERS[3]
    with pytest.raises(RoleError, match="the run wrote no such variable; did you mean `pred_ls`"):
        Study(opened, {"prediction": "pred_l"})
    with pytest.raises(RoleError, match="ROLE is one of question, gold"):
        read_role("answer=x")


def test_the_table_is_filtered_and_ordered(tmp_path: Path) -> None:
    found = study(tmp_path)
    rows = table(found.rows, verdicts(found))
    assert [row.row.item for row in filtered(rows, "f1 < 0.5 and stage != 'retrieval'")] == [2, 3, 4]
    assert [row.row.item for row in ordered(rows, "-f1")][:2] == [0, 5]
    with pytest.raises(TableError, match=r"rounds.* the columns are item, question"):
        filtered(rows, "rounds > 1")
    with pytest.raises(TableError, match="can't read"):
        filtered(rows, "f1 <")
    with pytest.raises(TableError, match=r"unsafe|undefined"):
        filtered(rows, "question.__class__.__mro__")
    with pytest.raises(TableError, match="did you mean `item`"):
        ordered(rows, "itm")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("forty-two", 42),
        ("1,200", 1200),
        ("one thousand two hundred and six", 1206),
        ("一百二十", 120),
        ("二〇二五", 2025),
        ("十", 10),
        ("a dozen", None),
        ("", None),
        ("and", None),
    ],
)
def test_numbers(text: str, number: int | None) -> None:
    assert as_number(text) == number


def test_golds_in_texts() -> None:
    golds = Golds(["the Old Mill"])
    assert golds.found_in("At the old-mill, they say") == "the Old Mill"
    assert golds.found_in("at the old millstone") is None
    assert Golds(["café"]).same_as("Cafe") is not None
    assert Golds(["马罗镇"]).found_in("他住在马罗镇。") == "马罗镇"
    assert PASSAGES[0][0].startswith("The keeper")


def test_lists_that_are_not_one_entry_per_item_are_nobodys(tmp_path: Path) -> None:
    short = study(tmp_path, pred_ls=PREDICTIONS[:-1])
    assert list(short.misfits) == ["prediction"]
    assert "pred_ls is a list of 5 for 6 items" in short.misfits["prediction"]
    assert all(row.prediction == "" and row.is_right is None for row in short.rows)
    long = study(tmp_path, gt_ls=[*GOLDS, ["more"]])
    assert all(row.golds == () and row.is_right is None for row in long.rows)


def test_what_is_no_number_is_no_answer(tmp_path: Path) -> None:
    nan = float("nan")
    found = study(tmp_path, pred_ls=[nan] * 6, gt_ls=[[nan]] * 6)
    assert all(row.is_right is None and row.golds == () for row in found.rows)
