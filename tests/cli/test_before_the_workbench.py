"""``ragwb`` on a terminal: a file is chosen, a pipeline with mistakes is mended beside the screen."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.terminal import typed

RIGHT = "servers:\n  sayhello: servers/sayhello\npipeline:\n- sayhello.greet\n"
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def test_a_file_is_chosen_mended_and_opened(tmp_path: Path) -> None:
    file = tmp_path / "hello.yaml"
    file.write_text(RIGHT.replace("greet", "gret"), encoding="utf-8")
    with typed(tmp_path, screen=True) as command:
        command.until("hello.yaml")
        command.type("\r")
        command.until("can't be run yet")
        file.write_text(RIGHT, encoding="utf-8")
        command.until("before the first step")
        command.type("q")
        assert command.rest() == 0
        assert "did you mean" in _CONTROL.sub("", command.seen)


def test_leaving_without_mending_is_an_exit_code(tmp_path: Path) -> None:
    file = tmp_path / "hello.yaml"
    file.write_text(RIGHT.replace("greet", "gret"), encoding="utf-8")
    with typed(tmp_path, "hello.yaml", screen=True) as command:
        command.until("can't be run yet")
        command.type("q")
        assert command.rest() == 2
