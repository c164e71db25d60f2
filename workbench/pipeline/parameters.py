"""Parameters: from which file each value comes, and which of several values counts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from workbench.pipeline import yaml_nodes as nodes
from workbench.pipeline.problems import PipelineError, Problem, nearest
from workbench.pipeline.project import ServerSource
from workbench.pipeline.reader import read_text

_PLACEHOLDER = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True)
class ParameterValue:
    """One parameter. ``origin`` says which file or option gave it; ``missing`` names unset environment variables."""

    value: Any
    origin: str
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class ParameterSet:
    """The parameters of every server (alias -> name -> value) and the files that were looked at."""

    values: Mapping[str, Mapping[str, ParameterValue]] = field(default_factory=dict)
    file: Path | None = None
    """The pipeline's parameter file, whether it exists or not."""

    def of(self, alias: str) -> Mapping[str, ParameterValue]:
        return self.values.get(alias, {})


def default_parameter_file(pipeline: Path) -> Path:
    return pipeline.parent / "parameter" / f"{pipeline.stem}_parameter.yaml"


def load_parameters(
    pipeline: Path,
    sources: Mapping[str, ServerSource],
    *,
    project: Path,
    param_file: str | None = None,
    sets: Iterable[str] = (),
) -> tuple[ParameterSet, list[Problem]]:
    """Merge all parameters, name by name: ``--set``, ``--param`` or the pipeline's file, the server's own file.

    Raises ``PipelineError`` where a named file does not exist or is no YAML.
    """
    problems: list[Problem] = []
    environment = _Environment(project)
    values: dict[str, dict[str, ParameterValue]] = {}
    for alias, source in sources.items():
        values[alias] = {}
        if source.parameter_file is not None:
            section = _read_map(source.parameter_file, problems)
            values[alias] = environment.values(section, str(source.parameter_file))
    layers = [default_parameter_file(pipeline)]
    if param_file is not None:
        layers.append(_find_param_file(param_file, pipeline))
    for file in layers:
        if file.is_file():
            for alias, section in _sections(file, sources, problems).items():
                values[alias].update(environment.values(section, str(file)))
    for assignment in sets:
        _assign(assignment, values, pipeline, problems)
    return ParameterSet(values, layers[-1]), problems


def _find_param_file(name: str, pipeline: Path) -> Path:
    given = Path(name).expanduser()
    places = [given] if given.is_absolute() else [Path.cwd() / given, pipeline.parent / given]
    for place in places:
        if place.is_file():
            return place
    raise PipelineError(
        [Problem(given, None, "the parameter file does not exist; looked at " + " and ".join(map(str, places)))]
    )


def _read_map(file: Path, problems: list[Problem]) -> Mapping[str, Any]:
    """A YAML map; a file that is empty or holds only comments is an empty one."""
    root = _compose(file)
    if root is None or nodes.is_null(root):
        return {}
    if not isinstance(root, yaml.MappingNode):
        problems.append(Problem(file, nodes.position(root), f"parameters must be a map, not {nodes.kind(root)}"))
        return {}
    try:
        value: Mapping[str, Any] = nodes.plain(root)
    except nodes.YamlError as error:
        problems.append(Problem(file, error.position, str(error)))
        return {}
    return value


def _compose(file: Path) -> nodes.Node | None:
    try:
        return nodes.compose(read_text(file))
    except nodes.YamlError as error:
        raise PipelineError([Problem(file, error.position, str(error))]) from None


def _sections(file: Path, sources: Mapping[str, ServerSource], problems: list[Problem]) -> dict[str, Mapping[str, Any]]:
    """The sections of a pipeline's parameter file; those of servers the pipeline has not are left alone."""
    sections = {}
    for alias, section in _read_map(file, problems).items():
        if alias not in sources or section is None:
            continue
        if isinstance(section, Mapping):
            sections[alias] = section
        else:
            problems.append(Problem(file, None, f"the section `{alias}` must be a map of parameters"))
    return sections


def _assign(
    assignment: str, values: dict[str, dict[str, ParameterValue]], pipeline: Path, problems: list[Problem]
) -> None:
    """Apply one ``alias.name=value`` or ``alias.name.key=value``; the value is read as YAML."""
    path, equals, text = assignment.partition("=")
    alias, *keys = path.strip().split(".")
    where = f"--set {assignment}: "
    if not equals or not keys or not all(keys):
        problems.append(Problem(pipeline, None, where + "must be alias.parameter=value"))
        return
    if alias not in values:
        problems.append(
            Problem(
                pipeline,
                None,
                where + f"there is no server `{alias}`" + nearest(alias, values, noun="servers"),
            )
        )
        return
    try:
        node = nodes.compose(text)
        value = nodes.plain(node) if node is not None else None
    except nodes.YamlError as error:
        problems.append(Problem(pipeline, None, where + str(error)))
        return
    name, inner = keys[0], keys[1:]
    current = values[alias].get(name)
    try:
        new = _replaced(current.value if current else None, inner, value)
    except KeyError as error:
        problems.append(Problem(pipeline, None, where + f"`{error.args[0]}` is not inside a map"))
        return
    values[alias][name] = ParameterValue(new, "--set", ())


def _replaced(value: Any, keys: list[str], new: Any) -> Any:
    """``value`` with what lies at ``keys`` replaced; the original is not changed."""
    if not keys:
        return new
    if value is not None and not isinstance(value, Mapping):
        raise KeyError(keys[0])
    inside = dict(value or {})
    inside[keys[0]] = _replaced(inside.get(keys[0]), keys[1:], new)
    return inside


class _Environment:
    """``${NAME}`` in parameter files: the environment, then a ``.env`` in the project folder."""

    def __init__(self, project: Path) -> None:
        self._file = project / ".env"
        self._names: Mapping[str, str | None] | None = None

    def values(self, section: Mapping[str, Any], origin: str) -> dict[str, ParameterValue]:
        return {name: self._value(value, origin) for name, value in section.items()}

    def _value(self, value: Any, origin: str) -> ParameterValue:
        missing: list[str] = []
        return ParameterValue(self._expanded(value, missing), origin, tuple(missing))

    def _expanded(self, value: Any, missing: list[str]) -> Any:
        if isinstance(value, str):
            return _PLACEHOLDER.sub(lambda match: self._replacement(match, missing), value) if "$" in value else value
        if isinstance(value, list):
            return [self._expanded(entry, missing) for entry in value]
        if isinstance(value, dict):
            return {key: self._expanded(entry, missing) for key, entry in value.items()}
        return value

    def _replacement(self, match: re.Match[str], missing: list[str]) -> str:
        name = match[1]
        if name is None:
            return "$"
        found = os.environ.get(name)
        if found is None:
            found = self._from_file().get(name)
        if found is None:
            missing.append(name)
            return match[0]
        return found

    def _from_file(self) -> Mapping[str, str | None]:
        if self._names is None:
            from dotenv import dotenv_values

            self._names = dotenv_values(self._file, interpolate=False) if self._file.is_file() else {}
        return self._names


def unset_message(parameter: str, value: ParameterValue) -> str:
    """What to say of a used parameter whose ``${NAME}`` is not set."""
    names = " and ".join(f"`{name}`" for name in dict.fromkeys(value.missing))
    return (
        f"parameter `{parameter}` ({value.origin}) needs the environment variable {names}; "
        "set it, or put it into `.env` of the project folder"
    )
