"""The servers in an MCP client's own configuration file: Claude Desktop, Cursor, VS Code and others."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from workbench.pipeline import yaml_nodes as nodes
from workbench.pipeline.files import composed, read_text
from workbench.pipeline.model import ServerEntry
from workbench.pipeline.problems import PipelineError, Problem

_SECTIONS = (("mcpServers",), ("servers",), ("mcp", "servers"))
_SHAPE = "an MCP client's configuration has `mcpServers` (or `servers`), a map of names to {command, args} or {url}"
_OUTSIDE_STRINGS = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|\t', re.DOTALL)
_THEIR_NAMES = re.compile(r"\$\{(env:|input:)?([^}]*)\}")


def read_mcp_config(file: Path, project: Path) -> dict[str, ServerEntry]:
    """Its servers by name. Raises ``PipelineError`` for a file of another shape."""
    text = read_text(file.expanduser())
    root = composed(file, _as_yaml(text) if text.lstrip().startswith(("{", "/")) else text)
    section = next((found for keys in _SECTIONS if (found := _section(root, keys)) is not None), None)
    if section is None:
        raise PipelineError([Problem(file, None, f"{_SHAPE}; {_found(root)}")])
    entries = {}
    for name, key, value in nodes.entries(section):
        try:
            entry = _in_our_words(nodes.plain(value), project)
        except (nodes.YamlError, _NotOurs) as error:
            raise PipelineError([Problem(file, nodes.position(value), f"server {name!r}: {error}")]) from None
        entries[name] = ServerEntry(name, entry, nodes.position(key), nodes.places(value), file)
    return entries


class _NotOurs(Exception):
    """Something in an entry that only the client it was written for can do."""


def _as_yaml(text: str) -> str:
    """JSON with comments and tabs as YAML reads it: each replaced by blanks, so that all keeps its place."""

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

    return _OUTSIDE_STRINGS.sub(blank, text)


def _section(root: nodes.Node | None, keys: tuple[str, ...]) -> yaml.MappingNode | None:
    node = root
    for wanted in keys:
        if not isinstance(node, yaml.MappingNode):
            return None
        node = next((value for name, _, value in nodes.entries(node) if name == wanted), None)
    return node if isinstance(node, yaml.MappingNode) else None


def _found(root: nodes.Node | None) -> str:
    if not isinstance(root, yaml.MappingNode):
        return f"this is {nodes.kind(root)}" if root is not None else "this file is empty"
    names = ", ".join(f"`{name}`" for name, _, _ in nodes.entries(root)[:6])
    return f"this file has {names or 'nothing in it'}"


def _in_our_words(value: Any, project: Path) -> Any:
    """The placeholders that clients have, in the way ``${NAME}`` is written here. Raises ``_NotOurs``."""
    folders = {"workspaceFolder": str(project), "userHome": str(Path.home()), "/": "/", "pathSeparator": "/"}

    def ours(match: re.Match[str]) -> str:
        kind, name = match[1], match[2]
        if kind == "input:":
            raise _NotOurs(
                f"`{match[0]}` is asked for by the client it was written for; here write ${{NAME}}, and give "
                "NAME in the environment"
            )
        variable, has_default, default = name.partition(":-")
        if has_default:
            return f"${{{variable}}}" if variable in os.environ else default
        return f"${{{name}}}" if kind else folders.get(name, match[0])

    if isinstance(value, str):
        return _THEIR_NAMES.sub(ours, value)
    if isinstance(value, list):
        return [_in_our_words(entry, project) for entry in value]
    if isinstance(value, Mapping):
        return {key: _in_our_words(entry, project) for key, entry in value.items()}
    return value
