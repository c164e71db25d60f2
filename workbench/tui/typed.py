"""A value as it is typed: JSON, or YAML where it is no JSON."""

from __future__ import annotations

import json
from typing import Any

from workbench.pipeline import yaml_nodes as nodes


class Mistyped(Exception):
    """The text is no value; ``str()`` says where and why."""


def value_of(text: str) -> Any:
    """Raises ``Mistyped``. JSON has the first word, so that what was shown as JSON is read as such."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        as_json = f"line {error.lineno}, column {error.colno}: {error.msg}"
    except RecursionError:
        raise Mistyped("it is nested too deep") from None
    try:
        node = nodes.compose(text)
        if node is None:
            raise Mistyped("there is nothing; write null for no value")
        return nodes.plain(node)
    except nodes.YamlError as error:
        if text.lstrip()[:1] in ("[", "{", '"'):
            raise Mistyped(as_json) from None
        place = f"line {error.position.line}, column {error.position.column}: " if error.position is not None else ""
        raise Mistyped(f"{place}{error}") from None
