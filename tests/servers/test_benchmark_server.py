"""The benchmark server: reading, pairing, choosing."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import benchmark
import pytest
from fastmcp import Client
from fastmcp.exceptions import ToolError

KEYS = {"q_ls": "question", "gt_ls": "golds"}


def get(project: Path, text: str | bytes, name: str = "data.jsonl", **options: Any) -> dict[str, list[Any]]:
    (project / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return benchmark.get_data({"path": name, "key_map": KEYS, **options})


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
        ("data.csv", "a,b", ".jsonl, .json, .parquet"),
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
