"""The pytest plugin, as a project uses it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support import CONFORMANCE

PIPELINE = (
    "servers: {lab: servers/lab}\npipeline:\n- lab.get_items\n- loop: {times: 2, steps: [lab.extend]}\n- lab.tag\n"
)
FAILS = "servers: {lab: servers/lab}\npipeline:\n- lab.get_items\n- lab.tag: {input: {q_ls: 3}}\n"
WHO = """\
import os
import pathlib
import time
from workbench.mcp.kit import ToolServer

app = ToolServer("who")

@app.tool(output="->pid,mood")
def who() -> dict:
    return {"pid": os.getpid(), "mood": os.environ.get("MOOD")}

@app.tool(output="->pid")
def both() -> dict:
    # Returns when another server has been asked, too.
    pathlib.Path(f"asked-{os.getpid()}").touch()
    until = time.monotonic() + 20
    while len(list(pathlib.Path().glob("asked-*"))) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    return {"pid": os.getpid()}

@app.tool(output="->none")
def die() -> None:
    os._exit(3)

app.run()
"""

ODD = """\
from workbench.mcp.kit import ToolServer

app = ToolServer("odd")

@app.tool(output="->word")
def say() -> dict:
    return {"word": "a\\x1b[2Jb"}

@app.tool(output="->word")
def fail() -> dict:
    raise ValueError("a\\x1b[2Jb")

app.run()
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with a server, a pipeline that runs and one that fails; nobody has trusted it."""
    monkeypatch.delenv("RAGWB_TRUST")
    servers = pytester.mkdir("servers")
    (servers / "lab").symlink_to(CONFORMANCE / "servers" / "lab")
    pipelines = pytester.mkdir("pipelines")
    (pipelines / "p.yaml").write_text(PIPELINE)
    (pipelines / "fails.yaml").write_text(FAILS)
    return pytester


def run(project: pytest.Pytester, tests: str, *options: str) -> pytest.RunResult:
    project.makepyfile(tests)
    return project.runpytest_subprocess("-p", "workbench.pytest_plugin", *options)


def test_what_a_run_gives(project: pytest.Pytester) -> None:
    tests = """
        def test_it(ragwb_pipeline, tmp_path):
            run = ragwb_pipeline.run("pipelines/p.yaml", sets={"lab.suffix": "."})
            run.assert_finished()
            assert run.variable("tagged_ls")[0] == "fig++."
            assert [visit.round for visit in run.assert_visited("2.1", times=2)] == [(1,), (2,)]
            assert len(run.visits("lab.*")) == 4
            assert len(run.items) == 4
            assert run.items[3].values["tagged_ls"] == "date++."
            assert run.memory.startswith(str(tmp_path))
            assert "visit_finished" in [event.type for event in run.events]
            assert ragwb_pipeline.check("pipelines/p.yaml") == []
    """
    run(project, tests).assert_outcomes(passed=1)
    assert not (project.path / "output").exists()
    assert not (project.path / "sessions").exists()


def test_what_fails_shows_the_run(project: pytest.Pytester) -> None:
    tests = """
        def test_often(ragwb_pipeline):
            ragwb_pipeline.run("pipelines/p.yaml").assert_visited("lab.tag", times=3)

        def test_never(ragwb_pipeline):
            ragwb_pipeline.run("pipelines/p.yaml").assert_visited("4.2")

        def test_name(ragwb_pipeline):
            ragwb_pipeline.run("pipelines/p.yaml").variable("taged_ls")

        def test_end(ragwb_pipeline):
            ragwb_pipeline.run("pipelines/fails.yaml").assert_finished()

        def test_error(ragwb_pipeline):
            run = ragwb_pipeline.run("pipelines/fails.yaml")
            assert "step 2 lab.tag" in run.error
            run.raise_for_failure()

        def test_file(ragwb_pipeline):
            ragwb_pipeline.run("pipelines/none.yaml")
    """
    ran = run(project, tests)
    ran.assert_outcomes(failed=6)
    ran.stdout.fnmatch_lines(
        [
            "E*lab.tag was visited 1 time, not 3",
            "E*  4  3  lab.tag",
            'E*tagged_ls  list 4  [[]"fig++!", "apple++!"*',
            "E*4.2 was not visited",
            "E*LookupError: the run wrote no variable taged_ls; did you mean `tagged_ls`*",
            "E*step 2 lab.tag: lab.tag failed*",
            "E*StepFailed: step 2 lab.tag*",
            "E*PipelineError: *no such file*",
        ]
    )
    ran.stdout.no_fnmatch_line("*finished_run.py:*assert_*")


def test_what_fails_writes_nothing_to_the_terminal_but_text(project: pytest.Pytester) -> None:
    (project.path / "servers" / "odd.py").write_text(ODD)
    for name, step in (("says", "odd.say"), ("fails", "odd.fail"), ("wrong", "odd.wr\\e[2Jong")):
        (project.path / f"{name}.yaml").write_text(f'servers: {{odd: servers/odd.py}}\npipeline: ["{step}"]\n')
    (project.path / "servers" / "dead.py").write_text("import sys; sys.exit('no \\x1b[2Jway')")
    (project.path / "dead.yaml").write_text("servers: {dead: servers/dead.py}\npipeline: [dead.go]\n")
    tests = """
        import pytest

        @pytest.mark.parametrize("name", ["says", "fails", "wrong", "dead"])
        def test_it(ragwb_pipeline, name):
            run = ragwb_pipeline.run(f"{name}.yaml")
            run.raise_for_failure()
            run.assert_visited("7")
    """
    ran = run(project, tests, "--color=no")
    ran.assert_outcomes(failed=4)
    assert "\x1b" not in ran.stdout.str()
    assert ran.stdout.str().count("␛[2J") >= 4


def test_servers_are_shared_while_nothing_changed(project: pytest.Pytester) -> None:
    server = project.path / "servers" / "who.py"
    server.write_text(WHO)
    (project.path / "who.yaml").write_text("servers: {who: servers/who.py}\npipeline: [who.who]\n")
    (project.path / "both.yaml").write_text("servers: {who: servers/who.py}\npipeline: [who.both]\n")
    (project.path / "die.yaml").write_text("servers: {who: servers/who.py}\npipeline: [who.die]\n")
    tests = """
        import pathlib

        def pid(runner, **options):
            return runner.run("who.yaml", **options).variable("pid")

        def test_one(ragwb_pipeline, monkeypatch):
            first = pid(ragwb_pipeline)
            assert pid(ragwb_pipeline) == first
            assert pid(ragwb_pipeline, fresh=True) != first
            monkeypatch.setenv("MOOD", "good")
            other = ragwb_pipeline.run("who.yaml")
            assert (other.variable("mood"), other.variable("pid") == first) == ("good", False)
            monkeypatch.delenv("MOOD")
            assert pid(ragwb_pipeline) == first
            script = pathlib.Path("servers/who.py")
            script.write_text(script.read_text() + "# edited")
            assert pid(ragwb_pipeline) != first

        def test_dead(ragwb_pipeline):
            before = pid(ragwb_pipeline)
            assert ragwb_pipeline.run("die.yaml").error is not None
            assert pid(ragwb_pipeline) != before

        async def test_at_once(ragwb_pipeline):
            import asyncio
            runs = await asyncio.gather(*(ragwb_pipeline("both.yaml") for _ in range(2)))
            assert len({run.variable("pid") for run in runs}) == 2
    """
    ran = run(project, tests, "-o", "asyncio_mode=auto")
    ran.assert_outcomes(passed=3)
    assert not _running_in(project.path)


def _running_in(folder: Path) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd") == str(folder) and int(process.name) != os.getpid():
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found


def test_other_peoples_runs_load_nothing(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the entry point, as it is installed."""
    plugin = pytester.mkdir("site") / "ragwb_here-0.dist-info"
    plugin.mkdir()
    (plugin / "METADATA").write_text("Metadata-Version: 2.1\nName: ragwb-here\nVersion: 0\n")
    (plugin / "entry_points.txt").write_text("[pytest11]\nworkbench.pytest_plugin = workbench.pytest_plugin\n")
    path = [str(plugin.parent), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, path)))
    pytester.makepyfile(
        """
        import sys

        def test_it(request):
            assert request.config.pluginmanager.has_plugin("workbench.pytest_plugin")
            loaded = {name for name in sys.modules if name.startswith("workbench")}
            assert loaded == {"workbench", "workbench.pytest_plugin"}
        """
    )
    pytester.runpytest_subprocess("-p", "no:asyncio").assert_outcomes(passed=1)
    ran = pytester.runpytest_subprocess("-p", "workbench.pytest_plugin")
    ran.assert_outcomes(passed=1)
