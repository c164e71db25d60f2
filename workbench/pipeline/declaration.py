"""What a server says of its tools and prompts: names, arguments, and where inputs come from and outputs go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field

ToolKind = Literal["tool", "prompt"]


class Argument(Struct, frozen=True):
    """One argument of a tool, in the order of its signature."""

    name: str
    required: bool = True
    default: Any = None


class ToolDeclaration(Struct, frozen=True):
    """A tool or prompt as its server (or its source text, or a ``server.yaml``) declares it.

    ``annotation`` is the dialect's ``"q_ls,top_k->ret_psg"``. ``inputs`` and ``outputs`` are set instead where a
    ``server.yaml`` gives them outright (argument -> variable or ``$parameter``). With neither, the tool is taken
    as MCP describes it: arguments by name, one output called ``result``.
    """

    name: str
    kind: ToolKind
    arguments: tuple[Argument, ...]
    annotation: str | None = None
    inputs: Mapping[str, str] | None = None
    outputs: tuple[str, ...] | None = None
    outputs_from: str | None = None
    """``"benchmark.key_map"``: the outputs are the keys of this part of a parameter."""
    whole: tuple[str, ...] = ()
    """Outputs that are never item lists, whatever their length."""
    stateful: bool = False
    more_inputs: str | None = None
    """The argument that takes inputs of any other name, as a map of name -> value."""
    description: str = ""


class ServerDeclaration(Struct, frozen=True):
    """All that one server offers. ``complete`` is false where only part of it could be read without starting it."""

    alias: str
    tools: Mapping[str, ToolDeclaration] = field(default_factory=dict)
    complete: bool = True
    origin: str = "server"
