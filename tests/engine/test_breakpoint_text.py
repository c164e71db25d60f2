"""Breakpoints and watches as they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import CONFORMANCE
from workbench.engine.breakpoint_text import read_breakpoint, read_watch
from workbench.engine.breakpoints import Breakpoint, Watch
from workbench.engine.expressions import ExpressionError
from workbench.engine.program import Program
from workbench.pipeline.reader import read_pipeline

TEXT = """\
servers: {lab: servers/lab}
pipeline:
- lab.get_items
- loop:
    times: 3
    steps:
    - lab.extend
    - lab.tag
- branch:
    router: [lab.route_length]
    branches:
      short: [lab.extend]
      "no dot.": [lab.search]
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "servers").symlink_to(CONFORMANCE / "servers")
    file = tmp_path / "p.yaml"
    file.write_text(TEXT)
    pipeline = read_pipeline(file).pipeline
    assert pipeline is not None
    return Program.of(pipeline)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2.1", Breakpoint("2.1")),
        ("2", Breakpoint("2")),
        ("3.short", Breakpoint("3.short")),
        ('3."no dot.".1', Breakpoint('3."no dot.".1')),
        ("lab.get_items", Breakpoint("1")),
        ("lab.extend", Breakpoint("lab.extend")),
        ("lab.*", Breakpoint("lab.*")),
        ("line 8", Breakpoint("2.2")),
        ("line 4", Breakpoint("2")),
        ("line 2", Breakpoint("1")),
        ("2.1: round == 2", Breakpoint("2.1", "round == 2")),
        ("2.1:q_ls[item] == ':'", Breakpoint("2.1", "q_ls[item] == ':'")),
        ("2.1 after", Breakpoint("2.1", when="after")),
        ("2.1 round 2 item 7", Breakpoint("2.1", round=2, item=7)),
        ("2.1 hits >= 3: true", Breakpoint("2.1", "true", hit_count=">= 3")),
        ("2.1 hits %5 after", Breakpoint("2.1", when="after", hit_count="%5")),
        ("2.1 => {{ q_ls[0] }}", Breakpoint("2.1", log="{{ q_ls[0] }}")),
        ("2.1: round > 1 => now {{ round }}: go", Breakpoint("2.1", "round > 1", log="now {{ round }}: go")),
    ],
)
def test_what_is_meant(program: Program, text: str, meant: Breakpoint) -> None:
    assert read_breakpoint(text, program) == meant


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2.7", "2.7: there is no such step"),
        ("lab.exted", "did you mean `lab.extend`"),
        ("line 99", "no step at line 99"),
        ("line 99999999999", "no step at line 99999999999 or below"),
        ("line 0", "counted from 1"),
        ("2.1 round 0", "counted from 1"),
        ("2.1 sometimes", "`sometimes` in `2.1 sometimes` is not understood"),
        ("2.1: q_ls[", "can't read `q_ls["),
        ("2.1 hits %0", "a hit count is like"),
        ("2.1 => {{ q_ls", "can't read"),
        ("", "is no breakpoint"),
    ],
)
def test_what_can_not_be_meant(program: Program, text: str, said: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        read_breakpoint(text, program)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("ret_psg written", Watch("written", "ret_psg")),
        ("ret_psg changes", Watch("changes", "ret_psg")),
        ("ret_psg empty", Watch("empty", "ret_psg")),
        ("q_ls | length > 3", Watch("true", "q_ls | length > 3")),
    ],
)
def test_watches(text: str, meant: Watch) -> None:
    assert read_watch(text) == meant


def test_a_watch_that_can_not_be_read() -> None:
    with pytest.raises(ExpressionError):
        read_watch("q_ls is is")
