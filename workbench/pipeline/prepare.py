"""Everything about a pipeline that can be known before a server is started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.pipeline.checks import Checked, check
from workbench.pipeline.declaration import ServerDeclaration
from workbench.pipeline.model import Pipeline
from workbench.pipeline.parameters import ParameterSet, load_parameters
from workbench.pipeline.problems import PipelineError, Problem
from workbench.pipeline.project import ServerNotFound, ServerSource, find_server, project_folder
from workbench.pipeline.reader import read_pipeline
from workbench.pipeline.static_source import described, overlaid, read_declaration


@dataclass(frozen=True)
class Prepared:
    """A pipeline with its project folder, servers, parameters, and bindings as far as they are known."""

    pipeline: Pipeline
    project: Path
    sources: Mapping[str, ServerSource]
    parameters: ParameterSet
    declarations: Mapping[str, ServerDeclaration]
    checked: Checked

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.checked.problems if p.is_warning)

    def used_sources(self) -> dict[str, ServerSource]:
        """The servers that some step uses: only these are started."""
        return {alias: self.sources[alias] for alias in self.pipeline.used_aliases()}

    def checked_with(self, live: Mapping[str, ServerDeclaration]) -> Checked:
        """The check anew, with what running servers say in the place of what their files say."""
        declared = {alias: self._live(declaration) for alias, declaration in live.items()}
        return check(self.pipeline, {**self.declarations, **declared}, self.parameters, self.sources)

    def _live(self, declaration: ServerDeclaration) -> ServerDeclaration:
        """A server without a `build` tool may be described by a ``server.yaml`` beside it."""
        source = self.sources.get(declaration.alias)
        if source is None or source.description_file is None or "build" in declaration.tools:
            return declaration
        descriptions = described(source.description_file)
        known = {name: tool for name, tool in descriptions.items() if name in declaration.tools}
        tools = overlaid(dict(declaration.tools), known)
        return ServerDeclaration(declaration.alias, tools, declaration.complete, declaration.origin)


def prepare(file: Path, *, param_file: str | None = None, sets: Iterable[str] = (), checks: bool = True) -> Prepared:
    """Read a pipeline and all that belongs to it, without starting anything.

    Raises ``PipelineError`` with every mistake found (with ``checks=False``: only those of the files themselves).
    """
    pipeline = read_pipeline(file)
    project = project_folder(file)
    problems: list[Problem] = []
    sources = _sources(pipeline, project, problems)
    parameters, found = load_parameters(file, sources, project=project, param_file=param_file, sets=sets)
    problems += found
    declarations = {
        alias: declaration for alias, source in sources.items() if (declaration := read_declaration(source)) is not None
    }
    checked = check(pipeline, declarations, parameters, sources)
    found = [*problems, *(checked.problems if checks else ())]
    if any(not problem.is_warning for problem in found):
        raise PipelineError(found)
    return Prepared(pipeline, project, sources, parameters, declarations, checked)


def _sources(pipeline: Pipeline, project: Path, problems: list[Problem]) -> dict[str, ServerSource]:
    used = pipeline.used_aliases()
    sources = {}
    for alias, entry in pipeline.servers.items():
        try:
            sources[alias] = find_server(alias, entry.value, project)
        except ServerNotFound as error:
            use = "" if alias in used else f" (no step uses `{alias}`: the line may be taken out)"
            problems.append(Problem(pipeline.file, entry.position, f"{error}{use}"))
    return sources
