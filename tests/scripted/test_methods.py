"""Every pipeline of the literature, run with the scripted model through real servers.

A further pipeline is an entry in ``methods.py``, and a function in ``model.py`` for each template that is new.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.scripted.endpoint import ScriptedModel
from tests.scripted.in_the_workbench import Ear, run_in_the_workbench
from tests.scripted.knowledge import ROOT
from tests.scripted.methods import METHODS, Method
from tests.scripted.model import BAD_MOODS, Mood
from tests.scripted.techniques import TECHNIQUES
from tests.support import Session
from workbench.cases.item_check import check_items
from workbench.cases.opening import open_runs
from workbench.cases.paths import item_paths
from workbench.cases.saved_run import SavedVisit
from workbench.cases.study import Study
from workbench.engine.debugger import Debugger
from workbench.engine.values import UNSET
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import Prepared, prepare
from workbench.pipeline.reader import read_pipeline

PIPELINES = ROOT / "pipelines"
ALL: dict[str, Method] = {**METHODS, **TECHNIQUES}
SIZES = ((160, 45), (80, 24))
"""Of the screen, by turns: all panes are seen at once, or one."""


@pytest.fixture(scope="session")
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as running:
        yield running


@pytest.fixture(scope="session")
def ear() -> Ear:
    return Ear()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def servers(model: ScriptedModel, ear: Ear, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServerHub]:
    """The servers of all these pipelines, started once."""
    prepared = [prepare(PIPELINES / f"{name}.yaml") for name in ALL]
    sources = {alias: source for one in prepared for alias, source in one.used_sources().items()}
    output = tmp_path_factory.mktemp("scripted")
    model.pictures = output / "output/guide/image/harbour_guide"
    hub = ServerHub(sources, ear, env={"RAGWB_OUTPUT": str(output)})
    yield hub
    await hub.close()


async def ready(name: str, model: ScriptedModel, servers: ServerHub, folder: Path) -> Prepared:
    """A pipeline that asks the scripted model, once the one that it needs the output of has run."""
    before = ALL[name].before
    if before and before not in model.made:
        model.begin()
        await run(await ready(before, model, servers, folder), servers, folder)
        model.made.add(before)
    file = PIPELINES / f"{name}.yaml"
    sets = model.sets(read_pipeline(file).pipeline.servers)
    return prepare(file, sets=[*sets, *ALL[name].sets])


async def run(prepared: Prepared, servers: ServerHub, folder: Path) -> Debugger:
    """One run to its end."""
    debugger = await Session(prepared, servers, folder).open()
    stopped = await debugger.run("continue")
    await debugger.close()
    assert stopped.reason == "finished", stopped.why
    return debugger


def study_of(debugger: Debugger) -> Study:
    [opened] = open_runs(Path(debugger.state.memory or ""))
    return Study(opened)


def prompts_of_several(study: Study) -> list[SavedVisit]:
    """The visits that made prompts for more than one item."""
    visits = [visit for visit in study.run.visits if study.flow.kind(visit) == "prompt"]
    return [visit for visit in visits if len(study.flow.items_of(visit) or ()) > 1]


def with_moved_prompts(study: Study, visit: SavedVisit, file: Path) -> Study:
    """The run as it would be if each item of one visit had been given the prompt of the one before it."""
    memory: Any = json.loads(file.read_text(encoding="utf-8"))
    items = sorted(study.flow.items_of(visit) or ())
    for name, value in visit.saved.items():
        written = list(value)
        for item, before in zip(items, [items[-1], *items[:-1]], strict=True):
            written[item] = value[before]
        memory[visit.number - 1]["memory"][f"memory_{name}"] = written
    moved = file.parent / "moved" / file.name
    moved.parent.mkdir(exist_ok=True)
    moved.write_text(json.dumps(memory), encoding="utf-8")
    [opened] = open_runs(moved, study.opened.pipeline.pipeline.file if study.opened.pipeline else None)
    return Study(opened)


def unanswered(debugger: Debugger, variable: str | None) -> list[int]:
    """Items that have no answer, and are not marked as failed either."""
    pool = debugger.state.pool
    if variable is None:
        return []
    answers: Any = pool.variables[variable].value
    assert len(answers) == pool.count
    return [item for item, answer in enumerate(answers) if answer in (None, UNSET) and item not in pool.failed]


@pytest.mark.parametrize("name", ALL)
async def test_a_good_model_seen_in_the_workbench(
    name: str, model: ScriptedModel, servers: ServerHub, ear: Ear, tmp_path: Path
) -> None:
    method = ALL[name]
    prepared = await ready(name, model, servers, tmp_path)
    model.begin()
    size = SIZES[list(ALL).index(name) % len(SIZES)]
    debugger = await run_in_the_workbench(prepared, servers, ear, tmp_path, size)
    assert model.strange == []
    study = study_of(debugger)
    found = check_items(study)
    assert found.faults == ()
    assert model.count == method.calls
    assert found.prompts == (method.calls if method.prompts is None else method.prompts)
    assert unanswered(debugger, method.answer) == []
    for visit in prompts_of_several(study)[::-1][:1] + prompts_of_several(study)[:1]:
        moved = with_moved_prompts(study, visit, Path(debugger.state.memory or ""))
        assert visit.number in {fault.visit.number for fault in check_items(moved).faults}
    if method.rounds:
        assert tuple(path.rounds for path in item_paths(study.flow)) == method.rounds
    if method.right is not None:
        wrong = [row.question for row in study.rows if row.scores["acc"] != 1]
        assert len(study.rows) - len(wrong) == method.right, wrong


@pytest.mark.parametrize("mood", BAD_MOODS)
@pytest.mark.parametrize("name", [name for name, method in ALL.items() if method.calls])
async def test_a_model_in_a_bad_mood(
    name: str, mood: Mood, model: ScriptedModel, servers: ServerHub, tmp_path: Path
) -> None:
    method = ALL[name]
    prepared = await ready(name, model, servers, tmp_path)
    model.begin(mood)
    model.made.discard(name)  # what it leaves is of no use to others
    debugger = await run(prepared, servers, tmp_path)
    assert model.strange == []
    assert unanswered(debugger, method.answer) == []
    assert model.count <= method.most
    if mood == "never":
        assert model.count == method.most
    assert check_items(study_of(debugger)).faults == ()
