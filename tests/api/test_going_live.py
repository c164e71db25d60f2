"""Going live from a saved run: what is rebuilt, what runs, what is answered from the file, and what is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import workbench
from tests.support import CONFORMANCE
from workbench.engine.debugger import Debugger

Runs = dict[str, tuple[Path, Path]]
PLAIN = """\
servers: {lab: servers/lab, prompt: servers/prompt}
pipeline:
- lab.get_items
- lab.note: {input: {note: $note}}
- lab.search
- prompt.ask
- lab.generate
"""
BRANCH = """\
servers: {lab: servers/lab}
pipeline:
- lab.get_items
- branch:
    router: [lab.route_length]
    branches: {short: [lab.extend], long: []}
- lab.search
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "servers").symlink_to(CONFORMANCE / "servers")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
async def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """Of both pipelines a session file and a memory file."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "servers").symlink_to(CONFORMANCE / "servers")
    return {text: await saved(folder, text, f"p{number}") for number, text in enumerate((PLAIN, BRANCH))}


async def saved(folder: Path, steps: str, name: str) -> tuple[Path, Path]:
    (folder / f"{name}.yaml").write_text(steps, encoding="utf-8")
    async with workbench.open(folder / f"{name}.yaml", folder=folder) as debugger:
        assert (await debugger.run("continue")).reason == "finished"
        assert debugger.file is not None
        session, memory = debugger.file, debugger.state.memory
    assert memory is not None
    return session, Path(memory)


def provenance(debugger: Debugger) -> list[str]:
    return [visit.provenance for visit in debugger.visits]


@pytest.mark.parametrize("kind", [0, 1], ids=["session", "memory file"])
async def test_what_comes_before_is_rebuilt_and_what_follows_runs(runs: Runs, project: Path, kind: int) -> None:
    files = runs[PLAIN]
    before = [file.read_bytes() for file in files]
    async with workbench.replay(files[kind], 4) as debugger:
        assert debugger.state.stop is not None
        assert "live from here: before visit 4" in debugger.state.stop.why
        assert provenance(debugger) == ["recorded"] * 3
        assert (await debugger.run("continue")).reason == "finished"
        assert provenance(debugger) == ["recorded"] * 3 + ["ran"] * 2
        assert debugger.file not in files
        now = debugger.state.memory
    assert [file.read_bytes() for file in files] == before
    assert now is not None
    assert json.loads(Path(now).read_text()) == json.loads(files[1].read_text())


@pytest.mark.parametrize("kind", [0, 1], ids=["session", "memory file"])
async def test_models_are_paid_for_once(runs: Runs, project: Path, kind: int) -> None:
    files = runs[PLAIN]
    async with workbench.replay(files[kind], 3, by_step={"5": "recorded if equal"}) as debugger:
        assert (await debugger.run("continue")).reason == "finished"
        assert provenance(debugger) == ["recorded", "recorded", "ran", "ran", "recorded"]
    async with workbench.replay(files[kind], 3, answers="recorded if equal") as debugger:
        value = debugger.state.pool.variables["q_ls"].value
        debugger.edit_variable("q_ls", ["grape", *value[1:]])
        assert (await debugger.run("continue")).reason == "finished"
        assert provenance(debugger)[2:] == ["ran", "ran", "ran"], "their inputs are others"
        assert debugger.state.pool.variables["ans_ls"].value[0] == "A(grape)"


async def test_decisions_are_in_a_session_and_asked_for_of_a_memory_file(runs: Runs, project: Path) -> None:
    session, memory = runs[BRANCH]
    async with workbench.replay(session, 4) as debugger:
        assert provenance(debugger) == ["recorded"] * 3
    async with workbench.replay(memory, 4) as debugger:
        assert debugger.state.stop is not None
        why = debugger.state.stop.why
        assert "lab.route_length decided, and it is not marked as pure" in why
        assert "by what its branches wrote: short [0]" in why
        stopped = await debugger.run("over")
        assert "decided" in stopped.why
        debugger.edit_state(0, "long")
        stopped = await debugger.run("continue")
        assert "no visit" not in stopped.why
        assert "live from here" in stopped.why, "no item takes the branch that was recorded: it is passed over"


async def test_a_pure_router_is_asked_again(project: Path) -> None:
    (project / "servers").unlink()
    code = (CONFORMANCE / "servers" / "lab" / "src" / "lab.py").read_text(encoding="utf-8")
    head, tail = code.split("def route_length", 1)
    head = head.removesuffix('@app.tool(output="q_ls->q_ls")\n') + '@app.tool(output="q_ls->q_ls", pure=True)\n'
    for file, text in (("src/lab.py", f"{head}def route_length{tail}"), ("parameter.yaml", "")):
        place = project / "servers" / "lab" / file
        place.parent.mkdir(parents=True, exist_ok=True)
        parameters = (CONFORMANCE / "servers" / "lab" / "parameter.yaml").read_text(encoding="utf-8")
        place.write_text(text or parameters, encoding="utf-8")
    _, memory = await saved(project, BRANCH, "p")
    async with workbench.replay(memory, 4) as debugger:
        assert debugger.state.stop is not None
        assert "live from here" in debugger.state.stop.why
        assert provenance(debugger) == ["recorded", "ran", "recorded"]


async def test_what_was_edited_by_hand_is_edited_again(project: Path) -> None:
    (project / "p.yaml").write_text(PLAIN, encoding="utf-8")
    async with workbench.open("p.yaml") as debugger:
        await debugger.run("over")
        debugger.edit_variable("q_ls", "plum", 0)
        await debugger.run("continue")
        session = debugger.file
    assert session is not None
    async with workbench.replay(session, 6) as debugger:
        assert debugger.state.pool.variables["q_ls"].value[0] == "plum"
        assert debugger.state.pool.variables["q_ls"].is_edited
        assert [visit.step for visit in debugger.visits] == ["1", "2", "3", "4"]


async def test_a_server_is_initialised_before_it_is_called(runs: Runs, project: Path) -> None:
    _, memory = runs[PLAIN]
    initialised: list[str] = []

    def note(event: workbench.Event) -> None:
        if event.type == "server_initialised":
            initialised.append(getattr(event, "server", ""))

    async with workbench.replay(memory, 3, on_event=note) as debugger:
        assert not initialised
        await debugger.run("over")
        assert initialised == ["lab"]


async def test_going_back_before_the_live_visit_runs_it_anew(runs: Runs, project: Path) -> None:
    _, memory = runs[PLAIN]
    async with workbench.replay(memory, 4) as debugger:
        await debugger.go_to(3)
        await debugger.run("over")
        assert debugger.visits[-1].provenance == "ran"


@pytest.mark.parametrize(
    ("visit", "by_step", "said"),
    [(0, {}, "there is no visit 0; its visits are 1 to 5"), (9, {}, "no visit 9"), (1, {"7": "run"}, "no step 7")],
)
async def test_what_can_not_be(runs: Runs, project: Path, visit: int, by_step: dict[str, str], said: str) -> None:
    _, memory = runs[PLAIN]
    with pytest.raises(workbench.NotLive, match=said):
        async with workbench.replay(memory, visit, by_step=by_step):  # type: ignore[arg-type]
            pass
    stranger = project / "memory_x_unknown_20250101_120000.json"
    stranger.write_text(memory.read_text())
    with pytest.raises(workbench.NotLive, match="its pipeline is not known"):
        async with workbench.replay(stranger, 1):
            pass
