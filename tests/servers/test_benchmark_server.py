"""The benchmark server: reading, pairing, choosing."""

from __future__ import annotations

import csv
import json
import random
import sys
from datetime import date
from pathlib import Path
from typing import Any

import benchmark
import pytest
from fastmcp import Client
from fastmcp.exceptions import ToolError
from stdio import running

from workbench.cli.main import main

KEYS = {"q_ls": "question", "gt_ls": "golds"}


def get(project: Path, text: str | bytes, name: str = "data.jsonl", **options: Any) -> dict[str, list[Any]]:
    return marked(project, text, name, **options)[0]


def marked(
    project: Path, text: str | bytes, name: str = "data.jsonl", **options: Any
) -> tuple[dict[str, list[Any]], list[str]]:
    """The lists, and the warnings that came with them."""
    (project / name).write_bytes(text.encode() if isinstance(text, str) else text)
    result = benchmark.get_data({"path": name, "key_map": KEYS, **options})
    return result.structured_content or {}, ((result.meta or {}).get("ragwb") or {}).get("warnings", [])


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def test_bom_crlf_and_blank_lines_are_no_records(project: Path) -> None:
    text = '\ufeff\r\n{"question": "a", "golds": ["1"]}\r\n   \r\n{"question": "b", "golds": ["2"]}\r\n'
    assert get(project, text) == {"q_ls": ["a", "b"], "gt_ls": [["1"], ["2"]]}


def test_a_line_separator_inside_a_text_does_not_cut_the_record(project: Path) -> None:
    assert get(project, '{"question": "a\u2028b", "golds": []}')["q_ls"] == ["a\u2028b"]


def test_a_json_list_with_bom(project: Path) -> None:
    assert get(project, '\ufeff[{"question": "a", "golds": "x"}]', "data.json")["gt_ls"] == [["x"]]


def test_a_broken_line_is_named_with_its_number(project: Path) -> None:
    with pytest.raises(ToolError, match=r'data\.jsonl:3: .*\{"question": "b", "golds": \["2"\]'):
        get(project, '{"question": "a", "golds": []}\n\n{"question": "b", "golds": ["2"]\n')


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("data.json", '{"question": "a"}', "holds one dict"),
        ("data.json", '{"a": 1}\n{"a": 2}', "name it .jsonl"),
        ("data.jsonl", "[1]", "must be a mapping"),
        ("data.jsonl", "\n", "no records"),
        ("data.xml", "a,b", ".jsonl, .json, .csv, .tsv, .parquet"),
        ("data.csv", "a,b\n1,2,3\n", "data.csv:2: 3 cells, and the first line names 2 columns"),
        ("data.csv", "a,a\n1,2\n", "data.csv:1: two columns have the same name: a, a"),
        ("data.csv", "", "no records"),
        ("data.parquet", "", "pip install pyarrow"),
        ("data.jsonl", b'{"question": "\xff"}', "not UTF-8"),
    ],
)
def test_files_that_can_not_be_used(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str | bytes, words: str
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ToolError) as failure:
        get(project, text, name)
    assert words in str(failure.value)


def test_a_missing_file_is_named(project: Path) -> None:
    with pytest.raises(ToolError, match=r"nowhere\.jsonl: there is no such file"):
        benchmark.get_data({"path": "nowhere.jsonl", "key_map": KEYS})


def test_a_key_that_no_record_has_is_named_with_the_keys_there_are(project: Path) -> None:
    with pytest.raises(ToolError, match=r"no record has the key `golds`.*`question`, `answer`"):
        get(project, lines({"question": "a", "answer": "x"}))


def test_records_without_a_key_are_named_and_nothing_is_shifted(project: Path) -> None:
    with pytest.raises(ToolError, match=r"line 2 has no `golds`; line 4 has no `question`"):
        get(
            project,
            lines({"question": "1", "golds": []}, {"question": "2"}, {"question": "3", "golds": []}, {"golds": []}),
        )


def test_golds_become_lists_of_texts(project: Path) -> None:
    records = [{"question": "q", "golds": value} for value in ("Paris", 1972, None, ["a", 2], [])]
    assert get(project, lines(*records))["gt_ls"] == [["Paris"], ["1972"], [], ["a", "2"], []]


def test_records_without_a_gold_are_told(project: Path) -> None:
    records = [{"question": "a", "golds": ["x"]}, {"question": "b", "golds": None}]
    assert marked(project, lines(*records))[1] == ["no gold answer in line 2"]


def test_records_with_gaps_are_left_out_whole_where_that_is_wished(project: Path) -> None:
    text = lines({"question": "1", "golds": ["1"]}, {"question": "2"}, {"question": "3", "golds": ["3"]}, {"golds": []})
    lists, warnings = marked(project, text, missing="skip")
    assert lists == {"q_ls": ["1", "3"], "gt_ls": [["1"], ["3"]]}
    assert warnings == ["data.jsonl: 2 records were left out: line 2 has no `golds`; line 4 has no `question`"]
    with pytest.raises(ToolError, match=r"benchmark\.missing is fail or skip, not 'drop'"):
        get(project, text, missing="drop")


def test_csv_as_spreadsheets_write_it(project: Path) -> None:
    text = '\ufeffquestion,golds\r\n"one, or\r\ntwo?","[""1"", ""uno""]"\r\n\r\nthree,[3\r\nfour\r\n'
    with pytest.raises(ToolError, match="line 6 has no `golds`"):
        get(project, text, "data.csv")
    lists = get(project, text, "data.csv", missing="skip")
    assert lists == {"q_ls": ["one, or\r\ntwo?", "three"], "gt_ls": [["1", "uno"], ["[3"]]}
    assert get(project, "question\tgolds\na\tb\n", "data.tsv") == {"q_ls": ["a"], "gt_ls": [["b"]]}


def test_a_csv_cell_may_hold_a_document(project: Path) -> None:
    document = "mill " * 40_000
    text = f'question,golds\n"one\ntwo",1\n{document},2\n'
    assert get(project, text, "data.csv")["q_ls"] == ["one\ntwo", document]
    before = csv.field_size_limit(1000)
    try:
        with pytest.raises(ToolError, match=r"data\.csv:4: not CSV \(field larger than field limit \(1000\)\)"):
            get(project, text, "data.csv")
    finally:
        csv.field_size_limit(before)


def test_parquet_with_lists_gaps_and_dates(project: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table(
        {
            "question": ["one", "two", "three"],
            "golds": [["1", "uno"], ["2"], None],
            "year": [1901.0, float("nan"), 1903.0],
            "day": [date(2024, 5, 1)] * 3,
        }
    )
    parquet.write_table(table, project / "toy.parquet")
    data = {"path": "toy.parquet", "key_map": {**KEYS, "year_ls": "year", "day_ls": "day"}}
    result = benchmark.get_data(data)
    assert result.structured_content == {
        "q_ls": ["one", "two", "three"],
        "gt_ls": [["1", "uno"], ["2"], []],
        "year_ls": [1901.0, None, 1903.0],
        "day_ls": ["2024-05-01"] * 3,
    }
    assert (result.meta or {})["ragwb"]["warnings"] == ["no gold answer in record 3"]
    (project / "toy.parquet").write_bytes(b"PAR1, or so")
    with pytest.raises(ToolError, match="it can't be read as Parquet"):
        benchmark.get_data(data)


def test_typed_questions_take_the_place_of_the_file(project: Path) -> None:
    data = {"path": "nowhere.jsonl", "key_map": {**KEYS, "choices_ls": "c"}, "questions": ["Where?", "When?"]}
    result = benchmark.get_data(data)
    assert result.structured_content == {
        "q_ls": ["Where?", "When?"],
        "gt_ls": [[], []],
        "choices_ls": [None, None],
    }
    assert result.meta is None
    with pytest.raises(ToolError, match="key_map has no q_ls, so a typed question leads nowhere"):
        benchmark.get_data({"key_map": {"gt_ls": "g"}, "questions": ["Where?"]})
    with pytest.raises(ToolError, match="questions must be a list of texts; found 'Where"):
        benchmark.get_data({"key_map": KEYS, "questions": "Where?"})


def test_a_question_is_asked_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text("servers: {benchmark: servers/benchmark}\npipeline: [benchmark.get_data]\n")
    options = ["--question", "Who's there?", "--question", "盐坊在哪个镇: A?", "--no-session"]
    assert main(["run", "p.yaml", *options]) == 0
    [memory] = [json.loads(file.read_text()) for file in (tmp_path / "output").glob("*.json")]
    assert memory[0]["memory"]["memory_q_ls"] == ["Who's there?", "盐坊在哪个镇: A?"]


async def test_through_its_own_process(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(lines({"question": "a", "golds": "b"}))
    async with running("benchmark", tmp_path) as server:
        assert await server("get_data", benchmark={"path": "q.jsonl", "key_map": KEYS}) == {
            "q_ls": ["a"],
            "gt_ls": [["b"]],
        }


def test_shuffle_comes_before_limit_and_keeps_pairs(project: Path) -> None:
    records = lines(*({"question": f"q{n}", "golds": [f"a{n}"]} for n in range(20)))
    order = list(range(20))
    random.seed(7)
    random.shuffle(order)
    chosen = get(project, records, shuffle=True, seed=7, limit=3)
    assert chosen["q_ls"] == [f"q{n}" for n in order[:3]]
    assert chosen["gt_ls"] == [[f"a{n}"] for n in order[:3]]
    assert get(project, records, shuffle=True, seed=8, limit=3) != chosen
    assert get(project, records, limit=3)["q_ls"] == ["q0", "q1", "q2"]
    assert len(get(project, records, limit=50)["q_ls"]) == 20


@pytest.mark.parametrize("limit", [0, -2, True, "3", 1.5])
def test_a_limit_that_is_none_is_refused(project: Path, limit: Any) -> None:
    with pytest.raises(ToolError, match=r"benchmark\.limit"):
        get(project, lines({"question": "a", "golds": []}), limit=limit)


@pytest.mark.parametrize("key_map", [None, {}, ["q_ls"], {"q_ls": 1}])
def test_a_key_map_that_is_none_is_refused(project: Path, key_map: Any) -> None:
    with pytest.raises(ToolError, match=r"benchmark\.key_map"):
        get(project, lines({"question": "a"}), key_map=key_map)


async def test_outputs_follow_the_key_map(project: Path) -> None:
    (project / "saved.jsonl").write_text(lines({"gold": ["Marl"], "pred": "marl"}))
    data = {"path": "saved.jsonl", "key_map": {"gt_ls": "gold", "pred_ls": "pred"}}
    async with Client(benchmark.app) as client:
        [tool] = [tool for tool in await client.list_tools() if tool.name == "get_data"]
        result = await client.call_tool("get_data", {"benchmark": data})
    assert tool.meta is not None
    assert tool.meta["ragwb"]["outputs_from"] == "benchmark.key_map"
    assert result.structured_content == {"gt_ls": [["Marl"]], "pred_ls": ["marl"]}


def test_a_typed_question_gets_its_answer_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(
        "servers: {benchmark: servers/benchmark, custom: servers/custom, evaluation: servers/evaluation}\n"
        "pipeline:\n- benchmark.get_data\n"
        "- custom.output_extract_from_boxed: {input: {ans_ls: q_ls}}\n- evaluation.evaluate\n"
    )
    assert main(["run", "p.yaml", "--question", "It is \\boxed{Oslo}.", "--no-session", "--quiet"]) == 0
    assert capsys.readouterr().out == "Oslo\n"
