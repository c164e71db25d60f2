"""Completion as the shells do it: the script is loaded, a few letters are typed, and Tab."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.terminal import typed_at
from workbench.cli.main import COMMANDS, main

# Each shell prints this when it is ready; written so that the command itself does not hold it.
READY = "echo rea''dy\n"
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'eval "$(cat script)"; PS1="> "; ' + READY),
    "zsh": (["zsh", "-f", "-i"], 'autoload -U compinit; compinit -D; eval "$(cat script)"; PS1="> "; ' + READY),
}
TYPED = [
    ("ragwb check-", "ragwb check-items "),
    ("ragwb doc", "ragwb doctor "),
    ("ragwb run my_p", "ragwb run my_pipeline.yaml "),
    ("ragwb my_p", "ragwb my_pipeline.yaml "),
    ("ragwb run --no-s", "ragwb run --no-session "),
    ("ragwb new --template ser", "ragwb new --template server "),
    ("ragwb completion zs", "ragwb completion zsh "),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my_pipeline.yaml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "dumb")
    return tmp_path


def needs(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


def script(capsys: pytest.CaptureFixture[str], shell: str) -> str:
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    Path("script").write_text(text)
    return text


@pytest.mark.parametrize("shell", SHELLS)
def test_tab(folder: Path, capsys: pytest.CaptureFixture[str], shell: str) -> None:
    needs(shell)
    script(capsys, shell)
    command, preparation = SHELLS[shell]
    with typed_at(folder, command) as terminal:
        terminal.type(preparation)
        terminal.until("ready")
        for typed, completed in TYPED:
            terminal.seen = ""
            terminal.type(f"{typed}\t")
            terminal.until(completed)
            terminal.type("\x15")


def test_fish(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    needs("fish")
    script(capsys, "fish")
    for typed, completed in TYPED:
        ask = f"source script; complete -C '{typed}'"
        done = subprocess.run(["fish", "--no-config", "-c", ask], capture_output=True, text=True, check=True)
        offered = [line.split("\t")[0] for line in done.stdout.splitlines()]
        assert completed.split()[-1] in offered, (typed, done.stdout)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_is_in_the_script(folder: Path, capsys: pytest.CaptureFixture[str], shell: str) -> None:
    text = script(capsys, shell)
    assert all(command in text for command in COMMANDS)


def test_an_unknown_shell(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["completion", "tcsh"])
    assert "bash" in capsys.readouterr().err
