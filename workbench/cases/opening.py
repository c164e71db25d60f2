"""Opens saved runs of every kind: memory files, JSON Lines, session files, folders of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from workbench.cases.large_file import LARGE, LargeFile
from workbench.cases.matching import with_places
from workbench.cases.memory_json import read_runs
from workbench.cases.pipeline_beside import KnownPipeline, known_pipeline, pipeline_beside
from workbench.cases.saved_run import RunUnreadable, SavedRun, counted
from workbench.cases.session_run import pipeline_of_session, read_session_runs
from workbench.pipeline.parameters import ParameterSet
from workbench.pipeline.problems import PipelineError
from workbench.pipeline.secrets import secrets_of_environment
from workbench.record.redaction import Redactor
from workbench.record.session_schema import is_session

_KINDS = ("memory_*.json", "*.jsonl", "*.ragwb")
_INNER = ("output", "sessions")


class OpenedRun(Struct, frozen=True):
    """A run, and the pipeline that it is of, where that is known; ``notes`` are what must be said of both."""

    run: SavedRun
    pipeline: KnownPipeline | None = None
    notes: tuple[str, ...] = ()

    def redactor(self) -> Redactor:
        """Masks what is secret in the run's pipeline, and in the environment."""
        known = self.pipeline
        if known is None:
            return Redactor(frozenset(secrets_of_environment()))
        return Redactor.of(known.parameters, known.secrets)


def open_runs(file: Path, pipeline: Path | None = None) -> list[OpenedRun]:
    """All runs in a file, of a session the timeline it stopped in first; or of a folder, the newest file first.

    ``pipeline`` is the file the runs are of; without, it is found by its name. Large files are indexed to their end.
    Raises ``RunUnreadable``, and ``PipelineError`` where the named pipeline can't be read.
    """
    try:
        return _opened(file, pipeline)
    except RecursionError:
        raise RunUnreadable(f"{file}: nested too deeply to be read") from None


def _opened(file: Path, pipeline: Path | None) -> list[OpenedRun]:
    if not file.exists():
        raise RunUnreadable(f"{file}: no such file")
    if file.is_dir():
        return list(_of_folder(file, pipeline))
    if is_session(file):
        return _of_session(file, pipeline)
    known, notes = the_pipeline(file, pipeline)
    if file.stat().st_size >= LARGE:
        large = LargeFile(file)
        large.index()
        runs = large.runs()
        if not runs:
            raise RunUnreadable(f"{file}: {large.trouble or 'no saved run in it'}")
    else:
        runs = _read(file)
    runs = [placed(run, known) for run in runs]
    return [OpenedRun(run, known, described(run, notes)) for run in runs]


def _read(file: Path) -> list[SavedRun]:
    """The runs of a small file; of one that is cut short those up to the cut. Raises ``RunUnreadable``."""
    try:
        return read_runs(file)
    except RunUnreadable as error:
        try:
            large = LargeFile(file)
        except RunUnreadable:
            raise error from None
        large.index()
        runs = large.runs()
        if not (large.is_cut_short and runs):
            raise
        return runs


def the_pipeline(file: Path, named: Path | None) -> tuple[KnownPipeline | None, tuple[str, ...]]:
    """The pipeline that a memory file is of, and what is to be said of it.

    Raises ``PipelineError`` where it was named, and can't be read.
    """
    return _known(named or pipeline_beside(file), is_named=named is not None)


def placed(run: SavedRun, known: KnownPipeline | None) -> SavedRun:
    """A run of a memory file with what its pipeline tells of it: the items, and the places of its visits."""
    if known is None:
        return run
    counted_by, count = counted(run.visits, known.pipeline.items)
    outputs = (output for binding in known.bindings.values() for output in binding.outputs)
    whole = known.pipeline.whole | {output.target for output in outputs if output.is_whole}
    run = replace(run, counted_by=counted_by, count=count, whole=whole)
    return with_places(run, known.pipeline, known.bindings)


def _of_folder(folder: Path, pipeline: Path | None) -> Iterator[OpenedRun]:
    """Every file in it that is a run; those that can't be read are left out, if there are others."""
    places = (folder, *(folder / inner for inner in _INNER))
    files = {file for place in places for kind in _KINDS for file in place.glob(kind)}
    troubles = []
    found = False
    for file in sorted(files, key=lambda path: (-path.stat().st_mtime, str(path))):
        try:
            opened = open_runs(file, pipeline)
        except RunUnreadable as error:
            troubles.append(str(error))
            continue
        found = True
        yield from opened
    if not found:
        reason = f": {troubles[0]}" if troubles else f" ({', '.join(_KINDS)}; also in {' and '.join(_INNER)})"
        raise RunUnreadable(f"{folder}: no saved run in this folder{reason}")


def _of_session(file: Path, pipeline: Path | None) -> list[OpenedRun]:
    its, options = pipeline_of_session(file)
    known, notes = _known(pipeline or its, is_named=pipeline is not None, **options)
    if known is None:
        runs = read_session_runs(file, {}, ParameterSet())
    else:
        runs = read_session_runs(file, known.bindings, known.parameters, known.secrets)
    return [OpenedRun(run, known, described(run, notes)) for run in runs]


def _known(
    pipeline: Path | None,
    *,
    is_named: bool,
    param: str | None = None,
    sets: tuple[str, ...] = (),
    mcp_config: str | None = None,
) -> tuple[KnownPipeline | None, tuple[str, ...]]:
    """The pipeline, and what is to be said of it. Raises ``PipelineError`` where it was named."""
    if pipeline is None:
        return None, ("no pipeline of this name lies beside it: rounds and branches are not known (--pipeline FILE)",)
    try:
        known = known_pipeline(pipeline, param_file=param, sets=sets, mcp_config=mcp_config)
    except PipelineError as error:
        if is_named:
            raise
        return None, (f"its pipeline can't be read: {error.problems[0]}",)
    return known, (known.trouble,) if known.trouble is not None else ()


def described(run: SavedRun, notes: tuple[str, ...]) -> tuple[str, ...]:
    """What is to be said of a run: what its file does not hold, and what is wrong with it."""
    told = [run.trouble] if run.trouble is not None else []
    if run.failed is not None:
        told.append(f"the run ended when a step failed: {run.failed}")
    if run.not_held:
        told.append(f"a memory file does not hold {run.not_held}")
    strangers = dict.fromkeys(visit.step for visit in run.visits if not visit.places)
    if strangers and len(strangers) < len({visit.step for visit in run.visits}):
        told.append(f"no step of the pipeline: {', '.join(strangers)}")
    return (*told, *notes)
