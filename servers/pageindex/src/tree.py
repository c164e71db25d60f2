"""The tree of a corpus: documents, their sections and subsections, each with a summary and where it stands."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson
from fastmcp.exceptions import ToolError
from headings import headings

from workbench.mcp.json_lines import read_records, write_whole

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_RULE = re.compile(r"^[*=\-~^\"#\s]+$")
_FEWEST_WORDS = 25
"""Before a first subsection: fewer are taken for its parent's title and a line."""
LAYOUT = 1
"""Of the index file; another one is refused."""


class TreeError(ToolError):
    """A tree can't be built or used. ``str()`` says what to do."""


@dataclass
class Node:
    """A document, a section, or a part of one that has no headings."""

    id: str
    """Its place from the root: ``2.0.1``; the root's is empty."""
    title: str
    document: str
    start: int
    end: int
    """In characters of the document's text, its subsections included."""
    pages: tuple[int, int] | None
    """First and last page from 1, where the document has pages."""
    summary: str = ""
    children: list[str] = field(default_factory=list)


@dataclass
class Tree:
    """All nodes by id, and the texts that they are parts of."""

    nodes: dict[str, Node]
    texts: Mapping[str, str]
    fingerprint: str

    def text(self, node: Node) -> str:
        """What a node holds."""
        return self.texts[node.document][node.start : node.end].strip()

    def trail(self, node: Node) -> str:
        """The titles on the way to a node."""
        parts = node.id.split(".")
        return " > ".join(self.nodes[".".join(parts[:n])].title for n in range(1, len(parts) + 1))


def build(corpus: Path, words: int, summary_words: int) -> Tree:
    """The tree of a corpus of documents; sections above ``words`` words that have no headings are cut into parts."""
    records, fingerprint = _records(corpus)
    nodes = {"": Node("", "", "", 0, 0, None)}
    texts: dict[str, str] = {}
    for number, record in enumerate(records):
        name = str(record.get("id", number))
        if name in texts:
            raise TreeError(f"{corpus}: two documents have the id {name}; build_text_corpus gives each its own")
        texts[name] = str(record["contents"])
        _add_document(nodes, str(number), name, record, words)
    tree = Tree(nodes, texts, fingerprint)
    for node in reversed(list(nodes.values())[1:]):
        node.summary = summary(tree, node, summary_words)
    return tree


def save(tree: Tree, path: Path) -> None:
    """Keep nodes and the corpus' fingerprint; texts stay where they are."""
    kept = {"layout": LAYOUT, "corpus": tree.fingerprint, "nodes": [asdict(node) for node in tree.nodes.values()]}
    write_whole(path, lambda part: part.write_bytes(orjson.dumps(kept, option=orjson.OPT_INDENT_2)))


def load(path: Path, corpus: Path) -> Tree:
    """Raises ``TreeError`` if there is none, or one of another corpus."""
    if not path.is_file():
        raise TreeError(f"{path}: there is no such tree; run pageindex.pageindex_index first")
    remake = "run pageindex.pageindex_index with overwrite: true"
    try:
        kept = orjson.loads(path.read_bytes())
        nodes = {entry["id"]: Node(**entry) for entry in kept["nodes"]}
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise TreeError(f"{path} is no tree of pageindex; {remake}") from error
    records, fingerprint = _records(corpus)
    if kept.get("layout") != LAYOUT or kept.get("corpus") != fingerprint:
        raise TreeError(f"{path} was made of another corpus than {corpus} is now; {remake}")
    return Tree(nodes, {str(r.get("id", n)): str(r["contents"]) for n, r in enumerate(records)}, fingerprint)


def summary(tree: Tree, node: Node, words: int) -> str:
    """The titles of its sections, or the first sentences of its own text, as far as ``words`` words."""
    if node.children:
        return shortened("; ".join(tree.nodes[child].title for child in node.children), words)
    lines = (
        line for line in tree.text(node).splitlines() if line.strip("# \t") != node.title and not _RULE.match(line)
    )
    chosen: list[str] = []
    for sentence in _SENTENCE_END.split(" ".join(" ".join(lines).split())):
        if chosen and len(" ".join([*chosen, sentence]).split()) > words:
            break
        chosen.append(sentence)
    return shortened(" ".join(chosen), words)


def shortened(text: str, words: int) -> str:
    """The first words of a text."""
    parts = text.split()
    return text if len(parts) <= words else " ".join(parts[:words]) + " ..."


def _add_document(nodes: dict[str, Node], place: str, name: str, record: Mapping[str, Any], words: int) -> None:
    text, starts = str(record["contents"]), record.get("page_starts") or ()
    title = str(record.get("title") or name)
    nodes[place] = Node(place, title, name, 0, len(text), _pages(0, len(text), starts))
    nodes[""].children.append(place)
    found = headings(text)
    open_: list[tuple[int, str]] = [(0, place)]
    if found and not text[: found[0].start].strip() and all(other.level > found[0].level for other in found[1:]):
        # One heading above all: the document's own title.
        nodes[place].title = found[0].title
        found = found[1:]
    for number, heading in enumerate(found):
        while open_[-1][0] >= heading.level:
            open_.pop()
        end = next((later.start for later in found[number + 1 :] if later.level <= heading.level), len(text))
        _add(nodes, open_[-1][1], heading.title, name, text, heading.start, end, starts)
        open_.append((heading.level, nodes[open_[-1][1]].children[-1]))
    for leaf in [node for node in _below(nodes, place) if not node.children]:
        for number, (start, end) in enumerate(_parts(text, leaf.start, leaf.end, words), start=1):
            _add(nodes, leaf.id, f"{leaf.title}, part {number}", name, text, start, end, starts)


def _below(nodes: Mapping[str, Node], place: str) -> Iterator[Node]:
    """A node and all that are below it, in the order of the document."""
    yield nodes[place]
    for child in nodes[place].children:
        yield from _below(nodes, child)


def _add(  # noqa: PLR0917 - what a node is
    nodes: dict[str, Node],
    parent: str,
    title: str,
    document: str,
    text: str,
    start: int,
    end: int,
    starts: Sequence[int],
) -> None:
    above = nodes[parent]
    if not above.children and len(text[above.start : start].split()) > _FEWEST_WORDS:
        # What stands before the first subsection is a section of its own, or no walk would reach it.
        first = f"{parent}.0"
        nodes[first] = Node(first, f"{above.title}, beginning", document, above.start, start,
                            _pages(above.start, start, starts))  # fmt: skip
        above.children.append(first)
    place = f"{parent}.{len(above.children)}"
    nodes[place] = Node(place, title, document, start, end, _pages(start, end, starts))
    above.children.append(place)


def _parts(text: str, start: int, end: int, words: int) -> Iterator[tuple[int, int]]:
    """A long stretch cut at paragraphs into parts of about ``words`` words; nothing for a short one."""
    if len(text[start:end].split()) <= words * 1.5:
        return
    begin = start
    for match in re.finditer(r"\n\s*\n|\Z", text[start:end]):
        stop = start + match.end()
        if len(text[begin:stop].split()) >= words or stop >= end:
            if text[begin:stop].strip():
                yield begin, stop
            begin = stop


def _pages(start: int, end: int, starts: Sequence[int]) -> tuple[int, int] | None:
    if not starts:
        return None
    return max(1, bisect_right(starts, start)), max(1, bisect_right(starts, max(start, end - 1)))


def _records(corpus: Path) -> tuple[list[dict[str, Any]], str]:
    if not corpus.is_file():
        raise TreeError(f"{corpus}: there is no such corpus (pageindex.raw_corpus_path); build_text_corpus makes one")
    records = []
    for number, record in read_records(corpus):
        if not isinstance(record.get("contents"), str):
            raise TreeError(f"{corpus}:{number}: a document needs the key `contents`")
        records.append(record)
    if not records:
        raise TreeError(f"{corpus}: the corpus holds no documents")
    return records, hashlib.blake2b(corpus.read_bytes(), digest_size=16).hexdigest()
