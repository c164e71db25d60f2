"""YAML text as nodes with line and column; keys are text as written, so that ``yes:`` stays ``yes``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from workbench.pipeline.problems import Position

Node = yaml.Node
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT_TAGS = {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:binary"}


class YamlError(Exception):
    """The text is no YAML; ``position`` is where the reader gave up."""

    def __init__(self, message: str, position: Position | None) -> None:
        super().__init__(message)
        self.position = position


def compose(text: str) -> Node | None:
    """The root node of the first document, or None for an empty text. Raises ``YamlError``."""
    try:
        return yaml.compose(text, Loader=_LOADER)
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


def ord_of(error: yaml.reader.ReaderError) -> int:
    character: Any = error.character
    return ord(character) if isinstance(character, str) else int(character)


def position(node: Node) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)


def last_line(node: Node) -> int:
    """The last line that the node covers; a block's end mark stands at the start of what follows it."""
    end = node.end_mark
    return max(node.start_mark.line, end.line if end.column else end.line - 1) + 1


def entries(node: yaml.MappingNode) -> Iterator[tuple[str, Node, Node]]:
    """``(key text, key node, value node)`` in order, merge keys (``<<``) spread out, duplicates kept."""
    for key, value in node.value:
        if key.tag == "tag:yaml.org,2002:merge":
            sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
            for source in sources:
                if isinstance(source, yaml.MappingNode):
                    yield from entries(source)
        else:
            yield key_text(key), key, value


def key_text(key: Node) -> str:
    return key.value if isinstance(key, yaml.ScalarNode) else str(plain(key))


def plain(node: Node, _inside: tuple[int, ...] = ()) -> Any:
    """The node as JSON values: keys are text, dates are text. Raises ``YamlError`` for a node inside itself."""
    if id(node) in _inside:
        raise YamlError("this value contains itself", position(node))
    inside = (*_inside, id(node))
    if isinstance(node, yaml.MappingNode):
        return {key: plain(value, inside) for key, _, value in entries(node)}
    if isinstance(node, yaml.SequenceNode):
        return [plain(value, inside) for value in node.value]
    if node.tag in _TEXT_TAGS:
        return node.value
    try:
        return yaml.constructor.SafeConstructor().construct_object(node)
    except (yaml.constructor.ConstructorError, ValueError) as error:
        raise YamlError(f"this value can't be read: {error}".splitlines()[0], position(node)) from None


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
