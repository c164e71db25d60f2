"""The reader: every step form with its place, and every mistake in one pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.pipeline.model import (
    BranchStep,
    FromMemory,
    FromParameter,
    FromVariable,
    Literal,
    LoopStep,
    ToolStep,
    walk,
)
from workbench.pipeline.problems import PipelineError, Position
from workbench.pipeline.reader import read_pipeline

WHOLE = """\
servers:
  a: servers/a
items: q_ls
whole: [table]
pipeline:
- a.plain
- a.mapped:
    input: {x: q_ls, top: $top, past: mem_q_ls, n: 3, list: [1, {k: yes}], nothing: null}
    output: {q_ls: out_ls}
- loop:
    times: 2
    steps:
    - a.inner
    - branch:
        router:
        - a.lead_in
        - a.route
        branches:
          yes: [a.go]
          on:
          "dotted.state": [a.dot]
"""


def read(tmp_path: Path, text: str) -> list[str]:
    """The problems of a pipeline text, without the file's name."""
    file = tmp_path / "p.yaml"
    file.write_text(text, encoding="utf-8")
    try:
        read_pipeline(file)
    except PipelineError as error:
        return [str(problem).removeprefix(f"{file}:").strip() for problem in error.problems]
    return []


def test_every_step_form(tmp_path: Path) -> None:
    file = tmp_path / "whole.yaml"
    file.write_text(WHOLE, encoding="utf-8")
    pipeline = read_pipeline(file)
    assert [step.path for step in walk(pipeline.steps)] == [
        "1", "2", "3", "3.1", "3.2", "3.2.router.1", "3.2.router.2", "3.2.yes.1", '3.2."dotted.state".1',
    ]  # fmt: skip
    plain, mapped, loop = pipeline.steps
    assert isinstance(plain, ToolStep)
    assert (plain.alias, plain.tool, plain.position) == ("a", "plain", Position(6, 3))
    assert isinstance(mapped, ToolStep)
    assert mapped.inputs == {
        "x": FromVariable("q_ls"),
        "top": FromParameter("top"),
        "past": FromMemory("q_ls"),
        "n": Literal(3),
        "list": Literal([1, {"k": True}]),
        "nothing": Literal(None),
    }
    assert mapped.outputs == {"q_ls": "out_ls"}
    assert isinstance(loop, LoopStep)
    branch = loop.steps[1]
    assert isinstance(branch, BranchStep)
    assert list(branch.branches) == ["yes", "on", "dotted.state"]
    assert (pipeline.items, pipeline.whole) == ("q_ls", {"table"})


def test_a_line_belongs_to_the_innermost_step(tmp_path: Path) -> None:
    file = tmp_path / "whole.yaml"
    file.write_text(WHOLE, encoding="utf-8")
    pipeline = read_pipeline(file)
    at = {line: step.path for line in range(1, 22) if (step := pipeline.step_at_line(line))}
    assert at[1] == "1"
    assert at[8] == "2"
    assert at[10] == at[11] == "3"
    assert at[14] == "3.2"
    assert at[17] == "3.2.router.2"
    assert at[21] == '3.2."dotted.state".1'


def test_all_mistakes_in_one_pass(tmp_path: Path) -> None:
    problems = read(
        tmp_path,
        "servers:\n  lab: servers/lab\nextra: 1\npipeline:\n- labb.x\n- lab\n"
        "- lab.t:\n    seconds: 0\n"
        "- loop:\n    max_iterations: 3\n    body: []\n- branch:\n  - if: x\n"
        "- lab.t:\n    output: {a: memory_a}\n- 7\n",
    )
    assert [p.split(":")[0] for p in problems] == ["3", "5", "6", "8", "10", "10", "10", "11", "13", "15", "16"]
    text = "\n".join(problems)
    assert "5:3: step 1: there is no server `labb`; did you mean `lab`?" in text
    assert "unknown key `seconds`; only `input` and `output` are allowed" in text
    assert "loop 4 has no `times`; a loop has exactly `times` and `steps`" in text
    assert "no output may be called `memory_a`" in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ("# only a comment\n", "the file is empty"),
        ("- a\n- b\n", "1:1: a pipeline is a map with `servers:` and `pipeline:`; this is a list"),
        ("servers: {a: b}\npipeline: []\n", "`pipeline:` must be a list of steps, not an empty list"),
        ("servers: {a: b}\npipeline:\n- a.t:\n    input: {x: ${K}}\n", "4:17: not valid YAML"),
        ("servers: {a: b, a: c}\npipeline: [a.t]\n", "1:17: the server `a` is already on line 1"),
        ("servers: {a: b}\npipeline: [a.b.c]\n", "`a.b.c` is not `server.tool`"),
        ("servers: {a: b}\npipeline:\n- name: clean\n", "step 1 is a map whose first key `name` is not `server.tool`"),
        ("servers: {a: b}\npipeline:\n- loop: {times: '3', steps: [a.t]}\n", 'must be a whole number from 0, not "3"'),
        ("servers: {a: b}\npipeline:\n- loop: {times: true, steps: [a.t]}\n", "must be a whole number from 0"),
        ("servers: {a: b}\npipeline:\n- loop: {times: -1, steps: [a.t]}\n", "must be a whole number from 0, not -1"),
        (
            "servers: {a: b}\npipeline:\n- branch: {router: [], branches: {}}\n",
            "must be a list of steps that ends with",
        ),
        (
            "servers: {a: b}\npipeline:\n- branch: {router: [loop: {times: 1, steps: [a.t]}], branches: {}}\n",
            "must be a tool, not a loop",
        ),
        ("servers: {a: b}\npipeline:\n- a.t\n  input: {x: y}\n", "not valid YAML"),
        (
            "servers: {a: b}\npipeline:\n- a.t:\n  input: {x: y}\n",
            "has the further key `input`; a step is a map with one",
        ),
        ("servers: {a: b}\npipeline: &p\n- loop: {times: 1, steps: *p}\n", "contain themselves"),
        ("servers: {a: b}\npipeline: [\x00]\n", "not valid YAML"),
    ],
)
def test_one_mistake(tmp_path: Path, text: str, said: str) -> None:
    assert said in "\n".join(read(tmp_path, text))


def test_nested_too_deeply(tmp_path: Path) -> None:
    assert "nest" in "".join(read(tmp_path, "a: " + "[" * 3000))


def test_files_that_can_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "rag.yaml").write_text("x", encoding="utf-8")
    (tmp_path / "binary.yaml").write_bytes(b"servers: \xff\xfe")
    for path, said in (
        (tmp_path / "rga.yaml", "no such file; did you mean `rag.yaml`"),
        (tmp_path, "this is a folder, not a pipeline file; pipelines in it: binary.yaml, rag.yaml"),
        (tmp_path / "binary.yaml", "not a text file in UTF-8 (byte 9)"),
    ):
        with pytest.raises(PipelineError, match=str(path)) as refused:
            read_pipeline(path)
        assert said in str(refused.value)


def test_byte_order_mark_and_windows_lines(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_bytes(b"\xef\xbb\xbfservers:\r\n  a: servers/a\r\npipeline:\r\n- a.t\r\n")
    assert [step.position for step in read_pipeline(file).steps] == [Position(4, 3)]
