"""Notices when the files of a pipeline are saved, and tells what is different then."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field

from workbench.pipeline.files import read_text
from workbench.pipeline.fingerprint import differences, fingerprints, source_files
from workbench.pipeline.outline import OutlineStep, every_step, matched, outline_of
from workbench.pipeline.prepare import Prepared
from workbench.pipeline.problems import PipelineError
from workbench.pipeline.project import ServerSource

_TEMPLATES = (".jinja", ".jinja2", ".j2")
Stamp = tuple[int, int, int]
"""Of a file: when it was changed (ns), its size, its number. Looking at these costs nothing, also over a network."""


_WAYS: tuple[tuple[str, Callable[[ServerSource], Any]], ...] = (
    ("file", lambda source: source.script),
    ("command", lambda source: source.command),
    ("interpreter", lambda source: source.python),
    ("folder", lambda source: source.cwd),
    ("environment", lambda source: (source.env, source.passed_env)),
    ("address", lambda source: (source.address.url, source.address.transport) if source.address else None),
    ("headers", lambda source: source.address.headers if source.address else {}),
)
"""What may be another at a server that is started or reached otherwise: its values may be secret, and are not shown."""


class Reading(Struct, frozen=True):
    """A pipeline as its files were read, with what tells whether they were saved since."""

    prepared: Prepared
    prints: Mapping[str, str]
    stamps: Mapping[Path, Stamp]


class Saved(Struct, frozen=True):
    """What saving did to a pipeline that is open.

    ``added``, ``removed`` and ``changed`` are steps (the latter as they are now); ``parameters`` are ``server.name``;
    ``servers`` have other code; ``otherwise`` are those that are new, or started or reached in another way, each with
    what is another; ``templates`` are read anew at their next use anyway.
    """

    reading: Reading
    added: tuple[OutlineStep, ...] = ()
    removed: tuple[OutlineStep, ...] = ()
    changed: tuple[OutlineStep, ...] = ()
    parameters: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    otherwise: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    templates: tuple[Path, ...] = ()

    @property
    def prepared(self) -> Prepared:
        return self.reading.prepared

    @property
    def is_more_than_text(self) -> bool:
        """Whether anything is different but comments, blanks and templates."""
        steps = self.added or self.removed or self.changed
        return bool(steps or self.parameters or self.servers or self.otherwise)


class PipelineWatch:
    """Looks after the files that a pipeline was read from.

    Its methods may take a while: they are for other threads than a screen's, and may be called on several at once.
    """

    def __init__(self, prepared: Prepared) -> None:
        stamps = _stamps(prepared)
        self._lock = threading.Lock()
        self._reading = Reading(prepared, fingerprints(prepared), stamps)
        self._stamps = stamps
        # It may have been saved since it was read: while the user was asked whether its programs may start.
        self._unread = frozenset() if _is_as_read(prepared) else frozenset({prepared.pipeline.file})

    def follow(self, saved: Saved) -> None:
        """From here on this is how things are. What was saved after it was read is noticed as any other."""
        with self._lock:
            self._reading = saved.reading
            self._stamps = saved.reading.stamps
            self._unread = frozenset()

    def changed(self) -> tuple[Path, ...]:
        """The files that were saved, made or removed since the pipeline was read."""
        with self._lock:
            now, before = _stamps(self._reading.prepared), self._stamps
            self._unread |= {file for file in now.keys() | before.keys() if now.get(file) != before.get(file)}
            self._stamps = now
            return tuple(sorted(self._unread))

    def read(self) -> Saved:
        """The pipeline as its files are now, and what is different. Raises ``PipelineError``."""
        reading, unread = self._reading, self._unread
        stamps = _stamps(reading.prepared)  # before it is read: what is saved meanwhile is noticed afterwards
        prepared = reading.prepared.again()
        files = set(_files(prepared))
        stamps = {file: stamp for file, stamp in {**_stamps(prepared), **stamps}.items() if file in files}
        prints = fingerprints(prepared)
        before, now = outline_of(reading.prepared.pipeline), outline_of(prepared.pipeline)
        found = matched(before, now)
        old, new = ({step.path: step for step in every_step(outline)} for outline in (before, now))
        kept = set(found.values())
        otherwise = _otherwise(reading.prepared, prepared)
        other = differences(reading.prints, prints)
        servers = (name.removeprefix("server ") for name in other if name.startswith("server "))
        return Saved(
            Reading(prepared, prints, stamps),
            added=tuple(step for path, step in new.items() if path not in kept),
            removed=tuple(step for path, step in old.items() if path not in found),
            changed=tuple(new[there] for here, there in found.items() if old[here].detail != new[there].detail),
            parameters=tuple(_other_parameters(reading.prepared, prepared)),
            servers=tuple(name for name in servers if name in prepared.used_sources() and name not in otherwise),
            otherwise=otherwise,
            templates=tuple(file for file in sorted(unread) if file.suffix in _TEMPLATES),
        )


def _is_as_read(prepared: Prepared) -> bool:
    try:
        return read_text(prepared.pipeline.file) == prepared.pipeline.text
    except PipelineError:
        return False


def _otherwise(before: Prepared, now: Prepared) -> dict[str, str]:
    """The servers that are new, or started or reached in another way, each with what is another."""
    found, old = {}, before.used_sources()
    for alias, source in now.used_sources().items():
        if alias not in old:
            found[alias] = "new"
        elif source != old[alias]:
            ways = [word for word, of in _WAYS if of(source) != of(old[alias])]
            found[alias] = f"other {', '.join(ways)}" if ways else "written in another way"
    return found


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
