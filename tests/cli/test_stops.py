"""Breakpoints and watches of a run without a screen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import CONFORMANCE
from workbench.cli.main import main

STEPS = """\
servers: {lab: servers/lab, prompt: servers/prompt}
pipeline:
- lab.get_items
- loop: {times: 2, steps: [lab.extend]}
- lab.tag
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "servers").mkdir()
    for name in ("lab", "prompt"):
        (tmp_path / "servers" / name).symlink_to(CONFORMANCE / "servers" / name)
    (tmp_path / "p.yaml").write_text(STEPS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return "p.yaml"


def session() -> str:
    (found,) = Path("sessions").glob("*.ragwb")
    return str(found)


def test_a_run_stops_and_can_be_gone_on_with(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", file, "--break", "2.1 round 2: q_ls[item] == 'kiwi+'"]) == 4
    out, err = capsys.readouterr()
    assert out == (
        "stopped before 2.1 lab.extend, round 2: breakpoint: q_ls[item] == 'kiwi+'\n"
        "inputs\n"
        '  q_ls  list 4  ["fig+", "apple+", "kiwi+", "date+"]\n'
        "variables\n"
        '  q_ls   list 4  ["fig+", "apple+", "kiwi+", "date+"]\n'
        '  gt_ls  4 x 1   [["FIG"], ["APPLE"], ["KIWI"], ["DATE"]]\n'
    )
    assert "stopped: 2 visits" in err
    assert f"ragwb resume {session()}" in err
    assert main(["resume", session(), "--run", "--quiet"]) == 0
    assert "[2] kiwi++!" in capsys.readouterr().out


def test_the_session_remembers_what_it_stopped_at_and_no_run_without_a_screen_minds(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", file, "--break", "2.1", "--quiet"]) == 4
    assert main(["resume", session(), "--run", "--break", "3 after", "--quiet"]) == 4
    out = capsys.readouterr().out
    assert "stopped at the end: breakpoint, after 3 lab.tag" in out
    from workbench.pipeline.prepare import prepare
    from workbench.record.session_reader import read_session

    saved = read_session(Path(session()), prepare(Path(file)).parameters)
    assert [b.key for b in saved.breakpoints.breakpoints] == ["2.1"]


def test_for_machines_all_is_whole(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    items = json.dumps([f"{'long ' * 100}{n}" for n in range(9)])
    assert main(["run", file, "--watch", "tagged_ls written", "--json", "--quiet", "--set", f"lab.items={items}"]) == 4
    result = json.loads(capsys.readouterr().out)
    assert result["exit_code"] == 4
    stopped = result["stopped"]
    assert (stopped["why"], stopped["step"], stopped["inputs"]) == ("watch: tagged_ls was written", "", {})
    assert len(stopped["variables"]["tagged_ls"]) == 9
    assert len(stopped["variables"]["q_ls"][8]) == 503


def test_a_run_tells_and_goes_on(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", file, "--break", "2.1", "--watch", "q_ls changes", "--on-break", "dump", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("tagged_ls:\n")
    assert err.count("stopped before 2.1 lab.extend, round 1: breakpoint") == 1
    assert err.count("stopped before 3 lab.tag: watch: q_ls changed") == 1
    assert main(["run", file, "--break", "2.1", "--on-break", "continue", "--quiet"]) == 0
    assert "stopped" not in "".join(capsys.readouterr())


@pytest.mark.parametrize(("way", "count", "code"), [("stop", 1, 4), ("dump", 2, 0), ("continue", 0, 0)])
def test_as_events(file: str, capsys: pytest.CaptureFixture[str], way: str, count: int, code: int) -> None:
    assert main(["run", file, "--break", "lab.extend", "--on-break", way, "--events", "--quiet"]) == code
    out, err = capsys.readouterr()
    dumps = [event for line in out.splitlines() if (event := json.loads(line))["type"] == "dumped"]
    assert len(dumps) == count
    assert "breakpoint" not in err
    for number, event in enumerate(dumps, start=1):
        assert (event["step"], event["round"]) == ("2.1", [number])
        assert event["inputs"] == {"q_ls": event["variables"]["q_ls"]}


def test_a_logpoint_prints_on_stderr_also_when_quiet(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", file, "--break", "2.1 => {{ round }}: {{ q_ls[0] }}", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert "2.1: 1: fig\n" in err
    assert "2.1: 2: fig+\n" in err
    assert "fig+\n" not in out


def test_secrets_are_masked(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(file).write_text("servers: {lab: servers/lab}\npipeline:\n- lab.get_items\n- lab.tag\n- lab.tag\n")
    options = ["--set", "lab.items=[sk-very-secret-000]", "--set", "lab.api_key=sk-very-secret-000"]
    Path("parameter").mkdir()
    Path("parameter/p_parameter.yaml").write_text("lab: {api_key: x}\n")
    for way in ([], ["--json"], ["--events"], ["--on-break", "dump"]):
        main(["run", file, "--break", "3", *way, *options])
        out, err = capsys.readouterr()
        assert "sk-very-secret-000" not in out + err
        assert "sk-…000" in out + err


@pytest.mark.parametrize("option", ["--break=9.9", "--watch=1 +", "--break=2.1: ("])
def test_what_can_not_be_read_is_said_before_anything_starts(
    file: str, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert main(["run", file, option]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("p.yaml: ")
    assert err.count("\n") == 1
    assert not Path("sessions").exists()


def test_a_watch_of_a_variable_that_no_step_gives(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", file, "--watch", "tagged_l changes"]) == 2
    assert capsys.readouterr().err == "p.yaml: --watch: no step gives `tagged_l`; did you mean `tagged_ls`?\n"


def test_a_resumed_session_says_it_too(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", file, "--quiet"]) == 0
    capsys.readouterr()
    assert main(["resume", session(), "--run", "--break", "9"]) == 2
    assert "9: there is no such step" in capsys.readouterr().err
