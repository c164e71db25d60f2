"""Finding by reading the table of contents: a tree of sections that a model walks down, choice by choice.

One round of the walk is three steps that can be looked at: a prompt with the question and the sections to choose from,
the model's answer, and ``pageindex_walk``, which goes where the answer says.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Sequence
from typing import Any

from fastmcp.exceptions import ToolError
from tree import Node, Tree, TreeError, build, load, save, shortened

from workbench.cases.keywords import KeywordIndex
from workbench.mcp.kit import ToolServer, check_lengths, find_file, item_numbers, output_path
from workbench.mcp.templates import render_items
from workbench.mcp.thinking import separated

app = ToolServer("pageindex")

tree: Tree | None = None

DOWN, DONE = "down", "done"
_BRACKETED = re.compile(r"\[(\d+)\]")
_BARE = re.compile(r"(?<![\w.])(\d+)(?![\w]|\.\d)")
"""A number that is no part of a decimal or a word."""


@app.tool(output="raw_corpus_path,tree_path,section_words,summary_words,overwrite->")
async def pageindex_index(
    raw_corpus_path: str, tree_path: str, section_words: int = 300, summary_words: int = 30, overwrite: bool = False
) -> dict[str, Any]:
    """Build the tree of a corpus of documents (what ``build_text_corpus`` writes) and keep it."""
    path = output_path(tree_path)
    if path.exists() and not overwrite:
        load(path, find_file(raw_corpus_path))
        return {"done": f"{path} is there and fits; kept (overwrite: true makes it anew)"}
    if section_words < 1 or summary_words < 1:
        raise ToolError("pageindex.section_words and summary_words must be 1 or more")
    made = await asyncio.to_thread(build, find_file(raw_corpus_path), section_words, summary_words)
    save(made, path)
    return {"done": f"{path}: {len(made.texts)} documents, {len(made.nodes) - 1} sections"}


@app.tool(output="raw_corpus_path,tree_path->")
def pageindex_init(raw_corpus_path: str, tree_path: str) -> None:
    """Load the tree."""
    global tree  # noqa: PLW0603 - the one thing this server holds
    tree = load(output_path(tree_path), find_file(raw_corpus_path))


@app.tool(output="->section_ls")
def pageindex_sections() -> dict[str, Any]:
    """The texts of all sections that have none below them, for ``pageindex_keep_summaries`` to be summarised."""
    own = _tree()
    return {"section_ls": [own.text(node) for node in _leaves(own)]}


@app.prompt(output="section_ls,pageindex_summary_template->prompt_ls")
def pageindex_summarise(section_ls: list[str], pageindex_summary_template: str) -> list[str]:
    """Ask for a summary of each section."""
    return render_items(pageindex_summary_template, section=section_ls)


@app.tool(output="ans_ls,tree_path,summary_words->")
def pageindex_keep_summaries(ans_ls: list[str], tree_path: str, summary_words: int = 30) -> dict[str, Any]:
    """Keep a model's summaries of ``pageindex_sections`` in the tree; an empty one leaves what was there."""
    own, path = _tree(), output_path(tree_path)
    leaves = _leaves(own)
    if len(ans_ls) != len(leaves):
        raise TreeError(f"{len(ans_ls)} summaries for {len(leaves)} sections: they must be those of pageindex_sections")
    kept = 0
    for node, answer in zip(leaves, ans_ls, strict=True):
        text = " ".join(separated(answer)[0].split())
        if text:
            node.summary, kept = shortened(text, summary_words), kept + 1
    save(own, path)
    return {"done": f"{path}: {kept} summaries of {len(leaves)} sections kept"}


@app.tool(output="q_ls->node_ls,menu_ls")
def pageindex_start(q_ls: list[str]) -> dict[str, Any]:
    """Each question at the root of the tree, with the documents to choose from."""
    start: list[list[str]] = [[""] for _ in q_ls]
    return {"node_ls": start, "menu_ls": [menu(_tree(), nodes) for nodes in start]}


@app.prompt(output="q_ls,menu_ls,pageindex_template->prompt_ls")
def pageindex_choose(q_ls: list[str], menu_ls: list[str], pageindex_template: str) -> list[str]:
    """Ask which sections may answer the question."""
    return render_items(pageindex_template, question=q_ls, sections=menu_ls)


@app.tool(output="q_ls,node_ls,ans_ls,most_sections->node_ls,menu_ls")
def pageindex_walk(
    q_ls: list[str], node_ls: list[list[str]], ans_ls: list[str], most_sections: int = 2
) -> dict[str, Any]:
    """Go where each answer says: to the sections that it names by number or title.

    An answer that names none counts as the section that shares the most telling words with the question; that is said.
    """
    check_lengths(q_ls=q_ls, node_ls=node_ls, ans_ls=ans_ls)
    own, items = _tree(), item_numbers(len(q_ls))
    walked: list[list[str]] = []
    for item, question, nodes, answer in zip(items, q_ls, node_ls, ans_ls, strict=True):
        open_ = [_node(own, name) for name in nodes if _node(own, name).children]
        entries = [own.nodes[child] for node in open_ for child in node.children]
        if not entries:
            walked.append(nodes)
            continue
        chosen = named(answer, entries)
        if not chosen:
            print(f"item [{item}]: the answer names no section: {answer[:80]!r}; the likest is taken", file=sys.stderr)
            chosen = [likest(question, entries)]
        leaves = [name for name in nodes if not _node(own, name).children]
        walked.append(list(dict.fromkeys([*leaves, *(node.id for node in chosen)]))[:most_sections])
    return {"node_ls": walked, "menu_ls": [menu(own, nodes) for nodes in walked]}


@app.tool(output="node_ls->node_ls")
def pageindex_check(node_ls: list[list[str]]) -> dict[str, Any]:
    """Router: ``down`` where there are sections below, ``done`` where the walk is over."""
    own = _tree()
    is_open = [any(_node(own, name).children for name in nodes) for nodes in node_ls]
    return {
        "node_ls": [{"data": nodes, "state": DOWN if go else DONE} for nodes, go in zip(node_ls, is_open, strict=True)]
    }


@app.tool(output="node_ls->ret_psg,source_ls")
def pageindex_read(node_ls: list[list[str]]) -> dict[str, Any]:
    """The texts of the sections where the walk ended, and for each its document, titles and pages."""
    own = _tree()
    found = [[_node(own, name) for name in nodes] for nodes in node_ls]
    return {
        "ret_psg": [[own.text(node) for node in nodes if node.id] for nodes in found],
        "source_ls": [[source(own, node) for node in nodes if node.id] for nodes in found],
    }


def menu(own: Tree, nodes: Sequence[str]) -> str:
    """What can be chosen below some nodes: numbered lines with title, summary and pages. Empty at the end of a walk."""
    entries = [own.nodes[child] for name in nodes for child in _node(own, name).children]
    return "\n".join(
        f"[{number}] {node.title}{_pages(node)}: {node.summary}" for number, node in enumerate(entries, start=1)
    )


def named(answer: str, entries: Sequence[Node]) -> list[Node]:
    """The entries that an answer names, in its order: by ``[2]``, else by title, else by a number that stands alone.

    Thinking text does not count.
    """
    text, _ = separated(answer)
    return _numbered(_BRACKETED, text, entries) or _titled(text, entries) or _numbered(_BARE, text, entries)


def _numbered(pattern: re.Pattern[str], text: str, entries: Sequence[Node]) -> list[Node]:
    numbers = dict.fromkeys(map(int, pattern.findall(text)))
    return [entries[number - 1] for number in numbers if 0 < number <= len(entries)]


def _titled(text: str, entries: Sequence[Node]) -> list[Node]:
    """Those whose whole titles stand there; of two that overlap, the longer."""
    found = [
        (match.start(), match.end(), node)
        for node in entries
        if node.title and (match := re.search(rf"(?<!\w){re.escape(node.title)}(?!\w)", text, re.IGNORECASE))
    ]
    whole = [
        (start, node)
        for start, end, node in found
        if not any(a <= start and end <= b and b - a > end - start for a, b, _ in found)
    ]
    return [node for _, node in sorted(whole, key=lambda one: one[0])]


def likest(question: str, entries: Sequence[Node]) -> Node:
    """The entry whose title and summary share the most telling words with the question; else the first."""
    index = KeywordIndex.of_texts([f"{node.title} {node.summary}" for node in entries])
    best = index.search(question, 1)
    return entries[best[0] if best else 0]


def source(own: Tree, node: Node) -> str:
    """Where a section stands, for a reader."""
    return f"{node.document}: {own.trail(node)}{_pages(node)}"


def _pages(node: Node) -> str:
    if node.pages is None:
        return ""
    first, last = node.pages
    return f" (page {first})" if first == last else f" (pages {first} to {last})"


def _leaves(own: Tree) -> list[Node]:
    return [node for node in own.nodes.values() if node.id and not node.children]


def _tree() -> Tree:
    if tree is None:
        raise TreeError("there is no tree loaded: pageindex.pageindex_init must come before this step")
    return tree


def _node(own: Tree, name: str) -> Node:
    if name not in own.nodes:
        raise TreeError(f"the tree has no section {name!r}: it was made anew since the walk began")
    return own.nodes[name]


if __name__ == "__main__":
    app.run(transport="stdio")
