"""The reader: every step form with its place, and every mistake in one pass."""

from __future__ import annotations

import os
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
from workbench.pipeline.problems import PipelineError, Position, in_order
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
        problems = read_pipeline(file).problems
    except PipelineError as error:
        problems = error.problems
    return [str(problem).removeprefix(f"{file}:").strip() for problem in in_order(problems)]


def test_every_step_form(tmp_path: Path) -> None:
    file = tmp_path / "whole.yaml"
    file.write_text(WHOLE, encoding="utf-8")
    pipeline = read_pipeline(file).pipeline
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
    pipeline = read_pipeline(file).pipeline
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
        ("servers: {a: b}\npipeline: &p\n- loop: {times: 1, steps: *p}\n", "2:11: this contains itself"),
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
        (tmp_path / "rga.yaml", "no such file; did you mean `"),
        (tmp_path, "this is a folder, not a pipeline file; pipelines in it: binary.yaml, rag.yaml"),
        (tmp_path / "binary.yaml", "not a text file in UTF-8 (byte 9)"),
    ):
        with pytest.raises(PipelineError, match=str(path)) as refused:
            read_pipeline(path)
        assert said in str(refused.value)


def test_byte_order_mark_and_windows_lines(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_bytes(b"\xef\xbb\xbfservers:\r\n  a: servers/a\r\npipeline:\r\n- a.t\r\n")
    assert [step.position for step in read_pipeline(file).pipeline.steps] == [Position(4, 3)]


def test_what_is_written_counts_more_than_what_is_merged(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(
        "servers: {<<: {a: x, b: servers/b}, a: servers/a}\npipeline:\n"
        "- loop: &l {times: 1, steps: [a.t]}\n"
        "- loop: {<<: *l, times: 3}\n"
        "- a.t: &t {input: {x: q_ls}, output: {y: z}}\n"
        "- a.t: {<<: *t, input: {x: other}}\n",
        encoding="utf-8",
    )
    reading = read_pipeline(file)
    assert reading.problems == ()
    _, loop, _, step = reading.pipeline.steps
    assert isinstance(loop, LoopStep)
    assert (loop.times, [inner.path for inner in loop.steps]) == (3, ["2.1"])
    assert isinstance(step, ToolStep)
    assert (step.inputs, step.outputs) == ({"x": FromVariable("other")}, {"y": "z"})
    assert reading.pipeline.servers["a"].value == "servers/a"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("servers: {a: b}\npipeline:\n- loop: {<<: 5, times: 1, steps: [a.t]}\n", "3:14: `<<` takes a map"),
        ("servers: {a: b}\npipeline:\n- loop: {times: 1, times: 2, steps: [a.t]}\n", "`times` is already on line 3"),
        ("servers: {a: b}\npipeline:\n- a.t: {input: {x: {y: 1, y: 2}}}\n", "3:27: the key `y` is already on line 3"),
        ("servers: {a: b}\npipeline:\n- a.t: {input: {[x]: 1}}\n", "3:17: a key must be a text, not a list"),
        ("servers: {a: b}\npipeline:\n- a.t: {input: {x: !!bool x}}\n", "3:20: this value can't be read"),
    ],
)
def test_keys_and_values(tmp_path: Path, text: str, said: str) -> None:
    assert said in "\n".join(read(tmp_path, text))


def test_anchors_that_stand_for_too_much(tmp_path: Path) -> None:
    doublings = "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
    bomb = f"a0: &a0 [a.t]\n{doublings}servers: {{a: b}}\npipeline: *a59\n"
    assert "anchors make more than 100,000 values of this" in read(tmp_path, bomb)[0]
    chain = "".join(f"m{n}: &m{n} {{<<: *m{n - 1}, k{n}: 1}}\n" for n in range(1, 2000))
    assert "anchors make more than 100,000" in read(tmp_path, f"m0: &m0 {{k: 1}}\n{chain}")[0]


def test_blocks_inside_blocks(tmp_path: Path) -> None:
    def nested(levels: int) -> str:
        indents = ["    " * level for level in range(levels + 1)]
        loops = "".join(f"{i}- loop:\n{i}    times: 1\n{i}    steps:\n" for i in indents[:-1])
        return f"servers: {{a: b}}\npipeline:\n{loops}{indents[-1]}- a.t\n"

    assert read(tmp_path, nested(99)) == []
    (problem,) = read(tmp_path, nested(200))
    assert problem.startswith("303:")
    assert "blocks stand more than 100 levels inside others" in problem
    deep = "servers: {a: b}\npipeline:\n- a.t: {input: {x: " + "[" * 150 + "]" * 150 + "}}\n"
    assert "this value is nested more than 100 levels deep" in read(tmp_path, deep)[0]


def test_pipes_are_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "p.yaml"
    os.mkfifo(pipe)
    for file in (pipe, Path("/dev/zero")):
        with pytest.raises(PipelineError, match="this is a pipe or a device"):
            read_pipeline(file)


def test_a_step_ends_before_the_next_begins(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    steps = (
        "- loop:\n    times: 2\n    steps:\n    - a.b:\n        output: {x: y}\n\n"
        "    - a.c:\n        input:\n          k: |\n            l\n- a.d\n"
    )
    file.write_text(f"servers: {{a: servers/a}}\npipeline:\n{steps}", encoding="utf-8")
    found = {step.path: (step.position.line, step.last_line) for step in walk(read_pipeline(file).pipeline.steps)}
    assert found == {"1": (3, 12), "1.1": (6, 7), "1.2": (9, 12), "2": (13, 13)}
