"""Two runs side by side."""

from __future__ import annotations

from pathlib import Path

from tests.cases.toy import ANSWERS, GOLDS, PASSAGES, PREDICTIONS, PROMPTS, QUESTIONS, visits, write
from workbench.cases.compare import Comparison
from workbench.cases.opening import open_runs
from workbench.cases.permutation import paired_test
from workbench.cases.study import Study
from workbench.cases.word_diff import marked, word_diff


def study(folder: Path, name: str, **changed: object) -> Study:
    return Study(open_runs(write(folder, visits(**changed), name))[0])


def test_where_items_part_and_what_came_of_it(tmp_path: Path) -> None:
    answers = ["\\boxed{Ada}", *ANSWERS[1:3], "So: \\boxed{oat flour}", *ANSWERS[4:]]
    predictions = ["Ada", *PREDICTIONS[1:3], "oat flour", *PREDICTIONS[4:]]
    one, other = study(tmp_path, "a.json"), study(tmp_path, "b.json", ans_ls=answers, pred_ls=predictions)
    found = Comparison(one, other)
    assert found.outcomes == {"better": 1, "worse": 1, "changed": 0, "same": 4}
    parting = found.items[3].parting
    assert parting is not None
    assert parting.first is not None
    assert (parting.first.step, parting.name) == ("generation.generate", "ans_ls")
    assert marked(parting.pieces) == "[-It is-]{+So:+} \\boxed{oat flour}"
    assert found.items[1].parting is None
    assert {score.name: (score.first, score.second) for score in found.scores}["em"] == (2 / 6, 2 / 6)


def test_items_are_found_by_their_questions(tmp_path: Path) -> None:
    lists = {
        "q_ls": QUESTIONS, "gt_ls": GOLDS, "ret_psg": PASSAGES, "prompt_ls": PROMPTS, "ans_ls": ANSWERS,
        "pred_ls": PREDICTIONS,
    }  # fmt: skip
    turned = {name: values[::-1][:4] for name, values in lists.items()}
    found = Comparison(study(tmp_path, "a.json"), study(tmp_path, "b.json", **turned))
    assert [(pair.first.item, pair.second.item) for pair in found.items] == [(2, 3), (3, 2), (4, 1), (5, 0)]
    assert found.lonely == ([0, 1], [])
    assert found.outcomes["same"] == 4


def test_a_run_that_lacks_a_step(tmp_path: Path) -> None:
    whole = study(tmp_path, "a.json")
    part = Study(open_runs(write(tmp_path, visits()[:3], "b.json"))[0])
    found = Comparison(whole, part)
    assert found.only_first[0].step == "prompt.qa_rag_boxed"
    assert found.items[0].outcome == "unknown", "a prediction that is not known has not changed, nor stayed"


def test_the_permutation_test() -> None:
    ones, others = [0.0] * 20, [1.0] * 20
    assert paired_test(ones, ones).p == 1
    found = paired_test(ones, others)
    assert 0 < found.p <= 3 / 10_001
    assert found == paired_test(ones, others)
    assert paired_test([0, 1, 0, 1], [1, 0, 1, 0], seed=3).p > 0.9
    assert paired_test([0.0] * 5000, [0.0, 1.0] * 2500, seed=1).p < 0.01


def test_words_that_changed() -> None:
    assert marked(word_diff("the red kiln", "the blue kiln")) == "the [-red-]{+blue+} kiln"
    assert marked(word_diff("北灯塔", "南灯塔")) == "[-北-]{+南+}灯塔"
    assert "".join(piece.text for piece in word_diff("a b", "a c") if piece.kind != "new") == "a b"


def test_an_answer_that_is_gone_is_a_change(tmp_path: Path) -> None:
    whole, cut = visits(gt_ls=[[] for _ in GOLDS]), visits(gt_ls=[[] for _ in GOLDS])[:-2]
    first, second = (
        Study(open_runs(write(tmp_path, run, f"{name}.json"))[0]) for name, run in (("a", whole), ("b", cut))
    )
    assert Comparison(first, second).outcomes["same"] == 0
