"""``why``, ``diff`` and ``export`` on real runs: a session and its memory file, two timelines, a test that is run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import CONFORMANCE, Session
from workbench.cli.main import main
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import prepare

PIPELINE = """\
servers: {lab: servers/lab, prompt: servers/prompt}
pipeline:
- lab.get_items
- lab.search
- prompt.ask
- lab.generate
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a pipeline has run."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "servers").symlink_to(CONFORMANCE / "servers")
    (folder / "p.yaml").write_text(PIPELINE, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("RAGWB_TRUST", "all")
        assert main(["run", "p.yaml", "--quiet"]) == 0
    return folder


@pytest.fixture
def run(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A session file and a memory file of one run."""
    shutil.copytree(project, tmp_path, symlinks=True, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    (session,), (memory,) = (tmp_path / "sessions").glob("*.ragwb"), (tmp_path / "output").glob("memory_*.json")
    return session, memory


def test_folders_and_several_sessions_are_studied(run: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    for files in (["output"], ["sessions"], [str(run[0]), str(run[0])]):
        assert main(files) == 2
        assert f"ragwb replay --json {files[0]}" in capsys.readouterr().err


def test_why_says_the_same_of_a_session_and_its_memory_file(
    run: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    said = []
    for file in run:
        assert main(["why", str(file), "--role", "prediction=ans_ls", "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        said.append([(row["item"], row["right"], row["verdict"] and row["verdict"]["step"]) for row in data["rows"]])
    assert said[0] == said[1]
    assert len(said[0]) == 4


def test_a_run_compared_with_itself(run: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    session, memory = map(str, run)
    assert main(["diff", session, memory, "--role", "prediction=ans_ls", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["outcomes"] == {"better": 0, "worse": 0, "changed": 0, "same": 4}
    assert {(score["p"], score["seed"]) for score in data["scores"]} == {(1.0, 0)}
    assert all(item["parting"] is None for item in data["items"])


@pytest.mark.parametrize("visit", [2, 3, 4], ids=["tool", "prompt", "model"])
def test_a_visit_becomes_a_test_that_passes_and_can_fail(
    run: tuple[Path, Path], visit: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["export", str(run[0]), "--test", str(visit)]) == 0
    text = capsys.readouterr().out
    file = tmp_path / "test_made.py"
    for content, code in ((text, 0), (text.replace("fig", "fog", 1), 1)):
        file.write_text(content, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == code, done.stdout


def test_a_run_that_failed_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "servers").symlink_to(Path(__file__).parents[1] / "stubs" / "servers")
    steps = "servers: {data: servers/data, text: servers/text}\npipeline:\n- data.give\n- text.fails\n"
    (tmp_path / "p.yaml").write_text(steps, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "p.yaml", "--quiet"]) == 1
    assert main(["why", "sessions"]) == 0
    err = capsys.readouterr().err
    assert "note: the run ended when a step failed: step 2 text.fails: " in err


async def test_two_timelines_of_a_session(
    lab_servers: ServerHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pipeline = CONFORMANCE / "pipelines" / "02-serial-prompt.yaml"
    session = Session(prepare(pipeline), lab_servers, tmp_path, keeps=True)
    debugger = await session.open()
    await debugger.run("continue")
    await debugger.step_back()
    await debugger.step_back()
    name = "prompt_ls" if "prompt_ls" in debugger.state.pool.variables else "ret_psg"
    debugger.edit_variable(name, debugger.state.pool.variables[name].value[::-1])
    await debugger.run("continue")
    await debugger.close()
    options = ["diff", str(session.file), "--timelines", "1,2", "--pipeline", str(pipeline), "--json"]
    assert main(options) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["timelines"] == [1, 2]
    assert any(item["parting"] is not None for item in data["items"])
    assert main(["diff", str(session.file), "--pipeline", str(pipeline)]) == 2
    assert "--timelines 1,2" in capsys.readouterr().err


def test_two_timelines_of_a_session_that_has_one(run: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    session, _ = run
    assert main(["diff", str(session), "--timelines", "1,2"]) == 2
    assert "has one timeline; another begins where a run goes on from a visit in its past" in capsys.readouterr().err


def test_a_saved_run_goes_live_without_a_screen(run: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    before = [file.read_bytes() for file in run]
    for file in run:
        assert main(["replay", str(file), "--live", "3", "--answer", "4=recorded", "--run", "--json", "--yes"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert (data["exit_code"], data["visits"]) == (0, 4)
    assert [file.read_bytes() for file in run] == before
    assert len(list(run[0].parent.glob("*.ragwb"))) == 3


def test_what_a_saved_run_lacks_stops_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "servers").symlink_to(CONFORMANCE / "servers")
    branch = "- branch:\n    router: [lab.route_length]\n    branches: {short: [lab.extend], long: []}\n"
    (tmp_path / "p.yaml").write_text(f"servers: {{lab: servers/lab}}\npipeline:\n- lab.get_items\n{branch}")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "p.yaml", "--quiet"]) == 0
    (memory,) = (tmp_path / "output").glob("memory_*.json")
    capsys.readouterr()
    assert main(["replay", str(memory), "--live", "3", "--run", "--yes", "--quiet"]) == 4
    said = capsys.readouterr().err
    assert "does not hold what the router lab.route_length decided" in said
    assert "to go on from there: ragwb resume" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--live", "9"], "there is no visit 9; its visits are 1 to 4"),
        (["--live", "2", "--answer", "4=perhaps"], "write STEP=run, STEP=equal or STEP=recorded"),
        (["--live", "2", "--answer", "8=run"], "there is no step 8"),
    ],
)
def test_what_going_live_does_not_take(
    run: tuple[Path, Path], options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(run[1]), *options, "--run", "--yes"]) == 2
    assert said in capsys.readouterr().err


def test_a_role_that_is_none(run: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(run[1]), "--role", "colour=q_ls"]) == 2
    assert "write ROLE=VARIABLE" in capsys.readouterr().err


def test_marks_and_notes_are_told(run: tuple[Path, Path], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    memory = run[1]
    entries = {"2": {"marked": True, "note": "ask the author"}}
    beside = memory.with_name(memory.name + ".notes")
    beside.write_text(json.dumps({"format": 1, "runs": {"1": entries}}), encoding="utf-8")
    assert main(["why", str(memory)]) == 0
    assert "* ask the author" in capsys.readouterr().out
    assert main(["why", str(memory), "--where", "marked", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["item"], row["marked"], row["note"]) == (2, True, "ask the author")
    for form in ("--html", "--markdown"):
        assert main(["export", str(memory), form, str(tmp_path / "out")]) == 0
        assert "ask the author" in (tmp_path / "out").read_text(encoding="utf-8")
    beside.write_text("no notes")
    capsys.readouterr()
    assert main(["why", str(memory)]) == 0
    assert "the notes can't be read" in capsys.readouterr().err


def test_a_score_that_some_items_lack(run: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    content = json.loads(run[1].read_text(encoding="utf-8"))
    content[0]["memory"]["memory_gt_ls"][0] = []
    run[1].write_text(json.dumps(content), encoding="utf-8")
    for where, count in (("f1 < 2", 3), ("f1 >= 0 or item == 0", 3)):
        assert main(["why", str(run[1]), "--where", where, "--json"]) == 0
        assert len(json.loads(capsys.readouterr().out)["rows"]) == count


def test_what_a_foreign_file_says_is_made_safe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, answer in (("a", "1"), ("b", "2")):
        step = {"step": "x.\x1b[2J\u202ey", "memory": {"memory_q_ls": ["q", "r"], "memory_pred_ls": [answer, "3"]}}
        (tmp_path / f"{name}.json").write_text(json.dumps([step]), encoding="utf-8")
    assert main(["diff", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 0
    out = capsys.readouterr().out
    assert "they part at" in out
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_a_file_that_is_nested_too_deeply(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "deep.json"
    file.write_text("[" * 100_000, encoding="utf-8")
    assert main(["why", str(file)]) == 2
    assert "nested too deeply" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--run"], ["--answers", "equal"], ["--answer", "4=run"], ["--break", "4"]])
def test_what_belongs_to_going_live_is_not_passed_over(
    run: tuple[Path, Path], option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(run[1]), *option]) == 2
    assert "belong to --live VISIT" in capsys.readouterr().err


def test_a_run_that_went_live_stops_at_a_breakpoint(run: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--live", "2", "--run", "--yes", "--quiet"]
    assert main(["replay", str(run[1]), *options, "--break", "4"]) == 4
    assert "stopped before 4 lab.generate" in capsys.readouterr().out
    assert main(["replay", str(run[1]), *options, "--break", "9"]) == 2
    assert "there is no such step" in capsys.readouterr().err


def test_a_list_that_is_nobodys_is_told_by_every_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "short.json"
    memory = {"memory_q_ls": ["q", "r"], "memory_gt_ls": [["a"], ["b"]], "memory_pred_ls": ["a"]}
    file.write_text(json.dumps([{"step": "x.y", "memory": memory}]), encoding="utf-8")
    for command in (["why", str(file)], ["diff", str(file), str(file)], ["export", str(file), "--markdown"]):
        assert main(command) == 0
        assert capsys.readouterr().err.count("pred_ls is a list of 1 for 2 items") == 1
