"""``ragwb`` on a terminal: a file is chosen, a pipeline with mistakes is mended beside the screen."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.cli.terminal import typed
from tests.support import CONFORMANCE

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


def test_leaving_before_the_end_says_how_to_go_on_and_going_on_says_what_was_found(tmp_path: Path) -> None:
    shutil.copytree(CONFORMANCE / "servers" / "lab", tmp_path / "servers" / "lab")
    (tmp_path / "p.yaml").write_text("servers: {lab: servers/lab}\npipeline:\n- lab.get_items\n- lab.tag\n")
    with typed(tmp_path, "p.yaml", "--yes", screen=True) as command:
        command.until("before the first step")
        command.type("n")
        command.until("✓")
        command.type("q")
        assert command.rest() == 0
        found = re.search(r"to go on from there: ragwb resume (sessions/p-\S+\.ragwb)", command.seen)
        assert found is not None
    with (tmp_path / "servers/lab/src/lab.py").open("a") as code:
        code.write("\n# changed\n")
    with typed(tmp_path, "resume", found[1], "--yes", screen=True) as command:
        command.until("changed since: server lab; visit 1 ran with")
        command.until("paused")
        command.type("q")
        assert command.rest() == 0


def test_a_screen_is_not_begun_where_nobody_would_see_it(tmp_path: Path) -> None:
    (tmp_path / "hello.yaml").write_text(RIGHT, encoding="utf-8")
    with typed(tmp_path, "hello.yaml", screen=False) as command:  # stdout goes elsewhere
        command.until("the workbench needs a terminal")
        assert command.rest() == 2
