"""Which programs may be started, who is asked, and how often."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import typed
from workbench.cli.main import main
from workbench.pipeline.project import shipped_folder

SERVER = """\
from workbench.mcp.kit import ToolServer
app = ToolServer("{name}")
@app.tool(output="->{name}_ls")
def go() -> dict:
    return {{"{name}_ls": ["{word}"]}}
if __name__ == "__main__":
    app.run()
"""
COMMAND = "servers: {{tool: {{command: {command}, args: [servers/mine/src/mine.py], env: {{KEY: {key}}}}}}}\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two servers of its own, of which nothing is trusted."""
    monkeypatch.delenv("RAGWB_TRUST")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    project = tmp_path / "project"
    for name in ("mine", "other"):
        edit(project, name, "first")
    (project / "p.yaml").write_text("servers: {mine: servers/mine}\npipeline: [mine.go]\n")
    (project / "both.yaml").write_text(
        "servers: {mine: servers/mine, other: servers/other}\npipeline: [mine.go, other.go]\n"
    )
    (project / "shipped.yaml").write_text("servers: {sayhello: servers/sayhello}\npipeline: [sayhello.greet]\n")
    monkeypatch.chdir(project)
    return project


def edit(project: Path, name: str, word: str) -> None:
    file = project / "servers" / name / "src" / f"{name}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(SERVER.format(name=name, word=word))


def kept(project: Path) -> list[Path]:
    return list((project.parent / "state" / "ragwb" / "trust").glob("*"))


@pytest.mark.parametrize("command", ["run", "build"])
def test_nothing_is_started_where_nobody_can_be_asked(
    project: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert main([command, "p.yaml"]) == 2
    err = capsys.readouterr().err
    assert f"p.yaml starts programs of {project} that nobody has allowed yet" in err
    assert "mine: a Python server, run by ragwb's own Python (not started before)" in err
    assert f"command  {sys.executable} {project}/servers/mine/src/mine.py" in err
    assert "ragwb trust p.yaml" in err
    assert "--yes" in err
    assert not list(project.glob("output/*"))
    assert not (project / "server").exists()


def test_reading_needs_no_trust(project: Path) -> None:
    assert main(["check", "p.yaml"]) == 0


def test_servers_that_ragwb_ships_need_none(project: Path) -> None:
    assert main(["run", "shipped.yaml"]) == 0
    assert kept(project) == []


def test_a_way_round_to_a_file_outside_is_not_a_shipped_server(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = project.parent / "outside.py"
    outside.write_text(SERVER.format(name="outside", word="x"))
    way = "servers/" + "../" * 40 + str(outside).lstrip("/")
    (project / "p.yaml").write_text(f"servers: {{outside: {way}}}\npipeline: [outside.go]\n")
    assert main(["run", "p.yaml"]) == 2
    assert "nobody has allowed yet" in capsys.readouterr().err


def test_yes_is_for_this_time(project: Path) -> None:
    assert main(["run", "p.yaml", "--yes", "--no-session"]) == 0
    assert main(["run", "p.yaml"]) == 2


def test_the_environment_can_allow_all(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWB_TRUST", "all")
    assert main(["run", "p.yaml"]) == 0
    assert kept(project) == []


def test_trust_is_kept_for_the_user_alone_and_can_be_taken_back(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trust", "p.yaml"]) == 0
    assert "mine: a Python server" in capsys.readouterr().out
    (file,) = kept(project)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert main(["run", "p.yaml"]) == 0
    assert main(["trust", "p.yaml", "--revoke"]) == 0
    assert main(["run", "p.yaml"]) == 2
    assert main(["trust", "p.yaml", "--revoke"]) == 0
    assert "nothing of it was trusted" in capsys.readouterr().out


def test_changed_code_is_asked_about_again_and_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["trust", "p.yaml"])
    edit(project, "mine", "second")
    (project / "servers/mine/src/helper.py").write_text("")
    assert main(["run", "p.yaml"]) == 2
    assert "(changed since: helper.py, mine.py)" in capsys.readouterr().err
    assert main(["trust", "p.yaml"]) == 0
    assert main(["run", "p.yaml"]) == 0


def test_who_writes_the_servers_is_asked_about_new_commands_only(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["trust", "p.yaml", "--always"])
    for word in ("second", "third"):
        edit(project, "mine", word)
        assert main(["run", "p.yaml"]) == 0
        assert word in capsys.readouterr().out
    assert main(["run", "both.yaml"]) == 2
    err = capsys.readouterr().err
    assert "other: a Python server, run by ragwb's own Python (not started before)" in err
    assert "  mine:" not in err


def test_a_command_and_its_environment(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steps = "pipeline: [tool.go]\n"
    (project / "p.yaml").write_text(COMMAND.format(command=sys.executable, key="secret1") + steps)
    assert main(["trust", "p.yaml"]) == 0
    shown = capsys.readouterr().out
    assert f"tool: a command\n    command  {sys.executable} servers/mine/src/mine.py" in shown
    assert "gets     KEY" in shown
    assert "secret1" not in shown + kept(project)[0].read_text()
    (project / "p.yaml").write_text(COMMAND.format(command=sys.executable, key="secret2") + steps)
    assert main(["run", "p.yaml"]) == 2
    assert "tool: a command (started in another way than before)" in capsys.readouterr().err
    main(["trust", "p.yaml"])
    edit(project, "mine", "second")
    assert main(["run", "p.yaml"]) == 2
    assert "changed since: servers/mine/src/mine.py" in capsys.readouterr().err


def test_names_cannot_hide_what_is_started(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "p.yaml").write_text(
        'servers: {tool: {command: "evil\\e[2K\\rharmless\\n\\u202e", args: []}}\npipeline: [tool.go]\n'
    )
    assert main(["run", "p.yaml"]) == 2
    assert "'evil␛[2K␍harmless␊␦'" in capsys.readouterr().err


@pytest.mark.parametrize("damage", ["", "[]", '{"project": 1}', '{"own": true, "programs": {"x": 1}, "project": ""}'])
def test_a_damaged_file_is_no_trust(project: Path, damage: str) -> None:
    main(["trust", "p.yaml"])
    (file,) = kept(project)
    file.write_text(damage)
    assert main(["run", "p.yaml"]) == 2


def test_a_run_asks_on_the_terminal_and_only_once(project: Path) -> None:
    with typed(project, "run", "p.yaml") as command:
        assert "starts programs of" in command.until("Start them? ")
        command.type("y\n")
        assert command.rest() == 0
        assert command.process.stdout is not None
        assert command.process.stdout.read() == "mine_ls:\n  [0] first\n"
    with typed(project, "run", "p.yaml") as command:
        assert command.rest() == 0
        assert "Start them?" not in command.seen
    edit(project, "mine", "second")
    with typed(project, "run", "p.yaml") as command:
        assert "(changed since: mine.py)" in command.until("Start them? ")
        command.type("always\n")
        assert command.rest() == 0
    (file,) = kept(project)
    assert json.loads(file.read_text())["own"] is True


@pytest.mark.parametrize("answer", ["\n", "n\n", "\x04", "what?\n"])
def test_anything_but_yes_is_no(project: Path, answer: str) -> None:
    with typed(project, "run", "p.yaml") as command:
        command.until("Start them? ")
        command.type(answer)
        assert command.rest() == 2
        assert "nothing was started" in command.seen
    assert kept(project) == []


def test_the_screen_asks_before_it_opens(project: Path) -> None:
    with typed(project, "p.yaml", screen=True) as command:
        assert "\x1b" not in command.until("Start them? ")
        command.type("n\n")
        assert command.rest() == 2
        assert "\x1b[?1049h" not in command.seen
    with typed(project, "p.yaml", screen=True) as command:
        command.until("Start them? ")
        command.type("y\n")
        command.until("\x1b[?1049h")
    assert len(kept(project)) == 1


def test_a_session_is_asked_about_before_it_goes_on(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "p.yaml", "--yes"]) == 0
    (session,) = (project / "sessions").glob("*.ragwb")
    assert main(["resume", str(session)]) == 2
    assert "nobody has allowed yet" in capsys.readouterr().err
    assert main(["resume", str(session), "--yes"]) == 0


def test_an_interpreter_of_the_project_is_a_program_of_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["trust", "p.yaml"])
    (project / ".ragwb.yaml").write_text("python: bin/python\n")
    (project / "bin").mkdir()
    (project / "bin" / "python").symlink_to(sys.executable)
    assert main(["run", "p.yaml"]) == 2
    assert f"run by {project}/bin/python (started in another way than before)" in capsys.readouterr().err
    assert main(["run", "shipped.yaml"]) == 0, "servers that ragwb ships run under its own Python"
    way = shipped_folder() / "servers" / "sayhello"
    (project / "shipped.yaml").write_text(f"servers: {{sayhello: {way}}}\npipeline: [sayhello.greet]\n")
    assert main(["run", "shipped.yaml"]) == 2


def test_an_address_and_what_it_is_sent(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "a-secret-of-mine-1")
    address = "{url: 'https://tools.invalid/mcp', headers: {Authorization: 'Bearer ${SOME_TOKEN}'}}"
    (project / "p.yaml").write_text(f"servers: {{far: {address}}}\npipeline: [far.go]\n")
    assert main(["run", "p.yaml"]) == 2
    err = capsys.readouterr().err
    assert "far: an address, where what its steps take is sent (not started before)" in err
    assert "address  https://tools.invalid/mcp" in err
    assert "gets     Authorization" in err
    assert "with     SOME_TOKEN of your environment" in err
    assert "a-secret-of-mine-1" not in err
    assert main(["trust", "p.yaml"]) == 0
    monkeypatch.setenv("SOME_TOKEN", "a-secret-of-mine-2")
    assert main(["trust", "p.yaml"]) == 0
    (file,) = kept(project)
    assert len(json.loads(file.read_text())["programs"]) == 1, "a token that is renewed is no other server"
    assert "a-secret" not in file.read_text()
    (project / "p.yaml").write_text((project / "p.yaml").read_text().replace("SOME_TOKEN", "OTHER_TOKEN"))
    monkeypatch.setenv("OTHER_TOKEN", "a-secret-of-mine-1")
    assert main(["run", "p.yaml"]) == 2


def test_servers_of_a_clients_configuration(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = {"mcpServers": {"tool": {"command": sys.executable, "args": ["servers/mine/src/mine.py"]}}}
    (project / "client.json").write_text(json.dumps(config))
    (project / "p.yaml").write_text("pipeline: [tool.go]\n")
    options = ["p.yaml", "--mcp-config", "client.json"]
    assert main(["run", *options]) == 2
    assert f"command  {sys.executable} servers/mine/src/mine.py" in capsys.readouterr().err
    assert main(["trust", *options]) == 0
    assert main(["doctor", *options]) == 0
    assert "trust        allowed" in capsys.readouterr().out
    assert main(["run", *options]) == 0


def test_no_command_hides_behind_a_secret(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = "touch ran; sleep 1"
    entry = f"{{command: bash, args: ['-c', '{script}'], env: {{API_TOKEN: '{script}'}}}}"
    (project / "p.yaml").write_text(f"servers: {{tool: {entry}}}\npipeline: [tool.go]\n")
    assert main(["run", "p.yaml"]) == 2
    assert f"command  bash -c '{script}'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "place", ["args: ['-c', '${SETUP_TOKEN}']", "args: [go.sh], env: {LD_PRELOAD: '${SETUP_TOKEN}'}"]
)
def test_what_the_project_says_in_its_env_file_is_no_secret_of_the_user(
    project: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    (project / "p.yaml").write_text(f"servers: {{tool: {{command: bash, {place}}}}}\npipeline: [tool.go]\n")
    (project / ".env").write_text("SETUP_TOKEN='echo a harmless thing'\n")
    assert main(["trust", "p.yaml"]) == 0
    assert "with     SETUP_TOKEN of the project's .env" in capsys.readouterr().out
    (project / ".env").write_text("SETUP_TOKEN='touch something else'\n")
    assert main(["run", "p.yaml"]) == 2
    assert "started in another way than before" in capsys.readouterr().err


def test_a_script_without_an_ending_is_code_too(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "p.yaml").write_text("servers: {tool: {command: bash, args: [start]}}\npipeline: [tool.go]\n")
    (project / "start").write_text("true\n")
    main(["trust", "p.yaml"])
    (project / "start").write_text("touch something\n")
    assert main(["run", "p.yaml"]) == 2
    assert "changed since: start" in capsys.readouterr().err
