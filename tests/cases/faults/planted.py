"""The faults: what each changes in a pipeline that runs well, and the step that is then at fault."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
DATA = ROOT / "pipelines" / "data"
HERE = Path(__file__).parent

ALIASES = ("benchmark", "retriever", "prompt", "custom", "router", "evaluation")
SERVERS = {alias: f"servers/{alias}" for alias in ALIASES} | {
    "reader": str(HERE / "servers" / "reader"),
    "odd": str(HERE / "servers" / "odd"),
}
PLAIN: list[Any] = [
    "benchmark.get_data",
    "retriever.retriever_init",
    "retriever.bm25_index",
    "retriever.bm25_search",
    "prompt.qa_rag_boxed",
    "reader.generate",
    "custom.output_extract_from_boxed",
    "evaluation.evaluate",
]
CONTINUE: list[Any] = [
    {"prompt.gen_subq": {"output": {"prompt_ls": "subq_prompt_ls"}}},
    {"reader.generate": {"input": {"prompt_ls": "subq_prompt_ls"}, "output": {"ans_ls": "subq_ls"}}},
    {"retriever.bm25_search": {"input": {"query_list": "subq_ls"}, "output": {"ret_psg": "temp_psg"}}},
    "custom.merge_passages",
]
ROUTER: list[Any] = [{"router.check_model_state": {"input": {"ans_ls": "check_ls"}, "output": {"ans_ls": "check_ls"}}}]
ROUND: list[Any] = [
    {"prompt.check_passages": {"output": {"prompt_ls": "check_prompt_ls"}}},
    {"reader.generate": {"input": {"prompt_ls": "check_prompt_ls"}, "output": {"ans_ls": "check_ls"}}},
    {"branch": {"router": ROUTER, "branches": {"continue": CONTINUE, "stop": []}}},
]
LOOPED: list[Any] = [
    "benchmark.get_data",
    "retriever.retriever_init",
    "retriever.bm25_search",
    {"loop": {"times": 4, "steps": ROUND}},
    "prompt.qa_rag_boxed",
    "reader.generate",
    "custom.output_extract_from_boxed",
    "evaluation.evaluate",
]
HOPS = (
    ("the keeper of the Gannet Light", "Ada Fenwick", "Thornby", "Wend"),
    ("the keeper of the Brine Light", "Jonas Reddle", "Drumlow", "Carrow"),
    ("the captain of the ferry Blue Heron", "Martha Swale", "Ashen Staithe", "Tarn"),
    ("the captain of the ferry Golden Bream", "Felix Munn", "Saltmere", "Brine"),
)
"""Who it is, their name, the town they were born in, the river it lies on: each is one search further."""


def _asked(who: str) -> str:
    return f"By which river was {who} born?"


NEXT = {
    _asked(who): [
        [f"{name} was born in", f"On which river does the town of {town} lie?"],
        [f"{name} was born in the town", f"On which river does the town of {town} lie?"],
        [name, f"In which town was {name} born?"],
    ]
    for who, name, town, _ in HOPS
}


CHECK = "{{ documents }}\n\nQuestion: {{ question }}\nDo the passages suffice? If not: <search>"


@dataclass
class Planting:
    """What a run is made of; a fault changes it in place. ``folder`` is where its files may go."""

    folder: Path
    steps: list[Any]
    parameters: dict[str, Any]
    after: list[Callable[[], None]] = field(default_factory=list)
    """Done when the run is over: files that are no longer what they were."""

    def own_file(self, name: str, text: str) -> str:
        (self.folder / ".ragwb.yaml").touch()  # templates are taken from the project's own folder only
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        return str(file)


@dataclass(frozen=True)
class Fault:
    """``stage`` and ``step`` (a step path) are what a verdict must name."""

    name: str
    base: str
    stage: str
    step: str
    plant: Callable[[Planting], None]


def rows(base: str) -> list[dict[str, Any]]:
    """The questions of a base with their golds."""
    if base == "plain":
        lines = (DATA / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]
    return [{"question": _asked(who), "golden_answers": [river, f"the river {river}"]} for who, _, _, river in HOPS]


def planting(base: str, folder: Path) -> Planting:
    """The base as it runs well."""
    steps = json.loads(json.dumps(PLAIN if base == "plain" else LOOPED))
    its = rows(base)
    parameters = {
        "benchmark": {
            "benchmark": {"name": "faults", "path": "", "key_map": {"q_ls": "question", "gt_ls": "golden_answers"}}
        },
        "retriever": {"backend": "bm25", "top_k": 3, "corpus_path": str(DATA / "corpus.jsonl")},
        "prompt": {
            name: str(ROOT / "pipelines" / "prompts" / file)
            for name, file in (
                ("template", "qa_rag_boxed.jinja"),
                ("gen_subq_template", "gen_subq.jinja"),
            )
        },
        "reader": {"script": {"facts": {r["question"]: r["golden_answers"][0] for r in its}, "next": NEXT}},
        "evaluation": {"metrics": ["em", "f1"], "save_path": str(folder / "scores.json")},
    }
    made = Planting(folder, steps, parameters)
    parameters["prompt"]["check_psg_template"] = made.own_file("check.jinja", CHECK)
    with_rows(made, its)
    return made


def with_rows(planted: Planting, its: list[dict[str, Any]]) -> None:
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in its)
    planted.parameters["benchmark"]["benchmark"]["path"] = planted.own_file("questions.jsonl", text)


# ---- the faults


def _set(alias: str, name: str, value: Any) -> Callable[[Planting], None]:
    def plant(planted: Planting) -> None:
        planted.parameters[alias][name] = value

    return plant


def _replace(step: int, *others: Any) -> Callable[[Planting], None]:
    def plant(planted: Planting) -> None:
        planted.steps[step - 1 : step] = others

    return plant


def _template(text: str) -> Callable[[Planting], None]:
    def plant(planted: Planting) -> None:
        planted.parameters["prompt"]["template"] = planted.own_file("prompt.jinja", text)

    return plant


def _mode(mode: str) -> Callable[[Planting], None]:
    def plant(planted: Planting) -> None:
        planted.parameters["reader"]["script"]["mode"] = mode

    return plant


def _old_corpus(is_renewed: bool) -> Callable[[Planting], None]:
    """The corpus lacks what answers the questions; ``is_renewed``: after the run, it has it."""

    def plant(planted: Planting) -> None:
        whole = (DATA / "corpus.jsonl").read_text(encoding="utf-8")
        golds = [row["golden_answers"][0] for row in rows("plain")]
        old = "\n".join(line for line in whole.splitlines() if not any(gold in line for gold in golds))
        file = planted.own_file("corpus.jsonl", old)
        planted.parameters["retriever"]["corpus_path"] = file
        if is_renewed:
            planted.after.append(lambda: planted.own_file("corpus.jsonl", whole) and None)

    return plant


def _golds(change: Callable[[dict[str, Any]], Any]) -> Callable[[Planting], None]:
    def plant(planted: Planting) -> None:
        with_rows(planted, [{**row, **change(row)} for row in rows("plain")])

    return plant


def _second_search(planted: Planting) -> None:
    """A second search, of something else, whose passages the prompt reads instead of the first one's."""
    with_rows(planted, [{**row, "other": "Which bird nests on Reed Island?"} for row in rows("plain")])
    planted.parameters["benchmark"]["benchmark"]["key_map"]["other_ls"] = "other"
    planted.steps[4:5] = [
        {"retriever.bm25_search": {"input": {"query_list": "other_ls"}, "output": {"ret_psg": "temp_psg"}}},
        {"prompt.qa_rag_boxed": {"input": {"ret_psg": "temp_psg"}}},
    ]


def _other_query(planted: Planting) -> None:
    """The search is asked something that is not the question."""
    with_rows(planted, [{**row, "other": "Which bird nests on Reed Island?"} for row in rows("plain")])
    planted.parameters["benchmark"]["benchmark"]["key_map"]["other_ls"] = "other"
    planted.steps[3] = {"retriever.bm25_search": {"input": {"query_list": "other_ls"}}}


def _other_column(planted: Planting) -> None:
    planted.parameters["benchmark"]["benchmark"]["key_map"]["gt_ls"] = "id"


def _in_branch(change: Callable[[dict[str, Any]], None]) -> Callable[[Planting], None]:
    def plant(planted: Planting) -> None:
        change(planted.steps[3]["loop"])

    return plant


def _overwrites(loop: dict[str, Any]) -> None:
    """The last search in the loop finds something else, and writes it over the passages."""
    body = loop["steps"][2]["branch"]["branches"]["continue"]
    body.append({"retriever.bm25_search": {"input": {"query_list": "q_ls"}}})


def _never_merged(loop: dict[str, Any]) -> None:
    del loop["steps"][2]["branch"]["branches"]["continue"][3]


def _inverted(loop: dict[str, Any]) -> None:
    loop["steps"][2]["branch"]["router"] = [
        {"odd.inverted": {"input": {"ans_ls": "check_ls"}, "output": {"ans_ls": "check_ls"}}}
    ]


def _reads_other_answer(planted: Planting) -> None:
    planted.steps[6] = {"custom.output_extract_from_boxed": {"input": {"ans_ls": "check_ls"}}}


NUMBERS = {"1342": "thirteen hundred and forty-two", "45": "forty-five"}
HAN = {"Ada Fenwick": "艾达·芬威克", "Gullstead": "古尔斯特德", "Martha Swale": "玛莎·斯韦尔"}
NO_DOCUMENTS = "Answer briefly.\n\nQuestion: {{ question }}\nAnswer:"
CUT = "{{ documents[:24] }}\n\nQuestion: {{ question }}\nAnswer:"

FAULTS = (
    Fault("top_k too small", "plain", "retrieval", "4", _set("retriever", "top_k", 1)),
    Fault("an old corpus", "plain", "retrieval", "4", _old_corpus(is_renewed=False)),
    Fault("an old index of a renewed corpus", "plain", "retrieval", "4", _old_corpus(is_renewed=True)),
    Fault("a template without the passages", "plain", "prompt", "5", _template(NO_DOCUMENTS)),
    Fault("a template that cuts the passages", "plain", "prompt", "5", _template(CUT)),
    Fault("a prompt that reads other passages", "plain", "prompt", "6", _second_search),
    Fault("prompts shifted by one item", "plain", "prompt", "6", _replace(6, "odd.rotate", "reader.generate")),
    Fault("a model that answers wrongly", "plain", "generation", "6", _mode("wrong")),
    Fault("a model that says nothing", "plain", "generation", "6", _mode("empty")),
    Fault("an error as an answer", "plain", "generation", "6", _mode("error")),
    Fault("a pattern that misses", "plain", "extraction", "7", _replace(7, "odd.first_tag")),
    Fault("an extraction that loses all", "plain", "extraction", "7", _replace(7, "odd.nothing")),
    Fault("an extraction of another answer", "looped", "extraction", "7", _reads_other_answer),
    Fault("scores of the whole answer", "plain", "evaluation", "8",
          _replace(8, {"evaluation.evaluate": {"input": {"pred_ls": "ans_ls"}}})),
    Fault("golds in another script", "plain", "evaluation", "8",
          _golds(lambda r: {"golden_answers": [HAN.get(r["golden_answers"][0], r["golden_answers"][0])]})),
    Fault("golds with numbers in words", "plain", "evaluation", "8",
          _golds(lambda r: {"golden_answers": [NUMBERS.get(r["golden_answers"][0], r["golden_answers"][0])]})),
    Fault("questions that are empty", "plain", "data", "1", _golds(lambda r: {"question": ""})),
    Fault("a router that inverts", "looped", "control", "4.3.router.1", _in_branch(_inverted)),
    Fault("a loop that is too short", "looped", "control", "4", _in_branch(lambda loop: loop.update(times=1))),
    Fault("a search that overwrites", "looped", "retrieval", "4.3.continue.5", _in_branch(_overwrites)),
    Fault("passages that are never merged", "looped", "retrieval", "4.3.continue.3", _in_branch(_never_merged)),
)  # fmt: skip

UNSEEN = (
    Fault("a search for something else", "plain", "retrieval", "4", _other_query),
    Fault("an answer that was cut off", "plain", "generation", "6", _mode("cut")),
    Fault("golds from another column", "plain", "data", "1", _other_column),
    Fault("a step that keeps the last passage only", "plain", "retrieval", "5",
          _replace(5, "odd.last_only", "prompt.qa_rag_boxed")),
    Fault("predictions shifted by one item", "plain", "extraction", "8",
          _replace(8, "odd.rotate_predictions", "evaluation.evaluate")),
    Fault("answers shifted by one item", "plain", "extraction", "7",
          _replace(7, "odd.rotate_answers", "custom.output_extract_from_boxed")),
)  # fmt: skip
"""Planted after the rules had been written, and no rule was changed for them."""
