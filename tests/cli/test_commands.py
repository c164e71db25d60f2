"""The command as a user meets it: exit codes, what goes to stdout and stderr, and nothing left running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from tests.support import CONFORMANCE
from workbench.cli.main import main

STUBS = Path(__file__).parents[1] / "stubs"
SLOW = """\
servers: {data: servers/data, text: servers/text}
pipeline:
- data.give
- text.slow:
    input: {seconds: 60}
"""
SLEEPS_ONCE = """\
import os, time
from workbench.mcp.kit import ToolServer
app = ToolServer("once")

@app.tool(output="->q_ls")
def give() -> dict:
    return {"q_ls": ["a"]}

@app.tool(output="q_ls->seen_ls")
def log(q_ls: list[str]) -> dict:
    open("calls.log", "a").write("log\\n")
    return {"seen_ls": q_ls}

@app.tool(output="q_ls->q_ls")
def sleep(q_ls: list[str]) -> dict:
    if not os.path.exists("slept"):
        open("slept", "w").close()
        time.sleep(60)
    return {"q_ls": q_ls}

app.run()
"""
ODD = """\
import json, sys
def say(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    number, method = asked.get("id"), asked.get("method")
    if method == "initialize":
        about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
        say(id=number, result={**about, "serverInfo": {"name": "odd", "version": "1"}})
    elif method == "tools/list":
        say(id=number, result={"tools": [{"name": "go", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        token = asked["params"]["_meta"]["progressToken"]
        for odd in ("abc", None, [1]):
            say(method="notifications/progress", params={"progressToken": token, "progress": odd, "total": odd})
        say(method="notifications/progress", params={"progressToken": token, "progress": 1, "message": {"a": 1}})
        say(method="notifications/progress", params={"progressToken": [1], "progress": 1})
        say(id=[number], result={})
        say(id=number, result={"content": [], "structuredContent": {"x": "fine"}})
"""
LAB = "servers: {lab: servers/lab, prompt: servers/prompt}\npipeline:\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder of its own, with the servers of the conformance suite and the stub servers."""
    servers = tmp_path / "servers"
    servers.mkdir()
    for source in (*(CONFORMANCE / "servers").iterdir(), *(STUBS / "servers").iterdir()):
        (servers / source.name).symlink_to(source)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(project: Path, text: str, name: str = "p.yaml") -> str:
    (project / name).write_text(text, encoding="utf-8")
    return name


def stub_pipeline(project: Path, *steps: str) -> str:
    aliases = {step.split(".")[0] for step in steps}
    content = {"servers": {alias: f"servers/{alias}" for alias in sorted(aliases)}, "pipeline": list(steps)}
    return write(project, yaml.safe_dump(content))


def servers_left(project: Path) -> list[str]:
    """Command lines of processes that run in the project's folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd") == str(project) and int(process.name) != os.getpid():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def test_run_tells_on_stderr_and_gives_the_result_on_stdout(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", write(project, LAB + "- lab.get_items\n- lab.tag\n"), "--set", "lab.suffix='?'"]) == 0
    out, err = capsys.readouterr()
    assert out == "tagged_ls:\n  [0] fig?\n  [1] apple?\n  [2] kiwi?\n  [3] date?\n"
    assert "lab.get_items" in err
    (file,) = (project / "output").glob("memory__p_*.json")
    assert f"memory file: {file}" in err
    assert servers_left(project) == []


def test_a_session_is_kept_unless_it_is_not_wanted(project: Path) -> None:
    file = write(project, LAB + "- lab.get_items\n")
    assert main(["run", file, "--no-session"]) == 0
    assert not (project / "sessions").exists()
    assert main(["run", file]) == 0
    assert len(list((project / "sessions").iterdir())) == 1


def test_run_for_machines(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(project, LAB + "- lab.get_items\n- lab.drop_last\n- lab.tag\n")
    assert main(["run", file, "--json", "--quiet"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["result"] == {"tagged_ls": ["fig!", "apple!", "kiwi!", "date!"]}
    assert (result["exit_code"], result["visits"], result["error"]) == (0, 3, None)
    assert "cut_ls is a list of wrong length" in result["warnings"][0]


def test_events_are_lines_of_json(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steps = "- lab.get_items\n- loop: {times: 2, steps: [lab.extend]}\n"
    assert main(["run", write(project, LAB + steps), "--events", "--quiet"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert {"v", "time", "type", "session", "timeline"} <= events[0].keys()
    kinds = [event["type"] for event in events if event["type"] not in ("message", "server_output")]
    assert kinds[0] == "session_started"
    assert "run_finished" in kinds
    visits = [event for event in events if event["type"] == "visit_finished"]
    assert [(event["visit"], event["step"], event["round"]) for event in visits] == [
        (1, "1", []),
        (2, "2.1", [1]),
        (3, "2.1", [2]),
    ]
    calls = [event for event in events if event["type"] == "message" and event.get("visit") == 1]
    assert [event["way"] for event in calls] == ["sent", "received"]
    assert all(event["size"] == len(event["line"].encode()) for event in calls)


@pytest.mark.parametrize(
    ("steps", "code", "said"),
    [
        (["data.give", "text.fails"], 1, "step 2 failed: text.fails failed: third question has no verb"),
        (["data.give", "nodep.hello"], 3, "No module named 'a_package_nobody_has'"),
        (["dies.hello", "dies.die"], 1, "RuntimeError: device lost"),
    ],
    ids=["a tool raises", "a missing package", "a server dies"],
)
def test_what_goes_wrong_in_a_server(
    project: Path, capsys: pytest.CaptureFixture[str], steps: list[str], code: int, said: str
) -> None:
    assert main(["run", stub_pipeline(project, *steps)]) == code
    err = capsys.readouterr().err
    assert said in err
    assert "workbench/" not in err, "no traceback of ragwb's own"
    assert servers_left(project) == []


def test_a_start_that_fails_names_command_and_exit_code(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", stub_pipeline(project, "data.give", "nodep.hello")]) == 3
    err = capsys.readouterr().err
    assert "nodep" in err
    assert sys.executable in err
    assert "exit code 1" in err
    assert not list(project.glob("output/*")), "no step ran: there is nothing to keep"


def test_what_finished_before_a_failure_is_kept(project: Path) -> None:
    assert main(["run", stub_pipeline(project, "data.give", "text.upper", "text.fails")]) == 1
    (file,) = (project / "output").glob("*.json")
    assert [entry["step"] for entry in json.loads(file.read_text())] == ["data.give", "text.upper"]


def test_noise_on_stdout_is_told_and_harms_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", stub_pipeline(project, "banner.hello")]) == 0
    out, err = capsys.readouterr()
    assert "hello" in out
    assert err.count("Downloading weights") == 1
    assert "print to stderr" in err


def start(project: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "workbench.cli.main", *arguments]
    return subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(process: subprocess.Popen[str], text: str) -> str:
    """Read stderr until a line holds the text."""
    assert process.stderr is not None
    seen = ""
    while text not in seen:
        line = process.stderr.readline()
        assert line, f"ended before {text!r}: {seen}"
        seen += line
    return seen


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_the_finished_steps(project: Path, number: signal.Signals) -> None:
    write(project, SLOW)
    process = start(project, "run", "p.yaml")
    wait_for(process, "data.give")
    time.sleep(0.3)
    process.send_signal(number)
    begin = time.monotonic()
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert time.monotonic() - begin < 5
    assert "interrupted" in err
    assert "Traceback" not in err
    (file,) = (project / "output").glob("*.json")
    assert [entry["step"] for entry in json.loads(file.read_text())] == ["data.give"]
    assert servers_left(project) == []


def test_a_killed_run_leaves_no_server_and_can_be_resumed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = project / "servers" / "once" / "src"
    server.mkdir(parents=True)
    (server / "once.py").write_text(SLEEPS_ONCE, encoding="utf-8")
    write(project, "servers: {once: servers/once}\npipeline: [once.give, once.log, once.sleep, once.log]\n")
    process = start(project, "run", "p.yaml")
    wait_for(process, "once.log")
    while not (project / "slept").exists():
        time.sleep(0.02)
    process.kill()
    process.communicate()
    for _ in range(100):
        if not servers_left(project):
            break
        time.sleep(0.05)
    assert servers_left(project) == []
    (session,) = (project / "sessions").glob("*.ragwb")
    assert session.stat().st_mode & 0o777 == 0o600
    assert main(["resume", str(session)]) == 0
    assert (project / "calls.log").read_text() == "log\nlog\n", "no finished step ran again"
    captured = capsys.readouterr()
    assert "[0] a" in captured.out
    assert "visit 3 (step 3 once.sleep) was interrupted in its call: it runs anew" in captured.err
    (file,) = (project / "output").glob("*.json")
    assert [entry["step"] for entry in json.loads(file.read_text())] == [
        "once.give", "once.log", "once.sleep", "once.log",
    ]  # fmt: skip


MARKS = """\
from workbench.mcp.kit import ToolServer
app = ToolServer("marks")

@app.tool(output="->q_ls")
def give() -> dict:
    return {"q_ls": ["a", "b"]}

@app.tool(output="q_ls,mark->q_ls")
def log(q_ls: list[str], mark: int) -> dict:
    with open("calls.log", "a") as file:
        file.write(f"{mark}\\n")
    return {"q_ls": [q + str(mark) for q in q_ls]}

app.run()
"""


@pytest.mark.parametrize("boundary", [1, 2, 3, 4, 5])
def test_killed_at_any_boundary_no_finished_step_runs_again(
    project: Path, capsys: pytest.CaptureFixture[str], boundary: int
) -> None:
    (project / "servers" / "marks" / "src").mkdir(parents=True)
    (project / "servers" / "marks" / "src" / "marks.py").write_text(MARKS)
    steps = "".join(f"- marks.log: {{input: {{mark: {mark}}}}}\n" for mark in range(2, 7))
    write(project, f"servers: {{marks: servers/marks}}\npipeline:\n- marks.give\n{steps}")
    process = start(project, "run", "p.yaml")
    finished = wait_for(process, f"   {boundary} {boundary}  marks")
    process.kill()
    process.communicate()
    (session,) = (project / "sessions").glob("*.ragwb")
    assert main(["resume", str(session), "--run"]) == 0
    marks = [int(line) for line in (project / "calls.log").read_text().split()]
    under_way = [mark for mark in set(marks) if marks.count(mark) > 1]
    assert sorted(set(marks)) == [2, 3, 4, 5, 6]
    assert len(marks) - len(set(marks)) == len(under_way) <= 1, "at most the call under way ran anew"
    assert all(f"   {mark} {mark}  marks" not in finished for mark in under_way)
    assert capsys.readouterr().out.split()[-1] == "b23456"


def test_a_full_disk_keeps_what_was_kept(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steps = "- loop: {times: 100, steps: [text.upper: {output: {out_ls: q_ls}}]}\n"
    write(project, f"servers: {{data: servers/data, text: servers/text}}\npipeline:\n- data.give\n{steps}")
    command = [sys.executable, "-m", "workbench.cli.main", "run", "p.yaml"]
    limited = ["bash", "-c", 'ulimit -f 300; exec "$@"', "bash", *command]
    done = subprocess.run(limited, cwd=project, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "what it gave can't be kept" in done.stderr
    assert "is the disk full" in done.stderr
    assert "Traceback" not in done.stderr
    (session,) = (project / "sessions").glob("*.ragwb")
    assert main(["resume", str(session), "--run"]) == 0
    (_, memory) = sorted((project / "output").glob("memory_*.json"))
    assert len(json.loads(memory.read_text())) == 101


def test_a_server_that_hangs_at_its_start_can_be_given_up(project: Path) -> None:
    process = start(project, "run", stub_pipeline(project, "data.give", "hangs.hello"))
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 130
    assert servers_left(project) == []


def test_a_reader_that_goes_away_ends_the_run(project: Path) -> None:
    write(project, LAB + "- lab.get_items\n- loop: {times: 3000, steps: [lab.tag]}\n")
    process = start(project, "run", "p.yaml", "--events")
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    process.wait(timeout=20)
    assert process.returncode == 130
    assert servers_left(project) == []


def test_a_run_goes_on_when_nobody_reads_its_progress(project: Path) -> None:
    write(project, LAB + "- lab.get_items\n- loop: {times: 40, steps: [lab.tag]}\n- lab.count\n")
    process = start(project, "run", "p.yaml")
    assert process.stderr is not None
    process.stderr.close()
    out, _ = process.communicate(timeout=30) if process.stdout is None else (process.stdout.read(), None)
    assert process.wait(timeout=20) == 0
    assert out == "total: 4\n"


def test_an_output_folder_that_is_a_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "output").write_text("a file")
    assert main(["run", write(project, LAB + "- lab.get_items\n")]) == 2
    assert f"the folder {project / 'output'} can't be written to" in capsys.readouterr().err


def test_a_sessions_folder_that_is_a_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "sessions").write_text("a file")
    assert main(["run", write(project, LAB + "- lab.get_items\n")]) == 2
    assert "sessions is no folder" in capsys.readouterr().err


def test_secrets_appear_nowhere(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    key = "sk-test-THIS-IS-NOT-A-KEY-000"
    server = project / "servers" / "leaks" / "src"
    server.mkdir(parents=True)
    (server.parent / "parameter.yaml").write_text(f"api_key: {key}\n")
    (server / "leaks.py").write_text(
        "import sys\nfrom workbench.mcp.kit import ToolServer\napp = ToolServer('leaks')\n"
        "@app.tool(output='api_key->told')\ndef tell(api_key: str):\n"
        "    print(api_key, file=sys.stderr)\n    return {'told': [api_key]}\n"
        "@app.tool(output='api_key->None')\ndef fail(api_key: str):\n    raise ValueError(f'401 for {api_key}')\n"
        "app.run()\n"
    )
    file = write(project, "servers: {leaks: servers/leaks}\npipeline: [leaks.tell, leaks.fail]\n")
    for options in ([], ["--json"], ["--events"]):
        assert main(["run", file, *options]) == 1
        out, err = capfd.readouterr()
        assert key not in out + err
        assert "sk-…000" in out + err
    assert all(key.encode() not in path.read_bytes() for path in (project / "output").iterdir())


def test_a_server_that_is_no_python(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = project / "servers" / "broken" / "src"
    server.mkdir(parents=True)
    (server / "broken.py").write_text("def f(:\n    pass\n")
    assert main(["check", write(project, "servers: {broken: servers/broken}\npipeline: [broken.f]\n")]) == 2
    assert f"{server / 'broken.py'}:1:7: the server is no valid Python" in capsys.readouterr().err


def test_a_tool_that_leaves_does_not_hang_the_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = project / "servers" / "leaves" / "src"
    server.mkdir(parents=True)
    (server / "leaves.py").write_text(
        "import sys\nfrom workbench.mcp.kit import ToolServer\napp = ToolServer('leaves')\n"
        "@app.tool(output='->x')\ndef go():\n    sys.exit(0)\napp.run()\n"
    )
    assert main(["run", write(project, "servers: {leaves: servers/leaves}\npipeline: [leaves.go]\n")]) == 1
    assert "leaves.go failed: it called sys.exit(0) (leaves.py, line 6)" in capsys.readouterr().err


def test_a_server_that_answers_oddly(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = project / "servers" / "odd" / "src"
    server.mkdir(parents=True)
    (server / "odd.py").write_text(ODD)
    (server.parent / "server.yaml").write_text("tools: {go: {input: {}, output: [x]}}\n")
    assert main(["run", write(project, "servers: {odd: servers/odd}\npipeline: [odd.go]\n")]) == 0
    assert "x: fine" in capsys.readouterr().out


def test_check_reports_all_mistakes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(project, LAB + "- lab.get_itemz\n- lab.tag:\n    input: {q_ls: hello}\n    output: {x: y}\n")
    assert main(["check", file]) == 2
    err = capsys.readouterr().err
    assert "p.yaml:3:3: server `lab` has no tool or prompt `get_itemz`; did you mean `get_items`" in err
    assert "tool `lab.tag` has no output `x` (it has: tagged_ls)" in err
    assert main(["check", file, "--json"]) == 2
    assert [p["line"] for p in json.loads(capsys.readouterr().out)["problems"]] == [3, 6]
    assert main(["check", str(CONFORMANCE / "pipelines" / "58-all-done-one-level-down.yaml")]) == 0


@pytest.mark.parametrize("command", ["run", "check", "build", "open", "replay"])
@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("nothing.yaml", "no such file"),
        ("folder.yaml", "folder"),
        ("text.yaml", "a pipeline is a map"),
        ("bytes.yaml", "UTF-8"),
    ],
)
def test_files_that_are_no_pipelines(
    project: Path, capsys: pytest.CaptureFixture[str], command: str, file: str, said: str
) -> None:
    (project / "folder.yaml").mkdir()
    (project / "text.yaml").write_text("just text", encoding="utf-8")
    (project / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    assert main([command, file]) == 2
    err = capsys.readouterr().err
    assert err.startswith(file)
    assert said in err or command == "replay"
    assert len(err.splitlines()) == 1


def test_what_is_meant_by_a_name_that_is_no_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "sayhelo"]) == 2
    assert capsys.readouterr().err == "sayhelo: no such file; did you mean `sayhello`?\n"
    (project / "pipelines").mkdir()
    (project / "pipelines" / "lanterns.yaml").write_text("pipeline: []\n")
    assert main(["check", "lanters.yaml"]) == 2
    assert "did you mean `pipelines/lanterns.yaml`?" in capsys.readouterr().err
    assert main(["check", "nothing/at/all.yaml"]) == 2
    assert capsys.readouterr().err == "nothing/at/all.yaml: no such file\n"


def test_a_misspelt_server_folder(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "p.yaml").write_text("servers: {search: servers/retreiver}\npipeline: [search.bm25_search]\n")
    assert main(["check", "p.yaml"]) == 2
    assert "did you mean `servers/retriever` or" in capsys.readouterr().err


def test_build_writes_what_the_reference_writes_and_keeps_hand_edits(project: Path) -> None:
    file = write(project, LAB + "- lab.get_items\n- lab.search\n- prompt.ask\n")
    assert main(["build", file]) == 0
    built = yaml.safe_load((project / "server/p_server.yaml").read_text())
    assert built == {
        "lab": {
            "tools": {
                "get_items": {"input": {"items": "$items"}, "output": ["q_ls", "gt_ls"]},
                "search": {"input": {"query_list": "q_ls", "top_k": "$top_k"}, "output": ["ret_psg"]},
            },
            "parameter": "servers/lab/parameter.yaml",
            "path": "servers/lab/src/lab.py",
        },
        "prompt": {
            "prompts": {"ask": {"input": {"q_ls": "q_ls", "greeting": "$greeting"}, "output": ["prompt_ls"]}},
            "parameter": "servers/prompt/parameter.yaml",
            "path": "servers/prompt/src/prompt.py",
        },
    }
    parameters = project / "parameter/p_parameter.yaml"
    assert yaml.safe_load(parameters.read_text()) == {
        "lab": {"items": ["fig", "apple", "kiwi", "date"], "top_k": 2},
        "prompt": {"greeting": "Please answer."},
    }
    parameters.write_text("lab:\n  # mine\n  top_k: 7  # seven\n  old: 1\n", encoding="utf-8")
    assert main(["build", file]) == 0
    text = parameters.read_text()
    assert "# mine" in text
    assert "top_k: 7  # seven" in text
    assert yaml.safe_load(text)["lab"] == {"top_k": 7, "old": 1, "items": ["fig", "apple", "kiwi", "date"]}


def test_replay_for_machines(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = [
        {"step": "a.b", "memory": {"memory_q_ls": ["x", "y"]}},
        {"step": "a.c", "memory": {"memory_ans_ls": ["1", "2"]}},
    ]
    (project / "m.json").write_text(json.dumps(run), encoding="utf-8")
    assert main(["replay", "m.json", "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)
    assert shown["items"] == 2
    assert shown["variables"]["ans_ls"] == {"visit": 2, "value": ["1", "2"]}


def test_without_a_terminal_the_screen_says_what_to_do_instead(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([write(project, LAB + "- lab.get_items\n")]) == 2
    assert "ragwb run p.yaml" in capsys.readouterr().err


def test_a_breakpoint_at_an_unknown_step(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([write(project, LAB + "- lab.get_items\n"), "--break", "lab.get_item"]) == 2
    assert "there is no such step; did you mean `lab.get_items`" in capsys.readouterr().err
