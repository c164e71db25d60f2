"""Notices when the files of a pipeline are saved, and tells what is different then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.pipeline.fingerprint import differences, fingerprints, source_files
from workbench.pipeline.outline import OutlineStep, every_step, matched, outline_of
from workbench.pipeline.prepare import Prepared

_TEMPLATES = (".jinja", ".jinja2", ".j2")
Stamp = tuple[int, int, int]
"""Of a file: when it was changed (ns), its size, its number. Looking at these costs nothing, also over a network."""


@dataclass(frozen=True)
class Saved:
    """What saving did to a pipeline that is open.

    ``added``, ``removed`` and ``changed`` are steps (the latter as they are now); ``parameters`` are ``server.name``;
    ``servers`` have other code; ``templates`` are read anew at their next use anyway.
    """

    prepared: Prepared
    added: tuple[OutlineStep, ...] = ()
    removed: tuple[OutlineStep, ...] = ()
    changed: tuple[OutlineStep, ...] = ()
    parameters: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    templates: tuple[Path, ...] = ()

    @property
    def is_more_than_text(self) -> bool:
        """Whether anything is different but comments, blanks and templates."""
        return bool(self.added or self.removed or self.changed or self.parameters or self.servers)


class PipelineWatch:
    """Looks after the files that a pipeline was read from. Its methods may take a while: not for a screen's thread."""

    def __init__(self, prepared: Prepared) -> None:
        self.follow(prepared)

    def follow(self, prepared: Prepared) -> None:
        """From here on this is how things are."""
        self._prepared = prepared
        self._prints = fingerprints(prepared)
        self._stamps = _stamps(prepared)
        self._unread: set[Path] = set()

    def changed(self) -> tuple[Path, ...]:
        """The files that were saved, made or removed since the pipeline was read."""
        now = _stamps(self._prepared)
        self._unread |= {file for file in now.keys() | self._stamps.keys() if now.get(file) != self._stamps.get(file)}
        self._stamps = now
        return tuple(sorted(self._unread))

    def read(self) -> Saved:
        """The pipeline as its files are now, and what is different. Raises ``PipelineError``."""
        prepared = self._prepared.again()
        before, now = outline_of(self._prepared.pipeline), outline_of(prepared.pipeline)
        found = matched(before, now)
        old, new = ({step.path: step for step in every_step(outline)} for outline in (before, now))
        kept = set(found.values())
        other = differences(self._prints, fingerprints(prepared))
        return Saved(
            prepared,
            added=tuple(step for path, step in new.items() if path not in kept),
            removed=tuple(step for path, step in old.items() if path not in found),
            changed=tuple(new[there] for here, there in found.items() if old[here].detail != new[there].detail),
            parameters=tuple(_other_parameters(self._prepared, prepared)),
            servers=tuple(name.removeprefix("server ") for name in other if name.startswith("server ")),
            templates=tuple(file for file in sorted(self._unread) if file.suffix in _TEMPLATES),
        )


def _other_parameters(before: Prepared, now: Prepared) -> Iterator[str]:
    for alias in now.pipeline.used_aliases():
        old = before.parameters.of(alias)
        for name, parameter in now.parameters.of(alias).items():
            if name not in old or old[name].value != parameter.value:
                yield f"{alias}.{name}"


def _stamps(prepared: Prepared) -> Mapping[Path, Stamp]:
    return {file: stamp for file in _files(prepared) if (stamp := _stamp(file)) is not None}


def _stamp(file: Path) -> Stamp | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _files(prepared: Prepared) -> Iterator[Path]:
    """The pipeline, its parameters and configuration, its servers' code, and the templates that parameters name."""
    yield prepared.pipeline.file
    if prepared.parameters.file is not None:
        yield prepared.parameters.file
    yield prepared.project / ".ragwb.yaml"
    for alias, source in prepared.used_sources().items():
        if source.origin != "ragwb":
            yield from source_files(source)
        yield from (file for file in (source.parameter_file, source.description_file) if file is not None)
        for parameter in prepared.parameters.of(alias).values():
            if isinstance(parameter.value, str) and parameter.value.endswith(_TEMPLATES):
                yield (prepared.project / parameter.value).resolve()
