"""The two files that ``ragwb build`` writes beside a pipeline, in the shape of the dialect's reference."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from workbench.pipeline import yaml_nodes as nodes
from workbench.pipeline.binding import AnnotationError, Interface, described_source, interface_of
from workbench.pipeline.declaration import ServerDeclaration, ToolDeclaration
from workbench.pipeline.files import read_text
from workbench.pipeline.model import FromParameter, InputSource, Literal, ToolStep
from workbench.pipeline.parameters import default_parameter_file
from workbench.pipeline.prepare import Prepared
from workbench.pipeline.project import ServerSource


class Built(Struct):
    """What a build gives: the content of both files, alias by alias in order of first use."""

    servers: dict[str, dict[str, Any]] = field(default_factory=dict)
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)


def server_file(pipeline: Path) -> Path:
    return pipeline.parent / "server" / f"{pipeline.stem}_server.yaml"


def parameter_file(pipeline: Path) -> Path:
    return default_parameter_file(pipeline)


def build(prepared: Prepared, declarations: Mapping[str, ServerDeclaration]) -> Built:
    """Compile every step's tool against its server's own parameters, as they stand in its ``parameter.yaml``."""
    built = Built()
    for step in prepared.pipeline.tool_steps():
        declaration = declarations[step.alias].tools.get(step.tool)
        if declaration is not None:
            with contextlib.suppress(AnnotationError):
                interface = interface_of(declaration, prepared.parameters.of(step.alias), step.inputs)
                _add_tool(built, step, declaration, interface)
                _add_parameters(built, step, prepared.sources[step.alias], interface)
    for alias, server in built.servers.items():
        server.update(_paths(prepared.sources[alias]))
    return built


def _add_tool(built: Built, step: ToolStep, declaration: ToolDeclaration, interface: Interface) -> None:
    entry: dict[str, Any] = {"input": {name: _spec(source) for name, source in interface.inputs.items()}}
    if interface.outputs:
        entry["output"] = list(interface.outputs)
    section = "prompts" if declaration.kind == "prompt" else "tools"
    built.servers.setdefault(step.alias, {}).setdefault(section, {})[step.tool] = entry


def _add_parameters(built: Built, step: ToolStep, source: ServerSource, interface: Interface) -> None:
    """The parameters that the tool or the step itself names, with the values of the server's own file."""
    if source.parameter_file is None:
        return
    own, values = _own_parameters(source), built.parameters.setdefault(step.alias, {})
    for read in (*interface.inputs.values(), *step.inputs.values()):
        if isinstance(read, FromParameter) and read.name in own:
            values.setdefault(read.name, own[read.name])


def _spec(source: InputSource) -> Any:
    return source.value if isinstance(source, Literal) else described_source(source)


def _own_parameters(source: ServerSource) -> Mapping[str, Any]:
    """A server's ``parameter.yaml`` as it is written: ``${NAME}`` is not replaced, since secrets stay out of files."""
    if source.parameter_file is None:
        return {}
    root = nodes.compose(read_text(source.parameter_file))
    content = nodes.plain(root) if root is not None else None
    return content if isinstance(content, Mapping) else {}


def _paths(source: ServerSource) -> dict[str, str]:
    """``parameter`` and ``path`` as the pipeline names them, from the project folder."""
    if source.script is None:
        return {"path": source.entry}
    if source.entry.endswith(".py"):
        entry, folder = source.entry, str(Path(source.entry).parent)
    else:
        folder = source.entry.rstrip("/")
        entry = f"{folder}/src/{source.script.name}"
    paths = {"parameter": f"{folder}/parameter.yaml"} if source.parameter_file is not None else {}
    return {**paths, "path": entry}
