"""Binds a step to its tool: where each argument comes from, and where each output goes.

A step's binding is worked out once, from its own text and the tool's declaration; no use of a tool affects another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from workbench.pipeline.declaration import ToolDeclaration
from workbench.pipeline.model import (
    FromMemory,
    FromParameter,
    FromVariable,
    InputSource,
    Literal,
    ToolStep,
    source_of,
)
from workbench.pipeline.parameters import ParameterValue

RESULT = "result"
"""The one output of a tool that names none."""


class Output(Struct, frozen=True):
    """One declared output and where it is kept: a variable, or a parameter of the step's server."""

    declared: str
    target: str
    is_parameter: bool = False
    is_whole: bool = False


class Binding(Struct, frozen=True):
    """A step, ready to be called."""

    step: ToolStep
    declaration: ToolDeclaration
    inputs: Mapping[str, InputSource]
    outputs: tuple[Output, ...]
    is_router: bool = False

    @property
    def is_bare(self) -> bool:
        """Whether the tool names no outputs: its whole result is the one output."""
        return self.declaration.annotation is None and self.declaration.outputs is None


class Interface(Struct, frozen=True):
    """A declaration compiled against the parameters of its server: argument -> source, and output names."""

    inputs: Mapping[str, InputSource]
    outputs: tuple[str, ...]
    by_name: bool = False
    """The tool says nothing of its inputs: each argument is the variable or parameter of its name, if there is one."""


class AnnotationError(Exception):
    """The annotation of a tool can't be read."""


def interface_of(
    declaration: ToolDeclaration, parameters: Mapping[str, ParameterValue], given: Mapping[str, InputSource]
) -> Interface:
    """Compile a tool's declaration (the dialect's ``"a,b->c"``). Raises ``AnnotationError``.

    A name that is a parameter of the server means that parameter. ``given`` are the inputs the step itself sets:
    a tool whose outputs are the keys of a parameter takes them from there first.
    """
    if declaration.inputs is not None or declaration.outputs is not None:
        inputs = {argument: source_of(spec) for argument, spec in (declaration.inputs or {}).items()}
        return Interface(inputs, _distinct(declaration.outputs or ()))
    names = [argument.name for argument in declaration.arguments]
    by_name = {name: _named(name, parameters) for name in names}
    if declaration.annotation is None:
        return Interface(by_name, (RESULT,), by_name=True)
    left, right = _split(declaration.annotation)
    specs = _list(left)
    inputs = {n: _named(s, parameters) for n, s in zip(names, specs, strict=False)} if specs else by_name
    outputs = () if right.strip().lower() == "none" else tuple(_list(right))
    if declaration.outputs_from is not None:
        outputs = _keys(declaration.outputs_from, {**inputs, **given}, parameters) or outputs
    return Interface(inputs, _distinct(tuple(f"${o}" if o in parameters else o for o in outputs)))


def _split(annotation: str) -> tuple[str, str]:
    parts = annotation.split("->")
    if len(parts) > 2:
        raise AnnotationError(f"its annotation {annotation!r} has more than one `->`")
    return ("", parts[0]) if len(parts) == 1 else (parts[0], parts[1])


def _list(text: str) -> list[str]:
    names = [part.strip() for part in text.split(",") if part.strip()]
    for name in names:
        if len(name.split()) > 1:
            raise AnnotationError(f"its annotation holds {name!r}, which is no name; names stand with commas between")
    return names


def _distinct(outputs: tuple[str, ...]) -> tuple[str, ...]:
    for name in outputs:
        if outputs.count(name) > 1:
            raise AnnotationError(f"it declares the output `{name}` more than once; each needs a name of its own")
    return outputs


def _named(spec: str, parameters: Mapping[str, ParameterValue]) -> InputSource:
    return FromParameter(spec) if spec in parameters else source_of(spec)


def _keys(path: str, inputs: Mapping[str, InputSource], parameters: Mapping[str, ParameterValue]) -> tuple[str, ...]:
    """The keys, or entries, of the part of a parameter that ``path`` names; none where it is neither map nor list."""
    argument, *inner = path.split(".")
    source = inputs.get(argument, FromParameter(argument))
    value: Any = None
    if isinstance(source, Literal):
        value = source.value
    elif isinstance(source, FromParameter) and source.name in parameters:
        value = parameters[source.name].value
    for key in inner:
        value = value.get(key) if isinstance(value, Mapping) else None
    return tuple(map(str, value)) if isinstance(value, Mapping | list) else ()


def names_of(declaration: ToolDeclaration) -> set[str]:
    """Every name by which a tool may know a parameter: its arguments, and what its declaration reads and writes."""
    names = {argument.name for argument in declaration.arguments}
    names.update(re.split(r"->|,", declaration.annotation or ""), (declaration.inputs or {}).values())
    names.update(declaration.outputs or (), (declaration.outputs_from or "").split(".")[:1])
    return {name.strip().removeprefix("$") for name in names}


def described_source(source: InputSource) -> str:
    """A source as it is written in a pipeline: ``q_ls``, ``$top_k``, ``memory_q_ls``, or the value."""
    if isinstance(source, FromVariable):
        return source.name
    if isinstance(source, FromParameter):
        return f"${source.name}"
    if isinstance(source, FromMemory):
        return f"memory_{source.variable}"
    return repr(source.value)
