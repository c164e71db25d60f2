"""Runs the faults with real servers, and asks what is said of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.cases.faults.planted import FAULTS, SERVERS, Fault, Planting, planting
from tests.support import Session
from workbench.cases.memory_json import read_runs
from workbench.cases.opening import OpenedRun, open_runs
from workbench.cases.study import Study
from workbench.cases.why import verdicts
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import prepare

WAYS = ("session", "memory file and pipeline", "memory file alone")


@dataclass(frozen=True)
class Named:
    """What was said of one fault, from one kind of file.

    ``affected`` are the items that it made wrong. ``said`` counts (stage, step) among them.
    """

    fault: Fault
    way: str
    affected: tuple[int, ...]
    said: Counter[tuple[str, str | None]]

    @property
    def right(self) -> int:
        """How many of the affected items have the right verdict; without a pipeline the stage is all there is."""
        return sum(
            count
            for (stage, step), count in self.said.items()
            if stage == self.fault.stage and (step == self.fault.step or self.way == WAYS[2])
        )

    @property
    def is_right(self) -> bool:
        """Whether the fault is what most of its items are said to suffer from."""
        return bool(self.affected) and self.right * 2 > len(self.affected)


@asynccontextmanager
async def servers(folder: Path) -> AsyncIterator[ServerHub]:
    """The servers of all faults, started once."""
    prepared = prepare(_written(planting("plain", folder), "all", [f"{alias}.x" for alias in SERVERS]), checks=False)
    sources = prepared.used_sources()
    hub = ServerHub(sources, lambda event: None, env={"RAGWB_OUTPUT": str(folder)})
    hub.start(sources)
    try:
        yield hub
    finally:
        await hub.close()


async def run_all(folder: Path, hub: ServerHub, faults: Sequence[Fault] = FAULTS) -> list[Named]:
    """Every fault, as it is named from each kind of file."""
    well = {base: await _right(folder, hub, base) for base in ("plain", "looped")}
    found: list[Named] = []
    for number, fault in enumerate(faults):
        place = folder / f"fault{number}"
        place.mkdir()
        planted = planting(fault.base, place)
        fault.plant(planted)
        session, pipeline = await _run(planted, hub, f"fault{number}")
        for change in planted.after:
            change()
        memory = Path(session.debugger.state.memory or "")
        files: tuple[tuple[Path, Path | None], ...] = ((session.file, pipeline), (memory, pipeline), (memory, None))
        for way, (file, its) in zip(WAYS, files, strict=True):
            found.append(_named(fault, way, well[fault.base], _opened(file, its)))
    return found


def _opened(file: Path, pipeline: Path | None) -> OpenedRun:
    return open_runs(file, pipeline)[0] if pipeline is not None else OpenedRun(read_runs(file)[0])


def _named(fault: Fault, way: str, well: frozenset[int], opened: OpenedRun) -> Named:
    study = Study(opened)
    judged = {verdict.item: verdict for verdict in verdicts(study)}
    affected = tuple(item for item in judged if item in well)
    said = Counter((judged[item].stage, judged[item].step) for item in affected)
    return Named(fault, way, affected, said)


async def _right(folder: Path, hub: ServerHub, base: str) -> frozenset[int]:
    """The items that are right when nothing is planted."""
    place = folder / f"well-{base}"
    place.mkdir()
    session, pipeline = await _run(planting(base, place), hub, f"well_{base}")
    study = Study(open_runs(session.file, pipeline)[0])
    return frozenset(row.item for row in study.rows if row.is_right)


async def _run(planted: Planting, hub: ServerHub, name: str) -> tuple[Session, Path]:
    pipeline = _written(planted, name, planted.steps)
    session = Session(prepare(pipeline), hub, planted.folder, keeps=True)
    debugger = await session.open()
    stopped = await debugger.run("continue")
    await debugger.close()
    assert stopped.reason == "finished", f"{name}: {stopped.why}"
    return session, pipeline


def _written(planted: Planting, name: str, steps: Sequence[object]) -> Path:
    text = yaml.safe_dump({"pipeline": list(steps)}, sort_keys=False)
    used = {alias: place for alias, place in SERVERS.items() if f"{alias}." in text}
    pipeline = planted.folder / f"{name}.yaml"
    pipeline.write_text(yaml.safe_dump({"servers": used}) + text, encoding="utf-8")
    parameters = {alias: section for alias, section in planted.parameters.items() if alias in used}
    file = planted.folder / "parameter" / f"{name}_parameter.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump(parameters, allow_unicode=True), encoding="utf-8")
    return pipeline
