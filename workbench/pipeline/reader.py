"""Reads a pipeline file: every step form, and every mistake of the file's own in one pass."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from workbench.pipeline import yaml_nodes as nodes
from workbench.pipeline.model import (
    BranchStep,
    FromMemory,
    FromParameter,
    FromVariable,
    InputSource,
    Literal,
    LoopStep,
    Pipeline,
    ServerEntry,
    Step,
    ToolStep,
    quoted_state,
)
from workbench.pipeline.problems import PipelineError, Position, Problem, nearest

TOP_LEVEL_KEYS = ("servers", "pipeline", "items", "whole")


def read_pipeline(file: Path) -> Pipeline:
    """Read and check one pipeline file. Raises ``PipelineError`` with all its mistakes."""
    text = read_text(file)
    try:
        root = nodes.compose(text)
    except nodes.YamlError as error:
        raise PipelineError([Problem(file, error.position, str(error))]) from None
    return _Reader(file, text).read(root)


def read_text(file: Path) -> str:
    """The text of a file, without a byte order mark. Raises ``PipelineError`` where it can't be read."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        others = [p.name for p in file.parent.glob("*.y*ml")] if file.parent.is_dir() else []
        raise PipelineError(
            [Problem(file, None, "no such file" + nearest(file.name, others, noun="pipelines here"))]
        ) from None
    except IsADirectoryError:
        found = sorted(p.name for p in file.glob("*.y*ml"))
        hint = f"; pipelines in it: {', '.join(found[:8])}" if found else ""
        raise PipelineError([Problem(file, None, f"this is a folder, not a pipeline file{hint}")]) from None
    except UnicodeDecodeError as error:
        raise PipelineError([Problem(file, None, f"not a text file in UTF-8 (byte {error.start})")]) from None
    except OSError as error:
        raise PipelineError([Problem(file, None, f"can't be read: {error.strerror or error}")]) from None


def is_memory_name(name: str) -> bool:
    return name.startswith(("memory_", "mem_"))


def source_of(name: str) -> InputSource:
    """What an input's text means: ``$p`` a parameter, ``memory_x`` or ``mem_x`` a memory list, else a variable."""
    if name.startswith("$"):
        return FromParameter(name[1:])
    if is_memory_name(name):
        return FromMemory(name.partition("_")[2])
    return FromVariable(name)


class _Reader:
    """One reading of one file; collects problems instead of stopping at the first."""

    def __init__(self, file: Path, text: str) -> None:
        self.file = file
        self.text = text
        self.problems: list[Problem] = []
        self.aliases: tuple[str, ...] | None = None
        self._inside: list[int] = []

    def read(self, root: nodes.Node | None) -> Pipeline:
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
        if self.problems:
            raise PipelineError(self.problems)
        return Pipeline(self.file, self.text, servers, steps, items, frozenset(whole))

    # ---- the top level

    def _servers(self, node: nodes.Node | None, root: nodes.Node) -> Mapping[str, ServerEntry]:
        if node is None:
            self._report(root, "there is no `servers:` section (a map: alias -> folder of the server)")
            return {}
        if not isinstance(node, yaml.MappingNode):
            self._report(node, f"`servers:` must be a map of aliases to server folders, not {nodes.kind(node)}")
            return {}
        servers = {}
        for alias, key, value in self._unique(node, "server"):
            if "." in alias or not alias.strip():
                self._report(key, f"{alias!r} can't be the alias of a server: it must be a name without dots")
            servers[alias] = ServerEntry(alias, self._plain(value), nodes.position(key))
        self.aliases = tuple(servers)
        return servers

    def _pipeline(self, node: nodes.Node | None, root: nodes.Node) -> tuple[Step, ...]:
        if node is None:
            self._report(root, "there is no `pipeline:` section (a list of steps)")
            return ()
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            found = nodes.kind(node) if not isinstance(node, yaml.SequenceNode) else "an empty list"
            self._report(node, f"`pipeline:` must be a list of steps, not {found}")
            return ()
        return self._steps(node, "")

    def _name(self, node: nodes.Node | None, key: str) -> str | None:
        if node is None:
            return None
        if not isinstance(node, yaml.ScalarNode) or nodes.is_null(node):
            self._report(node, f"`{key}:` must name one variable, not {nodes.kind(node)}")
            return None
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
        if id(node) in self._inside:
            self._report(node, "these steps contain themselves")
            return ()
        self._inside.append(id(node))
        steps = (self._step(entry, f"{prefix}{n}") for n, entry in enumerate(node.value, 1))
        found = tuple(step for step in steps if step is not None)
        self._inside.pop()
        return found

    def _step(self, node: nodes.Node, path: str) -> Step | None:
        if isinstance(node, yaml.ScalarNode) and not nodes.is_null(node):
            return self._tool_step(node, node, None, path)
        if not isinstance(node, yaml.MappingNode) or not node.value:
            return self._report(
                node, f"step {path} must be `server.tool`, `loop` or `branch`; found {nodes.kind(node)}"
            )
        found = list(self._unique(node, "key"))
        (name, key, value), others = found[0], found[1:]
        if name not in ("loop", "branch") and "." not in name:
            return self._report(
                key,
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

    def _loop(self, node: nodes.Node, value: nodes.Node, path: str) -> Step | None:
        if not isinstance(value, yaml.MappingNode):
            return self._report(value, f"loop {path} must be a map with `times` and `steps`, not {nodes.kind(value)}")
        fields = self._fields(value, ("times", "steps"), f"loop {path}")
        times, body = fields.get("times"), fields.get("steps")
        for key, found in (("times", times), ("steps", body)):
            if found is None:
                self._report(value, f"loop {path} has no `{key}`; a loop has exactly `times` and `steps`")
        number = self._times(times, path) if times is not None else 0
        if body is not None and not isinstance(body, yaml.SequenceNode):
            return self._report(body, f"`steps` of loop {path} must be a list of steps, not {nodes.kind(body)}")
        if body is None:
            return None
        return LoopStep(path, nodes.position(node), nodes.last_line(node), number, self._steps(body, f"{path}."))

    def _times(self, node: nodes.Node, path: str) -> int:
        value = self._plain(node)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        self._report(node, f"`times` of loop {path} must be a whole number from 0, not {_shown(value)}")
        return 0

    def _branch(self, node: nodes.Node, value: nodes.Node, path: str) -> Step | None:
        if not isinstance(value, yaml.MappingNode):
            return self._report(
                value, f"branch {path} must be a map with `router` and `branches`, not {nodes.kind(value)}"
            )
        fields = self._fields(value, ("router", "branches"), f"branch {path}")
        for key in ("router", "branches"):
            if key not in fields:
                self._report(value, f"branch {path} has no `{key}`; a branch has exactly `router` and `branches`")
        router = self._router(fields["router"], path) if "router" in fields else ()
        branches = self._branches(fields["branches"], path) if "branches" in fields else {}
        return BranchStep(path, nodes.position(node), nodes.last_line(node), router, branches)

    def _router(self, node: nodes.Node, path: str) -> tuple[Step, ...]:
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            self._report(node, f"`router` of branch {path} must be a list of steps that ends with the router")
            return ()
        steps = self._steps(node, f"{path}.router.")
        if steps and not isinstance(steps[-1], ToolStep):
            self._report(
                node.value[-1],
                f"the last step under `router` of branch {path} must be a tool, not a {steps[-1].name}",
            )
        return steps

    def _branches(self, node: nodes.Node, path: str) -> Mapping[str, tuple[Step, ...]]:
        if not isinstance(node, yaml.MappingNode):
            self._report(node, f"`branches` of branch {path} must be a map of states to steps, not {nodes.kind(node)}")
            return {}
        branches: dict[str, tuple[Step, ...]] = {}
        for state, _, body in self._unique(node, "state"):
            if nodes.is_null(body):
                branches[state] = ()
            elif isinstance(body, yaml.SequenceNode):
                branches[state] = self._steps(body, f"{path}.{quoted_state(state)}.")
            else:
                self._report(body, f"branch `{state}` of {path} must be a list of steps, not {nodes.kind(body)}")
        return branches

    def _tool_step(self, node: nodes.Node, key: nodes.Node, value: nodes.Node | None, path: str) -> Step | None:
        name = nodes.key_text(key)
        alias, dot, tool = name.partition(".")
        if not dot or not alias or not tool or "." in tool:
            return self._report(key, f"step {path}: `{name}` is not `server.tool`")
        if self.aliases is not None and alias not in self.aliases:
            self._report(
                key,
                f"step {path}: there is no server `{alias}`" + nearest(alias, self.aliases, noun="servers"),
            )
        inputs: dict[str, InputSource] = {}
        outputs: dict[str, str] = {}
        places: dict[str, Position] = {}
        if value is not None and not nodes.is_null(value):
            if not isinstance(value, yaml.MappingNode):
                return self._report(
                    value, f"step {path} ({name}) must hold `input:` and `output:`, not {nodes.kind(value)}"
                )
            fields = self._step_fields(value, path, name)
            if "input" in fields:
                inputs = self._inputs(fields["input"], path, name, places)
            if "output" in fields:
                outputs = self._outputs(fields["output"], path, name, places)
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

    def _inputs(self, node: nodes.Node, path: str, name: str, places: dict[str, Position]) -> dict[str, InputSource]:
        if nodes.is_null(node):
            return {}
        if not isinstance(node, yaml.MappingNode):
            self._report(node, f"`input:` of step {path} ({name}) must be a map, not {nodes.kind(node)}")
            return {}
        inputs: dict[str, InputSource] = {}
        for argument, key, value in self._unique(node, "input"):
            places[f"input.{argument}"] = nodes.position(key)
            read = self._plain(value)
            inputs[argument] = source_of(read) if isinstance(read, str) else Literal(read)
        return inputs

    def _outputs(self, node: nodes.Node, path: str, name: str, places: dict[str, Position]) -> dict[str, str]:
        if nodes.is_null(node):
            return {}
        if not isinstance(node, yaml.MappingNode):
            self._report(node, f"`output:` of step {path} ({name}) must be a map, not {nodes.kind(node)}")
            return {}
        outputs: dict[str, str] = {}
        for output, key, value in self._unique(node, "output"):
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

    def _unique(self, node: yaml.MappingNode, noun: str) -> list[tuple[str, nodes.Node, nodes.Node]]:
        """The entries of a map; a key that stands twice is reported, and its first value kept."""
        seen: dict[str, nodes.Node] = {}
        found = []
        for key, key_node, value in nodes.entries(node):
            if key in seen:
                self._report(key_node, f"the {noun} `{key}` is already on line {nodes.position(seen[key]).line}")
                continue
            seen[key] = key_node
            found.append((key, key_node, value))
        return found

    def _plain(self, node: nodes.Node) -> object:
        try:
            return nodes.plain(node)
        except nodes.YamlError as error:
            self.problems.append(Problem(self.file, error.position, str(error)))
            return None

    def _report(self, node: nodes.Node, message: str) -> Step | None:
        """Note a problem; gives None, so that a step that can't be read is ``return self._report(...)``."""
        self.problems.append(Problem(self.file, nodes.position(node), message))
        return None


def _shown(value: object) -> str:
    return (
        f'"{value}" (a text)' if isinstance(value, str) else "true or false" if isinstance(value, bool) else str(value)
    )
