"""The pageindex server over stdio: the tree of a corpus, and walks down it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml
from fastmcp.exceptions import ToolError
from headings import headings
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError
from stdio import ROOT, StdioServer, running

MILL = """# The Mill

## Wheels

The water wheel turns all winter. It is made of oak.

## Stones

### French stones

French burr stones are dressed every month.

### Local stones

Local stones are softer.
"""
LONG = "\n\n".join(f"Paragraph {n} tells of {word}." for n, word in enumerate(["salt", "oats", "ferries", "light"]))
QUESTIONS = ["How often are French stones dressed?", "Which paragraph tells of ferries?"]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pageindex(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[StdioServer]:
    folder = tmp_path_factory.mktemp("pageindex")
    write(folder / "documents.jsonl", ("mill.md", MILL, {}), ("log.txt", LONG, {"page_starts": [0, 60]}))
    async with running("pageindex", folder) as server:
        await server(
            "pageindex_index", raw_corpus_path="documents.jsonl", tree_path="tree.json", section_words=9, overwrite=True
        )
        yield server


def write(path: Path, *documents: tuple[str, str, dict[str, Any]]) -> None:
    rows = ({"id": name, "title": name.split(".")[0], "contents": text, **more} for name, text, more in documents)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


async def init(server: StdioServer) -> None:
    await server("pageindex_init", raw_corpus_path="documents.jsonl", tree_path="tree.json")


async def walk(server: StdioServer, node_ls: list[list[str]], *answers: str, **options: Any) -> tuple[Any, Any]:
    given = {"q_ls": QUESTIONS[: len(node_ls)], "node_ls": node_ls, "ans_ls": list(answers), **options}
    found = await server("pageindex_walk", **given)
    return found["node_ls"], found["menu_ls"]


async def test_a_walk_to_the_section_that_answers(pageindex: StdioServer) -> None:
    await init(pageindex)
    start = await pageindex("pageindex_start", q_ls=QUESTIONS)
    assert start["node_ls"] == [[""], [""]]
    assert start["menu_ls"][0].splitlines() == [
        "[1] The Mill: Wheels; Stones",
        "[2] log (pages 1 to 2): log, part 1; log, part 2",
    ]
    nodes, _ = await walk(pageindex, start["node_ls"], "Section 1, I think.", "<think>not 1</think> 2")
    states = [entry["state"] for entry in (await pageindex("pageindex_check", node_ls=nodes))["node_ls"]]
    assert states == ["down", "down"]
    for _ in range(4):
        found = (await pageindex("pageindex_check", node_ls=nodes))["node_ls"]
        if all(entry["state"] == "done" for entry in found):
            break
        nodes, menus = await walk(pageindex, nodes, "the Mill, its Stones, French stones", "I can't say")
    assert menus == ["", ""]
    read = await pageindex("pageindex_read", node_ls=nodes)
    assert read["ret_psg"][0] == ["### French stones\n\nFrench burr stones are dressed every month."]
    assert read["source_ls"][0][0].startswith("mill.md: ")
    assert read["source_ls"][0][0].endswith("The Mill > Stones > French stones")
    assert "ferries" in read["ret_psg"][1][0]
    assert read["source_ls"][1][0].startswith("log.txt: log > log, part")
    assert "(page" in read["source_ls"][1][0]
    assert 'item [1]: the answer names no section: "I can\'t say"' in pageindex.said()


async def test_several_sections_are_followed_at_once(pageindex: StdioServer) -> None:
    await init(pageindex)
    nodes, menus = await walk(pageindex, [[""]], "2 and 1", most_sections=2)
    assert nodes == [["1", "0"]]
    assert len(menus[0].splitlines()) == 4
    nodes, _ = await walk(pageindex, nodes, "3, 1, 2, 99", most_sections=2)
    assert nodes == [["0.0", "1.0"]]
    # What was reached already stays before what is chosen later.
    nodes, _ = await walk(pageindex, [["1.0", "0"]], "2 and 1", most_sections=2)
    assert nodes == [["1.0", "0.1"]]


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ("[2] log (pages 1 to 1): it is there", ["1"]),
        ("3.1 The Mill, page 2", ["0"]),
        ("it is 2.1 that holds it, so 1.", ["0"]),
        ("a log of 1900, then the mill", ["1", "0"]),
        ("the catalogue of the windmills: 2", ["1"]),
    ],
)
async def test_what_an_answer_names(pageindex: StdioServer, answer: str, chosen: list[str]) -> None:
    await init(pageindex)
    nodes, _ = await walk(pageindex, [[""]], answer)
    assert nodes == [chosen]


async def test_a_thought_that_was_cut_off_names_no_section(pageindex: StdioServer) -> None:
    await init(pageindex)
    nodes, _ = await walk(pageindex, [[""]], "<think>it may be 2, that is")
    assert nodes == [["0"]], "the likest by its words, not the one that was thought of"


async def test_a_prompt_asks_for_a_section(pageindex: StdioServer) -> None:
    template = pageindex.project / "choose.jinja"
    template.write_text("{{ question }} of\n{{ sections }}")
    arguments = {
        "q_ls": json.dumps(["<a> & b?"]),
        "menu_ls": json.dumps(["[1] x"]),
        "pageindex_template": str(template),
    }
    result = await pageindex.client.get_prompt("pageindex_choose", arguments)
    assert result.messages[0].content.text == "<a> & b? of\n[1] x"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("/etc/hostname", "/etc/hostname: a template must lie in the project folder"),
        ("none.jinja", r"none\.jinja: there is no such template"),
        ("broken.jinja", r"broken\.jinja:2: division by zero"),
        ("typo.jinja", r"typo\.jinja:1: 'sektion' is undefined; the names there are: section"),
    ],
)
async def test_templates_that_can_not_be_used(pageindex: StdioServer, template: str, said: str) -> None:
    (pageindex.project / "broken.jinja").write_text("{{ section }}\n{{ 1 / 0 }}")
    (pageindex.project / "typo.jinja").write_text("{{ sektion }}")
    arguments = {"section_ls": json.dumps(["a"]), "pageindex_summary_template": template}
    with pytest.raises(MCPError, match=said):
        await pageindex.client.get_prompt("pageindex_summarise", arguments)


async def test_a_models_summaries_are_kept(pageindex: StdioServer) -> None:
    source = {"raw_corpus_path": "documents.jsonl", "tree_path": "summaries.json"}
    await pageindex("pageindex_index", **source, section_words=9, overwrite=True)
    await pageindex("pageindex_init", **source)
    sections = (await pageindex("pageindex_sections"))["section_ls"]
    assert len(sections) == 5
    assert sections[0].startswith("## Wheels")
    answers = ["<think>hm</think>about\nwheels", "", "c", "d", "one two three"]
    await pageindex("pageindex_keep_summaries", ans_ls=answers, tree_path="summaries.json", summary_words=2)
    await pageindex("pageindex_init", **source)
    _, [menu] = await walk(pageindex, [[""]], "1")
    assert menu.startswith("[1] Wheels: about wheels\n")
    _, [menu] = await walk(pageindex, [[""]], "2")
    assert menu.endswith(": one two ...")
    with pytest.raises(ToolError, match="1 summaries for 5 sections"):
        await pageindex("pageindex_keep_summaries", ans_ls=["x"], tree_path="summaries.json")


async def test_what_can_not_be(pageindex: StdioServer, tmp_path: Path) -> None:
    await init(pageindex)
    with pytest.raises(ToolError, match="q_ls has 1, node_ls has 1, ans_ls has 2"):
        await walk(pageindex, [[""]], "1", "2")
    with pytest.raises(ToolError, match=r"no section '9\.9'"):
        await pageindex("pageindex_read", node_ls=[["9.9"]])
    with pytest.raises(ToolError, match="there is no such tree"):
        await pageindex("pageindex_init", raw_corpus_path="documents.jsonl", tree_path="none.json")
    write(tmp_path / "other.jsonl", ("a.md", "# A\n\ntext", {}))
    other = {"raw_corpus_path": str(tmp_path / "other.jsonl"), "tree_path": "tree.json"}
    for tool in ("pageindex_init", "pageindex_index"):
        with pytest.raises(ToolError, match=r"made of another corpus .* overwrite: true"):
            await pageindex(tool, **other)
    (tmp_path / "bad.jsonl").write_text('{"contents": 1}\n')
    with pytest.raises(ToolError, match=r"bad\.jsonl:1: a document needs the key `contents`"):
        await pageindex("pageindex_index", raw_corpus_path=str(tmp_path / "bad.jsonl"), tree_path="x.json")
    async with running("pageindex", tmp_path) as fresh:
        with pytest.raises(ToolError, match=r"pageindex\.pageindex_init must come before"):
            await fresh("pageindex_start", q_ls=["a"])


def test_headings_of_all_kinds() -> None:
    text = "Title\n*****\n\nx\n\n  not one\n***\n\n## Two ##\n\n```\n# code\n```\n\n1.2 Three\n\n1 word ends here.\n"
    assert [(heading.level, heading.title) for heading in headings(text)] == [
        (2, "Title"),
        (1, "Two"),
        (3, "1.2 Three"),
    ]
    assert [text[heading.start :].split("\n", maxsplit=1)[0] for heading in headings(text)] == [
        "Title",
        "## Two ##",
        "1.2 Three",
    ]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40)), max_size=12))
def test_sections_cover_the_text_and_lie_within_their_parents(shape: list[tuple[int, int]]) -> None:
    from tree import Node, _add_document

    text = "\n".join(
        f"{'#' * level + ' ' if level else ''}Head {n}\n\n{'word ' * words}\n" for n, (level, words) in enumerate(shape)
    )
    nodes = {"": Node("", "", "", 0, 0, None)}
    _add_document(nodes, "0", "d", {"contents": text}, 15)
    leaves = [node for node in nodes.values() if node.id and not node.children]
    held = {n for node in leaves for n in range(node.start, node.end)}
    for node in nodes.values():
        for child in (nodes[name] for name in node.children if node.id):
            assert node.start <= child.start <= child.end <= node.end
    lost = "".join(letter for n, letter in enumerate(text) if n not in held)
    assert lost.count("word") <= 25 * len(nodes)


async def test_the_shipped_defaults_fit(pageindex: StdioServer) -> None:
    defaults = yaml.safe_load((ROOT / "servers/pageindex/parameter.yaml").read_text())
    assert (ROOT / defaults["pageindex_template"]).is_file()
    tools = {tool.name: tool for tool in await pageindex.client.list_tools()}
    assert set(tools["pageindex_index"].input_schema["properties"]) <= set(defaults)
