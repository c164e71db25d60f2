"""Everything about a pipeline that can be known before a server is started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.pipeline.checks import Checked, check
from workbench.pipeline.config import Configuration, load_config
from workbench.pipeline.declaration import ServerDeclaration
from workbench.pipeline.description import completed
from workbench.pipeline.environment import Environment
from workbench.pipeline.implied import with_memory_saved
from workbench.pipeline.mcp_config import read_mcp_config
from workbench.pipeline.model import Pipeline
from workbench.pipeline.parameters import ParameterSet, load_parameters
from workbench.pipeline.problems import PipelineError, Problem, in_order
from workbench.pipeline.project import ServerNotFound, ServerSource, project_folder
from workbench.pipeline.reader import read_pipeline
from workbench.pipeline.secrets import secrets_of_environment
from workbench.pipeline.server_entries import source_of_entry
from workbench.pipeline.static_source import read_declaration


class Asked(Struct, frozen=True):
    """With what a pipeline was prepared, besides its file."""

    param_file: str | None
    sets: tuple[str, ...]
    mcp_config: str | None


class Prepared(Struct, frozen=True):
    """A pipeline with its project folder, servers, parameters, and bindings as far as they are known."""

    pipeline: Pipeline
    project: Path
    sources: Mapping[str, ServerSource]
    parameters: ParameterSet
    declarations: Mapping[str, ServerDeclaration]
    checked: Checked
    warnings: tuple[Problem, ...] = ()
    config: Configuration = field(default_factory=Configuration)
    asked: Asked | None = None

    def again(self) -> Prepared:
        """The same pipeline, as its files are now. Raises ``PipelineError``."""
        assert self.asked is not None
        return prepare(
            self.pipeline.file,
            param_file=self.asked.param_file,
            sets=self.asked.sets,
            mcp_config=self.asked.mcp_config,
        )

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The servers, in order of use, of which a step is not checked before they run."""
        return tuple(dict.fromkeys(step.alias for step in self.checked.passed_over))

    @property
    def secrets(self) -> frozenset[str]:
        """What must be shown nowhere, beside secret parameters: tokens of servers, secrets of the environment."""
        return frozenset(secrets_of_environment()).union(*(source.secrets for source in self.sources.values()))

    def used_sources(self) -> dict[str, ServerSource]:
        """The servers that some step uses: only these are started."""
        return {alias: self.sources[alias] for alias in self.pipeline.used_aliases()}

    def checked_with(self, live: Mapping[str, ServerDeclaration]) -> Checked:
        """The check anew, with what running servers say in the place of what their files say."""
        problems: list[Problem] = []
        declared = {alias: self._live(declaration, problems) for alias, declaration in live.items()}
        checked = check(self.pipeline, {**self.declarations, **declared}, self.parameters, self.sources)
        return replace(checked, problems=(*problems, *checked.problems))

    def _live(self, declaration: ServerDeclaration, problems: list[Problem]) -> ServerDeclaration:
        source = self.sources.get(declaration.alias)
        live, found = completed(declaration, source.description_file if source is not None else None)
        problems += found
        return live


def prepare(
    file: Path,
    *,
    param_file: str | None = None,
    sets: Iterable[str] = (),
    mcp_config: str | None = None,
    checks: bool = True,
) -> Prepared:
    """Read a pipeline and all that belongs to it, without starting anything.

    ``mcp_config`` is an MCP client's configuration, whose servers stand in for those the pipeline has no source of.
    Raises ``PipelineError`` with every mistake found (with ``checks=False``: only those of the files themselves).
    """
    sets = tuple(sets)
    project = project_folder(file)
    reading = read_pipeline(file, read_mcp_config(Path(mcp_config), project) if mcp_config is not None else {})
    pipeline, problems = reading.pipeline, list(reading.problems)
    config, found = load_config(project, pipeline.servers)
    problems += found
    sources = _sources(pipeline, project, config, problems)
    parameters, found = load_parameters(pipeline, sources, project=project, param_file=param_file, sets=sets)
    problems += found
    declarations = _declarations(sources, problems)
    checked = check(pipeline, declarations, parameters, sources, reading.unread)
    pipeline = with_memory_saved(pipeline, checked, declarations, parameters)
    if pipeline is not reading.pipeline:
        checked = check(pipeline, declarations, parameters, sources, reading.unread)
    if checks:
        problems += checked.problems
    if any(not problem.is_warning for problem in problems):
        raise PipelineError(problems)
    return Prepared(
        pipeline,
        project,
        sources,
        parameters,
        declarations,
        checked,
        in_order(problems),
        config,
        Asked(param_file, tuple(sets), mcp_config),
    )


def _declarations(sources: Mapping[str, ServerSource], problems: list[Problem]) -> dict[str, ServerDeclaration]:
    declarations = {}
    for alias, source in sources.items():
        declaration, found = read_declaration(source)
        problems += found
        if declaration is not None:
            declarations[alias] = declaration
    return declarations


def _sources(
    pipeline: Pipeline, project: Path, config: Configuration, problems: list[Problem]
) -> dict[str, ServerSource]:
    used = pipeline.used_aliases()
    all_read = "" not in used  # a step that can't be read may be one of any server
    environment = Environment(project)
    sources = {}
    for alias, entry in pipeline.servers.items():
        try:
            source = source_of_entry(alias, entry.value, project, environment)
            sources[alias] = replace(source, python=config.python(alias), passed_env=config.passed_env(alias))
            problems += config.useless_python(sources[alias])
        except ServerNotFound as error:
            use = f" (no step uses `{alias}`: the line may be taken out)" if all_read and alias not in used else ""
            place = entry.places.get(error.key, entry.position)
            problems.append(Problem(entry.file or pipeline.file, place, f"{error}{use}"))
    return sources
