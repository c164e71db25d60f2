"""Parameters: from which file each value comes, and which of several values counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct, field

from workbench.pipeline import yaml_nodes as nodes
from workbench.pipeline.environment import Environment
from workbench.pipeline.files import composed, read_text, repeated_keys
from workbench.pipeline.model import Pipeline
from workbench.pipeline.problems import PipelineError, Position, Problem, close_names, did_you_mean, nearest
from workbench.pipeline.project import ServerSource


class ParameterValue(Struct, frozen=True):
    """One parameter. ``origin`` says which file or option gave it; ``missing`` names unset environment variables."""

    value: Any
    origin: str
    missing: tuple[str, ...] = ()


class AddedParameter(Struct, frozen=True):
    """A parameter that the server's own file does not have: it must be one that a tool or a step knows."""

    alias: str
    name: str
    file: Path
    position: Position | None = None
    option: str = ""
    """The ``--set`` that added it, without its value, which may be a secret; empty where a file did."""


class ParameterSet(Struct, frozen=True):
    """The parameters of every server (alias -> name -> value) and the files that were looked at."""

    values: Mapping[str, Mapping[str, ParameterValue]] = field(default_factory=dict)
    file: Path | None = None
    """The pipeline's parameter file, whether it exists or not."""
    added: tuple[AddedParameter, ...] = ()
    unread: frozenset[str] = frozenset()
    """Servers whose parameters could not all be read, so that nothing can be said of those that are not there."""

    def of(self, alias: str) -> Mapping[str, ParameterValue]:
        return self.values.get(alias, {})


def default_parameter_file(pipeline: Path) -> Path:
    return pipeline.parent / "parameter" / f"{pipeline.stem}_parameter.yaml"


def load_parameters(
    pipeline: Pipeline,
    sources: Mapping[str, ServerSource],
    *,
    project: Path,
    param_file: str | None = None,
    sets: Iterable[str] = (),
) -> tuple[ParameterSet, list[Problem]]:
    """Merge all parameters, name by name: ``--set``, ``--param`` or the pipeline's file, the server's own file."""
    loading = _Loading(pipeline, sources, Environment(project))
    for alias, source in sources.items():
        loading.server(alias, source.parameter_file)
    file = default_parameter_file(pipeline.file)
    if file.is_file():
        loading.sections(file)
    if param_file is not None:
        file = loading.named_file(param_file)
    for assignment in sets:
        loading.assign(assignment)
    return ParameterSet(loading.values, file, tuple(loading.added), frozenset(loading.unread)), loading.problems


class _Loading(Struct):
    """One merge of all parameters; mistakes are collected, and what can be read counts."""

    pipeline: Pipeline
    sources: Mapping[str, ServerSource]
    environment: Environment
    values: dict[str, dict[str, ParameterValue]] = field(default_factory=dict)
    added: list[AddedParameter] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)

    def server(self, alias: str, file: Path | None) -> None:
        """The server's own file, with which all begins."""
        self.values[alias] = {}
        if file is not None:
            for name, _, value in self._entries(file, {alias}):
                self._keep(alias, name, value, file)

    def named_file(self, name: str) -> Path:
        """The file that ``--param`` names, looked for in the current folder and in the pipeline's."""
        given = Path(name).expanduser()
        places = list(dict.fromkeys([Path.cwd() / given, self.pipeline.file.parent / given]))
        found = next((place for place in places if place.exists()), None)
        if found is None:
            looked = " and ".join(map(str, places))
            problem = Problem(given, None, f"the parameter file does not exist; looked at {looked}")
            self._refuse(problem, self.sources.keys())
            return places[0]
        self.sections(found)
        return found

    def sections(self, file: Path) -> None:
        """A file of the pipeline: a section for each server."""
        sections = self._entries(file, self.sources.keys())
        written = {alias for alias, _, _ in sections}
        for alias, key, section in sections:
            if alias not in self.pipeline.servers:
                self._foreign_section(file, alias, key, written)
            elif alias in self.sources and not nodes.is_null(section):
                self._section(file, alias, section)

    def _section(self, file: Path, alias: str, section: nodes.Node) -> None:
        if not isinstance(section, yaml.MappingNode):
            message = f"the section `{alias}` must be a map of parameters, not {nodes.kind(section)}"
            self._refuse(Problem(file, nodes.position(section), message), {alias})
            return
        own = str(self.sources[alias].parameter_file)
        for name, key, value in nodes.entries(section):
            known = self.values[alias].get(name)
            if known is None or known.origin != own:
                self.added.append(AddedParameter(alias, name, file, nodes.position(key)))
            self._keep(alias, name, value, file)

    def _foreign_section(self, file: Path, alias: str, key: nodes.Node, written: set[str]) -> None:
        """Files are shared between pipelines, so that other sections are in order; but a name may be misspelt."""
        close = close_names(alias, self.pipeline.servers.keys() - written)
        if close:
            message = f"the section `{alias}` is of no server in {self.pipeline.file.name}" + did_you_mean(close)
            self.problems.append(Problem(file, nodes.position(key), message, is_warning=True))

    def _entries(self, file: Path, aliases: Iterable[str]) -> list[nodes.Entry]:
        """The entries of a file; one that is empty or holds only comments has none."""
        try:
            root = composed(file, read_text(file))
        except PipelineError as error:
            self._refuse(error.problems[0], aliases)
            return []
        if root is None or nodes.is_null(root):
            return []
        if not isinstance(root, yaml.MappingNode):
            message = f"parameters must be a map, not {nodes.kind(root)}"
            self._refuse(Problem(file, nodes.position(root), message), aliases)
            return []
        self.problems += repeated_keys(file, root)
        return nodes.entries(root)

    def _keep(self, alias: str, name: str, node: nodes.Node, file: Path) -> None:
        try:
            value, missing = self.environment.expanded(nodes.plain(node))
        except nodes.YamlError as error:
            self._refuse(Problem(file, error.position, str(error)), {alias})
        else:
            self.values[alias][name] = ParameterValue(value, str(file), missing)

    def _refuse(self, problem: Problem, aliases: Iterable[str]) -> None:
        self.problems.append(problem)
        self.unread.update(aliases)

    def assign(self, assignment: str) -> None:
        """Apply one ``alias.name=value`` or ``alias.name.key=value``; the value is read as YAML."""
        path, equals, text = assignment.partition("=")
        alias, *keys = path.strip().split(".")
        if not equals or not keys or not all(keys):
            self._refuse_set(assignment, "must be alias.parameter=value")
        elif alias not in self.pipeline.servers:
            close = nearest(alias, self.pipeline.servers, noun="servers")
            self._refuse_set(assignment, f"there is no server `{alias}`{close}")
        elif alias in self.sources:
            self._set(assignment, alias, keys, text)

    def _set(self, assignment: str, alias: str, keys: list[str], text: str) -> None:
        name, inner = keys[0], keys[1:]
        current = self.values[alias].get(name)
        try:
            node = nodes.compose(text)
            value = nodes.plain(node) if node is not None else None
            new = _replaced(current.value if current else None, inner, value)
        except nodes.YamlError as error:
            self._refuse_set(assignment, str(error))
        except KeyError as error:
            self._refuse_set(assignment, f"`{error.args[0]}` is not inside a map")
        else:
            if current is None:
                self.added.append(AddedParameter(alias, name, self.pipeline.file, option=f"--set {alias}.{name}"))
            self.values[alias][name] = ParameterValue(new, "--set")

    def _refuse_set(self, assignment: str, message: str) -> None:
        self.problems.append(Problem(self.pipeline.file, None, f"--set {assignment}: {message}"))


def _replaced(value: Any, keys: list[str], new: Any) -> Any:
    """``value`` with what lies at ``keys`` replaced; the original is not changed."""
    if not keys:
        return new
    if value is not None and not isinstance(value, Mapping):
        raise KeyError(keys[0])
    inside = dict(value or {})
    inside[keys[0]] = _replaced(inside.get(keys[0]), keys[1:], new)
    return inside


def unset_message(parameter: str, value: ParameterValue) -> str:
    """What to say of a used parameter whose ``${NAME}`` is not set."""
    names = " and ".join(f"`{name}`" for name in dict.fromkeys(value.missing))
    return (
        f"parameter `{parameter}` ({value.origin}) needs the environment variable {names}; "
        "set it, or put it into `.env` of the project folder"
    )
