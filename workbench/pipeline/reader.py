"""Reads a pipeline file: every step form, and every mistake of the file's own in one pass."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml
from msgspec import Struct

from workbench.pipeline import yaml_nodes as nodes
from workbench.pipeline.files import composed, read_text, repeated_key, repeated_keys
from workbench.pipeline.model import (
    BranchStep,
    InputSource,
    Literal,
    LoopStep,
    Pipeline,
    ServerEntry,
    Step,
    ToolStep,
    is_memory_name,
    quoted_state,
    source_of,
    walk,
)
from workbench.pipeline.problems import PipelineError, Position, Problem, nearest

TOP_LEVEL_KEYS = ("servers", "pipeline", "items", "whole")


class Reading(Struct, frozen=True):
    """A pipeline as far as it can be read, and every mistake of the file's own.

    What can't be read has a step of no server (alias ``""``) in its place; ``unread`` are the paths of those steps of
    which only a part could be read. Neither must lead to follow-up mistakes.
    """

    pipeline: Pipeline
    problems: tuple[Problem, ...] = ()
    unread: frozenset[str] = frozenset()


def read_pipeline(file: Path, others: Mapping[str, ServerEntry] | None = None) -> Reading:
    """Read one pipeline file. Raises ``PipelineError`` where there is no map to be read.

    ``others`` are servers that its steps may use without an entry in the file, or with an empty one.
    """
    text = read_text(file)
    return _Reader(file, text, others or {}).read(composed(file, text))


class _Reader:
    """One reading of one file; collects problems instead of stopping at the first."""

    def __init__(self, file: Path, text: str, others: Mapping[str, ServerEntry]) -> None:
        self.file = file
        self.others = others
        self.text = text
        self.problems: list[Problem] = []
        self.aliases: tuple[str, ...] | None = None
        self.unread: set[str] = set()
        self.places: dict[str, Position] = {}
        self._level = 0

    def read(self, root: nodes.Node | None) -> Reading:
        if root is None:
            raise PipelineError(
                [Problem(self.file, None, "the file is empty; a pipeline has `servers:` and `pipeline:`")]
            )
        if not isinstance(root, yaml.MappingNode):
            self._report(root, f"a pipeline is a map with `servers:` and `pipeline:`; this is {nodes.kind(root)}")
            raise PipelineError(self.problems)
        top = self._fields(root, TOP_LEVEL_KEYS, "a pipeline")
        servers = self._servers(top.get("servers"), root)
        steps = self._pipeline(top.get("pipeline"), root)
        items = self._name(top.get("items"), "items")
        whole = self._names(top.get("whole"), "whole")
        used = {step.alias for step in walk(steps) if isinstance(step, ToolStep)}
        servers |= {alias: entry for alias, entry in self.others.items() if alias in used - servers.keys()}
        pipeline = Pipeline(self.file, self.text, servers, steps, items, frozenset(whole), self.places)
        return Reading(pipeline, tuple(self.problems), frozenset(self.unread))

    # ---- the top level

    def _servers(self, node: nodes.Node | None, root: nodes.Node) -> dict[str, ServerEntry]:
        if self.others and (node is None or nodes.is_null(node)):
            self.aliases = tuple(self.others)
            return {}
        if node is None:
            self._report(root, "there is no `servers:` section (a map: alias -> folder of the server)")
            return {}
        if not isinstance(node, yaml.MappingNode):
            self._report(node, f"`servers:` must be a map of aliases to server folders, not {nodes.kind(node)}")
            return {}
        servers: dict[str, ServerEntry] = {}
        for alias, key, value in self._unique(node, "server"):
            if "." in alias or not alias.strip():
                self._report(key, f"{alias!r} can't be the alias of a server: it must be a name without dots")
            entry = ServerEntry(alias, self._plain(value), nodes.position(key), nodes.places(value))
            servers[alias] = self.others.get(alias, entry) if nodes.is_null(value) else entry
        self.aliases = tuple({**servers, **self.others})
        return servers

    def _pipeline(self, node: nodes.Node | None, root: nodes.Node) -> tuple[Step, ...]:
        if node is None:
            return (self._unread(root, "", "there is no `pipeline:` section (a list of steps)"),)
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            found = nodes.kind(node) if not isinstance(node, yaml.SequenceNode) else "an empty list"
            return (self._unread(node, "", f"`pipeline:` must be a list of steps, not {found}"),)
        return self._steps(node, "")

    def _name(self, node: nodes.Node | None, key: str) -> str | None:
        if node is None:
            return None
        if not isinstance(node, yaml.ScalarNode) or nodes.is_null(node):
            self._report(node, f"`{key}:` must name one variable, not {nodes.kind(node)}")
            return None
        self.places[f"{key}.{node.value}"] = nodes.position(node)
        return str(node.value)

    def _names(self, node: nodes.Node | None, key: str) -> list[str]:
        if node is None:
            return []
        if not isinstance(node, yaml.SequenceNode):
            self._report(node, f"`{key}:` must be a list of variables, not {nodes.kind(node)}")
            return []
        return [name for entry in node.value if (name := self._name(entry, key)) is not None]

    # ---- steps

    def _steps(self, node: nodes.Node, prefix: str) -> tuple[Step, ...]:
        """The steps of a block. ``prefix`` is the block's path with a dot, or empty at the top."""
        if self._level == nodes.DEEPEST:
            return (self._unread(node, f"{prefix}1", f"blocks stand more than {nodes.DEEPEST} levels inside others"),)
        self._level += 1
        steps = tuple(self._step(entry, f"{prefix}{n}") for n, entry in enumerate(node.value, 1))
        self._level -= 1
        return steps

    def _step(self, node: nodes.Node, path: str) -> Step:
        if isinstance(node, yaml.ScalarNode) and not nodes.is_null(node):
            return self._tool_step(node, node, None, path)
        if not isinstance(node, yaml.MappingNode) or not node.value:
            return self._unread(
                node, path, f"step {path} must be `server.tool`, `loop` or `branch`; found {nodes.kind(node)}"
            )
        found = list(self._unique(node, "key"))
        (name, key, value), others = found[0], found[1:]
        if others:
            self.unread.add(path)
        if name not in ("loop", "branch") and "." not in name:
            return self._unread(
                key,
                path,
                f"step {path} is a map whose first key `{name}` is not `server.tool`"
                + nearest(name, ("loop", "branch"), noun="besides that, a step may be"),
            )
        for other, other_key, _ in others:
            self._report(
                other_key,
                f"step {path} ({name}) has the further key `{other}`; a step is a map with one key"
                + (f", so indent `{other}:` under `{name}:`" if other in ("input", "output", "times", "steps") else ""),
            )
        if name == "loop":
            return self._loop(node, value, path)
        if name == "branch":
            return self._branch(node, value, path)
        return self._tool_step(node, key, value, path)

    def _loop(self, node: nodes.Node, value: nodes.Node, path: str) -> Step:
        if not isinstance(value, yaml.MappingNode):
            return self._unread(
                value, path, f"loop {path} must be a map with `times` and `steps`, not {nodes.kind(value)}"
            )
        fields = self._fields(value, ("times", "steps"), f"loop {path}")
        for key in ("times", "steps"):
            if key not in fields:
                self._report(value, f"loop {path} has no `{key}`; a loop has exactly `times` and `steps`")
        times = self._times(fields["times"], path) if "times" in fields else 0
        body = self._body(fields.get("steps"), value, f"`steps` of loop {path}", f"{path}.")
        return LoopStep(path, nodes.position(node), nodes.last_line(node), times, body)

    def _body(self, node: nodes.Node | None, block: nodes.Node, what: str, prefix: str) -> tuple[Step, ...]:
        """The steps inside a block; a missing list is reported by who looked for it."""
        if node is None:
            return (self._no_step(block, f"{prefix}1"),)
        if not isinstance(node, yaml.SequenceNode):
            return (self._unread(node, f"{prefix}1", f"{what} must be a list of steps, not {nodes.kind(node)}"),)
        return self._steps(node, prefix)

    def _times(self, node: nodes.Node, path: str) -> int:
        value = self._plain(node)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        self._report(node, f"`times` of loop {path} must be a whole number from 0, not {_shown(value)}")
        return 0

    def _branch(self, node: nodes.Node, value: nodes.Node, path: str) -> Step:
        if not isinstance(value, yaml.MappingNode):
            return self._unread(
                value, path, f"branch {path} must be a map with `router` and `branches`, not {nodes.kind(value)}"
            )
        fields = self._fields(value, ("router", "branches"), f"branch {path}")
        for key in ("router", "branches"):
            if key not in fields:
                self._report(value, f"branch {path} has no `{key}`; a branch has exactly `router` and `branches`")
        router = self._router(fields.get("router"), value, path)
        branches = self._branches(fields.get("branches"), value, path)
        return BranchStep(path, nodes.position(node), nodes.last_line(node), router, branches)

    def _router(self, node: nodes.Node | None, block: nodes.Node, path: str) -> tuple[Step, ...]:
        prefix = f"{path}.router."
        if node is None:
            return (self._no_step(block, f"{prefix}1"),)
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            message = f"`router` of branch {path} must be a list of steps that ends with the router"
            return (self._unread(node, f"{prefix}1", message),)
        steps = self._steps(node, prefix)
        if not isinstance(steps[-1], ToolStep):
            self._report(
                node.value[-1],
                f"the last step under `router` of branch {path} must be a tool, not a {steps[-1].name}",
            )
        return steps

    def _branches(self, node: nodes.Node | None, block: nodes.Node, path: str) -> Mapping[str, tuple[Step, ...]]:
        if node is None:
            return {"": (self._no_step(block, f"{path}.1"),)}
        if not isinstance(node, yaml.MappingNode):
            message = f"`branches` of branch {path} must be a map of states to steps, not {nodes.kind(node)}"
            return {"": (self._unread(node, f"{path}.1", message),)}
        return {
            state: ()
            if nodes.is_null(body)
            else self._body(body, node, f"branch `{state}` of {path}", f"{path}.{quoted_state(state)}.")
            for state, _, body in self._unique(node, "state")
        }

    def _tool_step(self, node: nodes.Node, key: nodes.Node, value: nodes.Node | None, path: str) -> Step:
        name = str(key.value)
        alias, dot, tool = name.partition(".")
        if not dot or not alias or not tool or "." in tool:
            return self._unread(key, path, f"step {path}: `{name}` is not `server.tool`")
        if self.aliases is not None and alias not in self.aliases:
            self._report(
                key,
                f"step {path}: there is no server `{alias}`" + nearest(alias, self.aliases, noun="servers"),
            )
        known = len(self.problems)
        inputs: dict[str, InputSource] = {}
        outputs: dict[str, str] = {}
        places: dict[str, Position] = {}
        if isinstance(value, yaml.MappingNode):
            fields = self._step_fields(value, path, name)
            inputs = self._inputs(fields.get("input"), path, name, places)
            outputs = self._outputs(fields.get("output"), path, name, places)
        elif value is not None and not nodes.is_null(value):
            self._report(value, f"step {path} ({name}) must hold `input:` and `output:`, not {nodes.kind(value)}")
        if len(self.problems) > known:
            self.unread.add(path)
        return ToolStep(path, nodes.position(node), nodes.last_line(node), alias, tool, inputs, outputs, places)

    def _step_fields(self, node: yaml.MappingNode, path: str, name: str) -> dict[str, nodes.Node]:
        fields = {}
        for key, key_node, value in self._unique(node, "key"):
            if key in ("input", "output"):
                fields[key] = value
            else:
                self._report(
                    key_node,
                    f"step {path} ({name}) has the unknown key `{key}`; only `input` and `output` are allowed here. "
                    f"Did you mean `input: {{{key}: ...}}`, or the parameter `{key}` in the parameter file?",
                )
        return fields

    def _inputs(
        self, node: nodes.Node | None, path: str, name: str, places: dict[str, Position]
    ) -> dict[str, InputSource]:
        inputs: dict[str, InputSource] = {}
        for argument, key, value in self._renames(node, "input", path, name):
            places[f"input.{argument}"] = nodes.position(key)
            read = self._plain(value)
            inputs[argument] = source_of(read) if isinstance(read, str) else Literal(read)
        return inputs

    def _outputs(self, node: nodes.Node | None, path: str, name: str, places: dict[str, Position]) -> dict[str, str]:
        outputs: dict[str, str] = {}
        for output, key, value in self._renames(node, "output", path, name):
            places[f"output.{output}"] = nodes.position(key)
            if not isinstance(value, yaml.ScalarNode) or nodes.is_null(value) or not value.value:
                self._report(
                    value,
                    f"output `{output}` of step {path} must be renamed to a name, not {nodes.kind(value)}",
                )
            elif is_memory_name(value.value):
                self._report(
                    value,
                    f"step {path} ({name}): no output may be called `{value.value}`; "
                    "names with `memory_` are memory lists",
                )
            else:
                outputs[output] = value.value
        return outputs

    def _renames(self, node: nodes.Node | None, noun: str, path: str, name: str) -> list[nodes.Entry]:
        if node is None or nodes.is_null(node):
            return []
        if not isinstance(node, yaml.MappingNode):
            self._report(node, f"`{noun}:` of step {path} ({name}) must be a map, not {nodes.kind(node)}")
            return []
        return self._unique(node, noun)

    # ---- helpers

    def _fields(self, node: yaml.MappingNode, known: tuple[str, ...], what: str) -> dict[str, nodes.Node]:
        fields = {}
        for key, key_node, value in self._unique(node, "key"):
            if key in known:
                fields[key] = value
            else:
                keys = " and ".join(f"`{k}`" for k in known[:2])
                self._report(
                    key_node,
                    f"{what} has {keys}; found the unknown key `{key}`" + nearest(key, known, noun="known keys"),
                )
        return fields

    def _unique(self, node: yaml.MappingNode, noun: str) -> list[nodes.Entry]:
        """The entries of a map; a key that stands twice is reported, and its first value kept."""
        self.problems += [repeated_key(self.file, key, first, noun) for key, first in nodes.repeated(node)]
        return nodes.entries(node)

    def _plain(self, node: nodes.Node) -> object:
        self.problems += repeated_keys(self.file, node)
        try:
            return nodes.plain(node)
        except nodes.YamlError as error:
            self.problems.append(Problem(self.file, error.position, str(error)))
            return None

    def _unread(self, node: nodes.Node, path: str, message: str) -> ToolStep:
        """Report what can't be read, and put a step of no server in its place."""
        self._report(node, message)
        return self._no_step(node, path)

    def _no_step(self, node: nodes.Node, path: str) -> ToolStep:
        return ToolStep(path, nodes.position(node), nodes.last_line(node), alias="", tool="")

    def _report(self, node: nodes.Node, message: str) -> None:
        self.problems.append(Problem(self.file, nodes.position(node), message))


def _shown(value: object) -> str:
    return (
        f'"{value}" (a text)' if isinstance(value, str) else "true or false" if isinstance(value, bool) else str(value)
    )
