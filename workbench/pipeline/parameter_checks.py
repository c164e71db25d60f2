"""Finds misspelt parameters: what files and ``--set`` add, and neither the server's file nor any tool or step knows."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.pipeline.binding import names_of
from workbench.pipeline.declaration import ServerDeclaration
from workbench.pipeline.model import FromParameter, Pipeline
from workbench.pipeline.parameters import AddedParameter, ParameterSet
from workbench.pipeline.problems import Problem, nearest


def check_parameters(
    pipeline: Pipeline, declarations: Mapping[str, ServerDeclaration], parameters: ParameterSet
) -> list[Problem]:
    """An error for each unknown ``--set``; only a warning for a file, since pipelines share files.

    A server that is not known to have told all its tools may have one that takes the parameter.
    """
    problems = []
    for added in parameters.added:
        declaration = declarations.get(added.alias)
        if declaration is None or not declaration.complete or added.alias in parameters.unread:
            continue
        known = _own(added.alias, parameters) | _taken(declaration) | _read(pipeline, added.alias)
        if added.option:
            known |= {other.name for other in parameters.added if other.alias == added.alias and not other.option}
        if added.name not in known:
            problems.append(_problem(added, known))
    return problems


def _problem(added: AddedParameter, known: set[str]) -> Problem:
    start = f"{added.option}: " if added.option else ""
    message = f"{start}nothing of server `{added.alias}` takes a parameter `{added.name}`"
    message += nearest(added.name, known, noun="known parameters")
    return Problem(added.file, added.position, message, is_warning=not added.option)


def _own(alias: str, parameters: ParameterSet) -> set[str]:
    """The parameters of the server's own file."""
    return set(parameters.of(alias)) - {added.name for added in parameters.added if added.alias == alias}


def _taken(declaration: ServerDeclaration) -> set[str]:
    return {name for tool in declaration.tools.values() for name in names_of(tool)}


def _read(pipeline: Pipeline, alias: str) -> set[str]:
    """What steps read or write as ``$name``."""
    names: set[str] = set()
    for step in pipeline.tool_steps():
        if step.alias == alias:
            names.update(source.name for source in step.inputs.values() if isinstance(source, FromParameter))
            names.update(target[1:] for target in step.outputs.values() if target.startswith("$"))
    return names
