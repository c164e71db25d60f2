"""``server.yaml``: what the tools of a server take and give that is not written with the kit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml
from msgspec.structs import replace

from workbench.pipeline import yaml_nodes as nodes
from workbench.pipeline.declaration import Argument, ServerDeclaration, ToolDeclaration, ToolKind
from workbench.pipeline.files import composed, read_text, repeated_keys
from workbench.pipeline.problems import PipelineError, Problem, close_names, did_you_mean

_SECTIONS: tuple[tuple[str, ToolKind], ...] = (("prompts", "prompt"), ("tools", "tool"))
_SHAPE = "tools: {name: {input: {argument: variable}, output: [name]}}"


def described(file: Path | None) -> tuple[dict[str, ToolDeclaration], list[Problem]]:
    """The tools that a ``server.yaml`` describes, and every mistake in it."""
    if file is None:
        return {}, []
    try:
        root = composed(file, read_text(file))
    except PipelineError as error:
        return {}, list(error.problems)
    reading = _Reading(file)
    if root is not None:
        reading.problems += repeated_keys(file, root)
        for name, node in reading.map(root, f"`{file.name}`"):
            for section, kind in _SECTIONS:
                if name == section:
                    reading.section(section, kind, node)
    return reading.tools, reading.problems


def completed(declaration: ServerDeclaration, description_file: Path | None) -> tuple[ServerDeclaration, list[Problem]]:
    """What a running server says, with what a ``server.yaml`` beside it adds if it has no `build` tool."""
    if description_file is None or "build" in declaration.tools:
        return declaration, []
    descriptions, problems = described(description_file)
    known = {name: tool for name, tool in descriptions.items() if name in declaration.tools}
    return replace(declaration, tools=overlaid(declaration.tools, known)), problems


def overlaid(
    tools: Mapping[str, ToolDeclaration], descriptions: Mapping[str, ToolDeclaration]
) -> dict[str, ToolDeclaration]:
    """``tools`` with the inputs and outputs of a ``server.yaml`` where a tool has no annotation of its own."""
    result = dict(descriptions)
    for name, tool in tools.items():
        description = descriptions.get(name)
        if description is None or tool.annotation is not None:
            result[name] = tool
        else:
            result[name] = replace(tool, inputs=description.inputs, outputs=description.outputs)
    return result


class _Reading:
    """One reading of one file; collects problems instead of stopping at the first."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.tools: dict[str, ToolDeclaration] = {}
        self.problems: list[Problem] = []

    def map(self, node: nodes.Node, what: str) -> list[tuple[str, nodes.Node]]:
        """The entries of what must be a map, and may be empty."""
        if isinstance(node, yaml.MappingNode):
            return [(name, value) for name, _, value in nodes.entries(node)]
        if not nodes.is_null(node):
            self._report(node, f"{what} must be a map, not {nodes.kind(node)}; the file's shape is {_SHAPE}")
        return []

    def section(self, section: str, kind: ToolKind, node: nodes.Node) -> None:
        for name, entry in self.map(node, f"`{section}:`"):
            self.tools[name] = self._tool(name, kind, entry)

    def _tool(self, name: str, kind: ToolKind, entry: nodes.Node) -> ToolDeclaration:
        inputs: dict[str, str] = {}
        outputs: tuple[str, ...] = ()
        for key, value in self.map(entry, f"`{name}:`"):
            if key == "input":
                inputs = self._inputs(name, value)
            elif key == "output":
                outputs = self._outputs(name, value)
            elif close := close_names(key, ("input", "output")):
                self._report(value, f"`{name}` has the unknown key `{key}`" + did_you_mean(close))
        return ToolDeclaration(name, kind, tuple(map(Argument, inputs)), inputs=inputs, outputs=outputs)

    def _inputs(self, tool: str, node: nodes.Node) -> dict[str, str]:
        return {
            key: self._name(value, f"input `{key}` of `{tool}` must be a variable or $parameter")
            for key, value in self.map(node, f"`input:` of `{tool}`")
        }

    def _outputs(self, tool: str, node: nodes.Node) -> tuple[str, ...]:
        if nodes.is_null(node):
            return ()
        if not isinstance(node, yaml.SequenceNode):
            self._report(node, f"`output:` of `{tool}` must be a list of names, as in [ans_ls], not {nodes.kind(node)}")
            return ()
        return tuple(self._name(entry, f"an output of `{tool}` must be a name") for entry in node.value)

    def _name(self, node: nodes.Node, must: str) -> str:
        if nodes.kind(node) != "a text" or len(node.value.split()) != 1:
            found = repr(node.value) if nodes.kind(node) == "a text" else nodes.kind(node)
            self._report(node, f"{must}, not {found}")
        return str(node.value)

    def _report(self, node: nodes.Node, message: str) -> None:
        self.problems.append(Problem(self.file, nodes.position(node), message))
