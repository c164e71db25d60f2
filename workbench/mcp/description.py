"""``server.yaml``: what a server's tools take and give, compiled against its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml


def describe(
    parameter_file: Path,
    tools: Mapping[str, tuple[Sequence[str], str | None]],
    prompts: Mapping[str, tuple[Sequence[str], str | None]],
) -> dict[str, Any]:
    """The content of ``server.yaml``; tools and prompts are name -> (argument names, annotation).

    Raises ``FileNotFoundError`` if there is no server where ``path`` or the layout of the folder says.
    """
    parameters = _parameters(parameter_file)
    folder = parameter_file.parent
    path = str(parameters.get("path") or folder / "src" / f"{folder.resolve().name}.py")
    if not Path(path).exists():
        raise FileNotFoundError(f"Server code not found: {path}")
    return {
        "path": path,
        "parameter": str(parameter_file),
        "tools": {name: entry(arguments, note, parameters) for name, (arguments, note) in tools.items()},
        "prompts": {name: entry(arguments, note, parameters) for name, (arguments, note) in prompts.items()},
    }


def write_description(parameter_file: Path, description: Mapping[str, Any]) -> Path:
    """Write ``server.yaml`` beside the parameter file; returns its path."""
    target = parameter_file.with_name("server.yaml")
    text = yaml.safe_dump(dict(description), sort_keys=False, allow_unicode=True)
    target.write_text(text, encoding="utf-8")
    return target


def entry(arguments: Sequence[str], annotation: str | None, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """One tool: ``{"input": {argument: variable or $parameter}, "output": [...]}``.

    Raises ``ValueError`` for an annotation with more than one arrow.
    """

    def spec(name: str) -> str:
        return f"${name}" if name in parameters else name

    if annotation is None:
        return {"input": {name: spec(name) for name in arguments}}
    left, arrow, right = annotation.partition("->")
    if "->" in right:
        raise ValueError(f"more than one '->' in {annotation!r}")
    if not arrow:
        left, right = "", left
    sources = _names(left) or arguments
    compiled: dict[str, Any] = {
        "input": {argument: spec(source) for argument, source in zip(arguments, sources, strict=False)}
    }
    outputs = _names(right)
    if outputs and right.strip().lower() != "none":
        compiled["output"] = [spec(name) for name in outputs]
    return compiled


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _parameters(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    return content if isinstance(content, dict) else {}
