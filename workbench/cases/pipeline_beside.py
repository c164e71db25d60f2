"""The pipeline that a saved run is of: named, or found by the run's name beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from workbench.pipeline.binding import Binding
from workbench.pipeline.model import Pipeline
from workbench.pipeline.parameters import ParameterSet
from workbench.pipeline.prepare import prepare
from workbench.pipeline.problems import PipelineError
from workbench.pipeline.project import project_folder, shipped_folder
from workbench.pipeline.reader import read_pipeline
from workbench.pipeline.secrets import secrets_of_environment

_NAME = re.compile(r"memory_(?P<benchmark_and_stem>.+)_\d{8}_\d{6}(?:_\d+)?")


class KnownPipeline(Struct, frozen=True):
    """A pipeline as far as it can be read; ``trouble`` says why not all of it: then no step may be bound."""

    pipeline: Pipeline
    project: Path
    bindings: Mapping[str, Binding] = field(default_factory=dict)
    parameters: ParameterSet = field(default_factory=ParameterSet)
    secrets: frozenset[str] = frozenset()
    trouble: str | None = None


def known_pipeline(
    file: Path, *, param_file: str | None = None, sets: Sequence[str] = (), mcp_config: str | None = None
) -> KnownPipeline:
    """The pipeline with its bindings. Raises ``PipelineError``, where not even its steps can be read."""
    secrets = frozenset(secrets_of_environment())
    try:
        prepared = prepare(file, param_file=param_file, sets=sets, mcp_config=mcp_config, checks=False)
    except PipelineError as error:
        pipeline = read_pipeline(file).pipeline
        if not pipeline.steps:
            raise
        reason = f"{error.problems[0]}; what its steps read is guessed"
        return KnownPipeline(pipeline, project_folder(file), secrets=secrets, trouble=reason)
    return KnownPipeline(
        prepared.pipeline,
        prepared.project,
        prepared.checked.bindings,
        prepared.parameters,
        prepared.secrets,
    )


def pipeline_beside(run: Path) -> Path | None:
    """The pipeline file whose name is in that of a memory file, in the folders around it, else one that ragwb ships."""
    found = _NAME.fullmatch(run.stem)
    if found is None:
        return None
    parts = found["benchmark_and_stem"].split("_")
    # `memory_<benchmark>_<stem>`, and both may hold `_`: the longest name that there is a file of.
    for begin in range(len(parts)):
        stem = "_".join(parts[begin:])
        for folder in _folders(run):
            for suffix in (".yaml", ".yml"):
                file = folder / f"{stem}{suffix}"
                if stem and file.is_file():
                    return file
    return None


def _folders(run: Path) -> Iterator[Path]:
    here = run.resolve().parent
    for folder in dict.fromkeys((here, here.parent, Path.cwd())):
        yield folder
        yield folder / "pipelines"
        yield folder / "examples"
    yield shipped_folder() / "pipelines"
