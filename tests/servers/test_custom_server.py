"""The custom server: boxes, tags, merging, sentences, histories, citations."""

from __future__ import annotations

import custom
import items
import pytest
from boxed import last_boxed
from fastmcp import Client
from fastmcp.exceptions import ToolError
from search_tags import NO_QUERY, R1_SEARCHER, SEARCH, last_query


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (r"\boxed{\frac{3}{8}}", r"\frac{3}{8}"),
        (r"first \boxed{2}, no: \boxed{5}", "5"),
        (r"\boxed{答案是{马罗}镇}", "答案是{马罗}镇"),
        (r"\boxed{\{1,2\}}", r"\{1,2\}"),
        (r"\boxed{\text{kiln} and \text{clay}}", "kiln and clay"),
        (r"\boxed{[2,5)}", "[2,5)"),
        (r"\boxed{f(x)}", "f(x)"),
        (r"\boxed{(a) Lisbon}", "(a) Lisbon"),
        (r"\boxed{(2, 3)}", "(2, 3)"),
        (r"\boxed{(B)}", "B"),
        (r"\boxed{$\text{Marl}$}", "Marl"),
        (r"\boxed{\(x^2\)}", "x^2"),
        (r"\boxed{}", ""),
        ("  no box at all ", "no box at all"),
        ("", ""),
    ],
)
def test_the_last_box(answer: str, text: str) -> None:
    assert last_boxed(answer).text == text
    assert last_boxed(answer).closed


@pytest.mark.parametrize(
    ("answer", "text"), [(r"so \boxed{17", "17"), (r"so \boxed{", ""), (r"\boxed{\frac{1}{2", r"\frac{1}{2")]
)
def test_a_box_that_is_not_closed_keeps_every_letter(answer: str, text: str) -> None:
    extract = last_boxed(answer)
    assert (extract.text, extract.closed) == (text, False)


async def test_an_open_box_is_told_with_its_item() -> None:
    async with Client(custom.app) as client:
        result = await client.call_tool(
            "output_extract_from_boxed", {"ans_ls": ["a", r"\boxed{1"]}, meta={"items": [4, 7]}
        )
    assert result.structured_content == {"pred_ls": ["a", "1"]}
    assert result.meta is not None
    assert result.meta["ragwb"]["warnings"] == ["[7] the box is not closed; taken up to the end: '1'"]


@pytest.mark.parametrize(
    ("answer", "query"),
    [
        ("<search>who keeps the light</search>", "who keeps the light?"),
        ("<search> is 3 < 5 </search>", "is 3 < 5?"),
        ("<search>first</search> .. <search>second", "second?"),
        ("<SEARCH>upper</SEARCH>", "upper?"),
        ("none", NO_QUERY),
        ("<search></search>", NO_QUERY),
    ],
)
def test_search_queries(answer: str, query: str) -> None:
    assert last_query(answer, SEARCH) == query


@pytest.mark.parametrize(
    ("answer", "query"),
    [
        ("text <|begin_of_query|>who keeps it<|end_of_query|> more", "who keeps it?"),
        ("<|begin_of_query|> a <|end_of_query|> b <|begin_of_query|>second?<|end_of_query|>", "second?"),
        ("no tag", NO_QUERY),
        ("<|begin_of_query|>is 3 < 5<|end_of_query|>", "is 3 < 5?"),
    ],
)
def test_r1_queries(answer: str, query: str) -> None:
    assert last_query(answer, R1_SEARCHER) == query


def test_merging_appends_item_by_item() -> None:
    assert items.merged([["c"], ["d", "e"]], [["a", "c"], []]) == [["a", "c", "c"], ["d", "e"]]
    assert items.merged(["c"], ["a"]) == [["a", "c"]]


def test_lists_of_unequal_length_are_not_merged() -> None:
    with pytest.raises(ToolError, match="temp_psg has 1, ret_psg has 2"):
        items.merged([["a"]], [["a"], ["b"]])


def test_the_next_query_of_iterretgen() -> None:
    assert custom.iterretgen_nextquery(["q"], ["a"]) == {"nextq_ls": ["q a"]}


@pytest.mark.parametrize(
    ("answer", "sentence", "final"),
    [
        (
            "Dr. Calder kept the light until 1931. Then she left.",
            "Dr. Calder kept the light until 1931.",
            "Dr. Calder kept the light until 1931. Then she left.",
        ),
        ("The tide is 3.5 m high at noon. So the answer is: 3.5 m.", "The tide is 3.5 m high at noon.", "3.5 m"),
        ("马罗镇有盐坊。集市在五月。", "马罗镇有盐坊。", "马罗镇有盐坊。集市在五月。"),
        ("No end mark here", "No end mark here", "No end mark here"),
        ("", "", ""),
        ("So the answer is: Marrow\n", "So the answer is: Marrow", "Marrow"),
        ("J. R. Marl built it. So the answer is 5 p.m.", "J. R. Marl built it.", "5 p.m."),
        ("\n\n  Why? Because.", "Why?", "Why? Because."),
    ],
)
def test_first_sentences_and_final_answers(answer: str, sentence: str, final: str) -> None:
    assert custom.ircot_get_first_sent([answer]) == {"q_ls": [sentence]}
    assert custom.ircot_extract_ans([answer]) == {"pred_ls": [final]}


async def test_search_o1_keeps_its_placeholder_to_itself() -> None:
    answers = [
        'think <|begin_search_query|> "north\n light" <|end_search_query|>',
        r"done \boxed{Marrow}",
        "<|begin_search_query|>broken tag",
    ]
    async with Client(custom.app) as client:

        async def call(tool: str, **arguments: object) -> dict[str, list[object]]:
            content = (await client.call_tool(tool, arguments)).structured_content
            assert content is not None
            return content

        histories = await call("search_o1_init_list", q_ls=["q1", "q2", "q3"])
        assert histories["total_subq_list"] == [["<PAD>"]] * 3
        told = await client.call_tool("search_o1_query_extract", {"ans_ls": answers})
        queries = {"extract_query_list": ["north light", "", ""]}
        assert told.structured_content == queries
        assert told.meta is not None
        assert told.meta["ragwb"]["warnings"][0].startswith("[2] a search query was begun and not ended")
        reasons = await call("search_o1_reasoning_extract", ans_ls=answers)
        assert reasons["extract_reason_list"] == ["think ", r"done \boxed{Marrow}", ""]
        del histories["total_final_info_list"]
        combined = await call("search_o1_combine_list", **histories, **queries, **reasons)
        assert combined["total_subq_list"] == [["north light"], ["<PAD>"], ["<PAD>"]]
        last = await call("search_o1_extract_final_information", ans_ls=["x **Final Information**\n it shines ", "no"])
        assert last["extract_final_infor_list"] == ["**Final Information**\nit shines", ""]
        info = await call("search_o1_combine_final_information", total_final_info_list=[["a"], ["<PAD>"]], **last)
        assert info["total_final_info_list"] == [["a", "**Final Information**\nit shines"], ["<PAD>"]]


async def test_citations_keep_their_numbers_for_each_item() -> None:
    assert custom.assign_citation_ids([["a", "b"], ["c"]]) == {"ret_psg": [["[1] a", "[2] b"], ["[1] c"]]}
    async with Client(custom.app) as client:

        async def number(passages: list[list[str]], items: list[int]) -> object:
            result = await client.call_tool(
                "assign_citation_ids_stateful", {"ret_psg": passages}, meta={"items": items}
            )
            return (result.structured_content or {})["ret_psg"]

        await client.call_tool("init_citation_registry", {"q_ls": ["q", "r"]})
        assert await number([["a", "b"], ["c"]], [0, 1]) == [["[1] a", "[2] b"], ["[1] c"]]
        assert await number([["d", " c "]], [1]) == [["[2] d", "[1]  c "]]  # in a branch, item 1 alone
        await client.call_tool("init_citation_registry", {"q_ls": ["q", "r"]})
        assert await number([["d"]], [1]) == [["[1] d"]]


def test_answers_between_tags() -> None:
    answers = ["see <answer> Marl </answer>", "no tag "]
    assert custom.evisrag_output_extract_from_special(answers) == {"pred_ls": ["Marl", "no tag"]}
