"""Whether every prompt of a run holds its own item's texts: right runs with all that may mislead, and wrong ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.cases.item_check import ItemCheck, check_items
from workbench.cases.opening import open_runs
from workbench.cases.study import Study
from workbench.cli.main import main

QUESTIONS = [
    "Who is the keeper of the Gannet Light?",
    "Who is the keeper of the Gannet Light, and when was she born?",
    "On which river does Thornby lie?",
    "On which river does Thornby lie?",
]
SHARED = "The keeper of the Gannet Light is Ada Fenwick, who also winds the clock of the town hall every Sunday."
FOUND = [
    [SHARED, "The Gannet Light is 31 metres high."],
    [SHARED, "Ada Fenwick was born in Thornby in 1948."],
    ["Thornby lies on the river Wend.", "Wend Bridge spans the river Wend."],
    ["Thornby lies on the river Wend.", "Wend Bridge spans the river Wend."],
]
NEW = [["The tower has a white light."], ["She taught at school in younger years."], ["Long Plank, 1894."], ["Wend."]]
MERGED = [[*old, *new] for old, new in zip(FOUND, NEW, strict=True)]
PIPELINE = """
servers:
  benchmark: servers/benchmark
  retriever: servers/retriever
  prompt: servers/prompt
  generation: servers/generation
  custom: servers/custom
pipeline:
- benchmark.get_data
- retriever.bm25_search
- prompt.gen_subq: {output: {prompt_ls: subq_prompt_ls}}
- generation.generate: {input: {prompt_ls: subq_prompt_ls}, output: {ans_ls: subq_ls}}
- retriever.bm25_search: {input: {query_list: subq_ls}, output: {ret_psg: temp_psg}}
- custom.merge_passages
- prompt.qa_rag_boxed
- generation.generate
"""
TEMPLATE = "{{ documents }}\n\nAnswer in a few words.\nQuestion: {{ question }}\nAnswer:"
QUERIES = [f"{question} Tell me more of it." for question in QUESTIONS]


def ask(question: str, passages: list[str]) -> str:
    return "\n".join(passages) + f"\n\nAnswer in a few words.\nQuestion: {question}\nAnswer:"


def moved(values: list[Any]) -> list[Any]:
    """Each item has what the one before it should have."""
    return [values[-1], *values[:-1]]


Written = dict[str, list[Any]]


def right() -> Written:
    return {
        "q_ls": QUESTIONS,
        "ret_psg": FOUND,
        "subq_prompt_ls": list(map(ask, QUESTIONS, FOUND)),
        "subq_ls": QUERIES,
        "temp_psg": NEW,
        "merged": MERGED,
        "prompt_ls": list(map(ask, QUESTIONS, MERGED)),
        "ans_ls": ["Ada Fenwick", "1948", "Wend", "the Wend"],
    }


def written(folder: Path, run: Written, template: str | None = TEMPLATE) -> Path:
    """A memory file beside its pipeline, whose template is there unless it is None."""
    prompts = folder / "prompts"
    prompts.mkdir(exist_ok=True)
    (folder / "servers").mkdir(exist_ok=True)
    (folder / "p.yaml").write_text(PIPELINE, encoding="utf-8")
    if template is not None:
        (prompts / "ask.jinja").write_text(template, encoding="utf-8")
    (folder / "parameter").mkdir(exist_ok=True)
    names = "{template: prompts/ask.jinja, gen_subq_template: prompts/ask.jinja}"
    (folder / "parameter/p_parameter.yaml").write_text(f"prompt: {names}\n", encoding="utf-8")
    steps = [
        ("benchmark.get_data", "q_ls", run["q_ls"]),
        ("retriever.bm25_search", "ret_psg", run["ret_psg"]),
        ("prompt.gen_subq", "subq_prompt_ls", run["subq_prompt_ls"]),
        ("generation.generate", "subq_ls", run["subq_ls"]),
        ("retriever.bm25_search", "temp_psg", run["temp_psg"]),
        ("custom.merge_passages", "ret_psg", run["merged"]),
        ("prompt.qa_rag_boxed", "prompt_ls", run["prompt_ls"]),
        ("generation.generate", "ans_ls", run["ans_ls"]),
    ]
    visits = [{"step": step, "memory": {f"memory_{name}": value}} for step, name, value in steps]
    file = folder / "memory_toy_p_20250101_120000.json"
    file.write_text(json.dumps(visits), encoding="utf-8")
    return file


def checked(file: Path) -> ItemCheck:
    return check_items(Study(open_runs(file)[0]))


def found(check: ItemCheck) -> list[tuple[int, int, str, str, tuple[int, ...]]]:
    return [(fault.item, fault.visit.number, fault.kind, fault.what, fault.of) for fault in check.faults]


def test_a_right_run_with_repeated_and_contained_questions_and_shared_passages(tmp_path: Path) -> None:
    check = checked(written(tmp_path, right()))
    assert found(check) == []
    assert (check.prompts, check.items, check.visits, check.steps, check.notes) == (8, 4, 2, 2, ())


MISLEADING: dict[str, Callable[[Written], None]] = {
    "passages are cut": lambda run: run.update(
        prompt_ls=[ask(q, [psg[:70] for psg in psgs]) for q, psgs in zip(QUESTIONS, MERGED, strict=True)]
    ),
    "only the first passages": lambda run: run.update(
        prompt_ls=[ask(q, psgs[:1]) for q, psgs in zip(QUESTIONS, MERGED, strict=True)]
    ),
    "no passages were found": lambda run: run.update(
        ret_psg=[[] for _ in FOUND], subq_prompt_ls=[ask(question, []) for question in QUESTIONS]
    ),
    "the model echoes its prompt": lambda run: run.update(subq_ls=run["subq_prompt_ls"]),
    "answers are all the same": lambda run: run.update(subq_ls=["I do not know what to search for."] * 4),
    "escaped for the web": lambda run: run.update(
        prompt_ls=[prompt.replace(",", "&amp;#44;") for prompt in run["prompt_ls"]]
    ),
    "chat messages": lambda run: run.update(
        prompt_ls=[
            [{"role": "system", "content": "Be short."}, {"role": "user", "content": [{"type": "text", "text": text}]}]
            for text in run["prompt_ls"]
        ]
    ),
    "some items stay": lambda run: run.update(
        prompt_ls=["<UNSET>", *run["prompt_ls"][1:3], "<UNSET>"], ans_ls=["<UNSET>", "1948", "Wend", "<UNSET>"]
    ),
    "a question in a passage": lambda run: run.update(
        ret_psg=[[QUESTIONS[2]], *FOUND[1:]],
        subq_prompt_ls=[ask(QUESTIONS[0], [QUESTIONS[2]]), *run["subq_prompt_ls"][1:]],
    ),
}


@pytest.mark.parametrize("case", MISLEADING)
@pytest.mark.parametrize("template", [TEMPLATE, None], ids=["template", "no template"])
def test_what_is_right_is_no_fault(tmp_path: Path, case: str, template: str | None) -> None:
    run = right()
    MISLEADING[case](run)
    assert found(checked(written(tmp_path, run, template))) == []


def test_an_example_in_the_template_is_nobodys(tmp_path: Path) -> None:
    example = f"Question: {QUESTIONS[2]}\nAnswer: Wend\n\n"
    run = right()
    for name in ("prompt_ls", "subq_prompt_ls"):
        run[name] = [example + prompt for prompt in run[name]]
    assert found(checked(written(tmp_path, run, example + TEMPLATE))) == []
    (tmp_path / "prompts/ask.jinja").unlink()
    check = checked(tmp_path / "memory_toy_p_20250101_120000.json")
    assert found(check) == []
    assert any("taken for its template's" in note for note in check.notes)


def test_a_template_with_a_condition_may_leave_the_question_out(tmp_path: Path) -> None:
    template = "{% if documents | length > 90 %}Which passage helps most?{% else %}" + TEMPLATE + "{% endif %}"
    run = right()
    run["prompt_ls"] = ["Which passage helps most?", *run["prompt_ls"][1:]]
    assert found(checked(written(tmp_path, run, template))) == []


def test_prompts_that_moved(tmp_path: Path) -> None:
    run = right() | {"prompt_ls": moved(right()["prompt_ls"])}
    faults = found(checked(written(tmp_path, run)))
    foreign = {(item, what, of) for item, visit, kind, what, of in faults if kind == "foreign" and visit == 7}
    assert {(0, "question", (2, 3)), (2, "question", (1,)), (0, "passage", (2, 3))} <= foreign
    # [3] was given the prompt of [2], which asks the same of the same passages but one.
    assert {what for item, _, kind, what, _ in faults if item == 3 and kind == "foreign"} == {"passage"}
    assert (0, 7, "lacking", "question", (0,)) in faults
    assert {item for item, *_ in faults} == {0, 1, 2, 3}


def test_passages_that_moved_when_they_were_put_together(tmp_path: Path) -> None:
    merged = [[*old, *new] for old, new in zip(FOUND, moved(NEW), strict=True)]
    run = right() | {"merged": merged, "prompt_ls": list(map(ask, QUESTIONS, merged))}
    faults = found(checked(written(tmp_path, run)))
    assert (1, 7, "foreign", "passage", (0,)) in faults
    assert (2, 7, "foreign", "passage", (1,)) in faults
    assert {kind for _, _, kind, _, _ in faults} == {"foreign"}


def test_a_cut_passage_of_another_item(tmp_path: Path) -> None:
    run = right()
    run["prompt_ls"] = [*run["prompt_ls"][:2], ask(QUESTIONS[2], [SHARED[:70], *MERGED[2]]), run["prompt_ls"][3]]
    assert found(checked(written(tmp_path, run))) == [(2, 7, "foreign", "passage", (0, 1))]


def test_an_answer_of_another_item(tmp_path: Path) -> None:
    """What a model said for one item stands in the next prompt of another one."""
    run = right()
    said = ["First find out who the keeper is.", "Her name is known, the year is not.", "Look at the map.", "Look."]
    run["subq_ls"] = said
    run["prompt_ls"] = [prompt + f"\n{answer}" for prompt, answer in zip(run["prompt_ls"], moved(said), strict=True)]
    faults = found(checked(written(tmp_path, run)))
    assert (1, 7, "foreign", "subq_ls", (0,)) in faults
    assert {item for item, *_ in faults} == {1, 2}  # [3] asks the same as [2], and might have been told the same


def test_a_question_left_out_is_named_where_the_template_has_it(tmp_path: Path) -> None:
    run = right()
    run["prompt_ls"] = [ask("", MERGED[0]), *run["prompt_ls"][1:]]
    assert found(checked(written(tmp_path, run))) == [(0, 7, "lacking", "question", (0,))]
    (tmp_path / "prompts/ask.jinja").unlink()
    check = checked(tmp_path / "memory_toy_p_20250101_120000.json")
    assert found(check) == []
    assert any("its template is not known" in note for note in check.notes)


def test_a_leak_is_told_once_where_it_begins(tmp_path: Path) -> None:
    run = right()
    first = [*run["subq_prompt_ls"][:2], run["subq_prompt_ls"][2] + SHARED, run["subq_prompt_ls"][3]]
    run["subq_prompt_ls"] = first
    run["prompt_ls"] = [*run["prompt_ls"][:2], run["prompt_ls"][2] + SHARED, run["prompt_ls"][3]]
    assert [(item, visit) for item, visit, *_ in found(checked(written(tmp_path, run)))] == [(2, 3)]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, right())
    assert main(["check-items", str(file)]) == 0
    out = capsys.readouterr().out
    assert out == "8 prompts of 4 items, in 2 visits of 2 steps: each holds its own item's texts and nobody else's\n"
    written(tmp_path, right() | {"prompt_ls": moved(right()["prompt_ls"])})
    assert main(["check-items", str(file)]) == 1
    out = capsys.readouterr().out
    assert (
        f'[2] visit 7, 7 prompt.qa_rag_boxed (prompt_ls): holds the question of [1], given by visit 1: "{QUESTIONS[1]}"'
        in out
    )
    assert out.splitlines()[-1].endswith("in 4 of 8 prompts of 4 items, in 2 visits of 2 steps")
    assert main(["check-items", str(file), "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["checked"] == {"prompts": 8, "items": 4, "visits": 2, "steps": 2}
    assert {fault["kind"] for fault in data["faults"]} == {"foreign", "lacking"}
    assert main(["check-items", str(tmp_path / "none.json")]) == 2


@pytest.mark.parametrize(
    ("memory", "reason"),
    [
        ({"memory_q_ls": ["q", "r"]}, "no step of it made prompts for its items"),
        ({"memory_msg": "hello"}, "it has no items"),
    ],
)
def test_where_there_is_nothing_to_check_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], memory: dict[str, Any], reason: str
) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps([{"step": "x.y", "memory": memory}]), encoding="utf-8")
    assert main(["check-items", str(file)]) == 0
    assert capsys.readouterr().out == f"nothing could be checked in {file}: {reason}\n"


def test_a_list_of_prompts_that_is_nobodys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = right()
    assert main(["check-items", str(written(tmp_path, run | {"prompt_ls": run["prompt_ls"][:3]}))]) == 0
    assert "wrote prompt_ls, a list of 3 for 4 items: whose it is is not known" in capsys.readouterr().err
