"""YAML text as nodes with line and column; keys are text as written, so that ``yes:`` stays ``yes``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from workbench.pipeline.problems import Position

Node = yaml.Node
Entry = tuple[str, Node, Node]
"""Key text, key node, value node."""

DEEPEST = 100
"""How many levels a value may have, and how many blocks may stand inside each other."""
_MOST_ADDED = 100_000
"""How many nodes aliases and merge keys may add to a text: a few lines of them can stand for billions."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT_TAGS = {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:binary"}
_MERGE_TAG = "tag:yaml.org,2002:merge"


class YamlError(Exception):
    """The text is no YAML; ``position`` is where the reader gave up."""

    def __init__(self, message: str, position: Position | None) -> None:
        super().__init__(message)
        self.position = position


def compose(text: str) -> Node | None:
    """The root node of the first document, merge keys spread out, or None for an empty text.

    Raises ``YamlError``, also for aliases that go in a circle or stand for too much.
    """
    try:
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(
            f"not valid YAML: {error.problem or error.context}",
            Position(mark.line + 1, mark.column + 1) if mark else None,
        ) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlError(
            f"not valid YAML: {error.reason} (character #x{ord_of(error):04x})", Position(line, 1)
        ) from None
    except RecursionError:
        raise YamlError("not a pipeline: it is nested too deeply to be read", None) from None
    if root is not None:
        _Settling().settle(root)
    return root


def ord_of(error: yaml.reader.ReaderError) -> int:
    character: Any = error.character
    return ord(character) if isinstance(character, str) else int(character)


class _Settling:
    """One pass over the nodes of a text, each visited once however many aliases lead to it."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}
        self._merged = 0

    def settle(self, root: Node) -> None:
        """Spread merge keys out. Without recursion, since a text may be nested deeper than Python's stack."""
        inside: set[int] = set()
        stack = [(root, False)]
        while stack:
            node, is_done = stack.pop()
            if is_done:
                inside.discard(id(node))
                self._leave(node)
            elif id(node) in inside:
                raise YamlError("this contains itself", position(node))
            elif id(node) not in self._sizes:
                inside.add(id(node))
                stack.append((node, True))
                stack.extend((child, False) for child in children(node))

    def _leave(self, node: Node) -> None:
        if isinstance(node, yaml.MappingNode):
            self._spread(node)
        size = 1 + sum(self._sizes[id(child)] for child in children(node))
        self._sizes[id(node)] = size
        if max(size - len(self._sizes), self._merged) > _MOST_ADDED:
            raise YamlError(
                f"anchors make more than {_MOST_ADDED:,} values of this; write out what is needed", position(node)
            )

    def _spread(self, node: yaml.MappingNode) -> None:
        """Put the entries of merged maps where ``<<`` stands; what is written in the map itself counts more."""
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise YamlError(f"a key must be a text, not {kind(key)}", position(key))
        if not any(_is_merge(key) for key, _ in node.value):
            return
        taken = {key.value for key, _ in node.value if not _is_merge(key)}
        entries: list[tuple[Node, Node]] = []
        for key, value in node.value:
            if not _is_merge(key):
                entries.append((key, value))
                continue
            for merged in _merged_entries(value):
                if merged[0].value not in taken:
                    taken.add(merged[0].value)
                    entries.append(merged)
                    self._merged += 1
        node.value = entries


def _is_merge(key: Node) -> bool:
    return key.tag == _MERGE_TAG


def _merged_entries(value: Node) -> Iterator[tuple[Node, Node]]:
    for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
        if not isinstance(source, yaml.MappingNode):
            raise YamlError(f"`<<` takes a map or a list of maps, not {kind(source)}", position(source))
        yield from source.value


def children(node: Node) -> list[Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for entry in node.value for part in entry]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def position(node: Node) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)


def last_line(node: Node) -> int:
    """The last line that the node covers.

    The end mark of a block stands where the next one begins: what counts is the last thing in it.
    """
    last = node
    while isinstance(last, yaml.CollectionNode) and not last.flow_style and last.value:
        inner = last.value[-1]
        last = inner[1] if isinstance(inner, tuple) else inner
    is_block = isinstance(last, yaml.ScalarNode) and last.style in ("|", ">")
    return int(max(last.start_mark.line + 1, last.end_mark.line + (0 if is_block else 1)))


def entries(node: yaml.MappingNode) -> list[Entry]:
    """The entries of a map in order; of a key that is written twice, the first (see ``repeated``)."""
    found: dict[str, Entry] = {}
    for key, value in node.value:
        found.setdefault(key.value, (key.value, key, value))
    return list(found.values())


def repeated(node: yaml.MappingNode) -> Iterator[tuple[Node, Node]]:
    """Each key that the map has already, with the first of that name."""
    first: dict[str, Node] = {}
    for key, _ in node.value:
        if first.setdefault(key.value, key) is not key:
            yield key, first[key.value]


def repeated_inside(root: Node) -> Iterator[tuple[Node, Node]]:
    """``repeated`` for every map in a node, each looked at once."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            waiting += children(node)
            if isinstance(node, yaml.MappingNode):
                yield from repeated(node)


def plain(node: Node, _level: int = 1) -> Any:
    """The node as JSON values: keys are text, dates are text. Raises ``YamlError`` for what is no value."""
    if _level > DEEPEST:
        raise YamlError(f"this value is nested more than {DEEPEST} levels deep", position(node))
    if isinstance(node, yaml.MappingNode):
        return {key: plain(value, _level + 1) for key, _, value in entries(node)}
    if isinstance(node, yaml.SequenceNode):
        return [plain(value, _level + 1) for value in node.value]
    if node.tag in _TEXT_TAGS:
        return node.value
    try:
        return yaml.constructor.SafeConstructor().construct_object(node)
    except (yaml.constructor.ConstructorError, ValueError, LookupError) as error:
        raise YamlError(f"this value can't be read: {error}".splitlines()[0], position(node)) from None


def places(node: Node, name: str = "", levels: int = 2) -> dict[str, Position]:
    """Where the parts of a value stand, so many levels deep, by path: ``""``, ``headers.Authorization``, ``args.0``."""
    found = {name: position(node)}
    if levels == 0:
        return found
    if isinstance(node, yaml.MappingNode):
        parts = [(key, value) for key, _, value in entries(node)]
    else:
        parts = [(str(n), child) for n, child in enumerate(children(node))]
    for part, child in parts:
        found |= places(child, f"{name}.{part}".lstrip("."), levels - 1)
    return found


def is_null(node: Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def kind(node: Node) -> str:
    """What a node is, in the words of a message."""
    if is_null(node):
        return "nothing"
    if isinstance(node, yaml.MappingNode):
        return "a map"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    return {"int": "a number", "float": "a number", "bool": "a yes/no value"}.get(node.tag.rpartition(":")[2], "a text")
