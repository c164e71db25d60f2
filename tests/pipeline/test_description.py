"""``server.yaml`` beside a server: its mistakes, with their places."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.lab import prepared
from workbench.pipeline.declaration import Argument, ServerDeclaration, ToolDeclaration
from workbench.pipeline.prepare import Prepared, prepare
from workbench.pipeline.problems import PipelineError

SERVER = "from fastmcp import FastMCP\napp = FastMCP('plain')\n@app.tool\ndef up(words, n=1): ...\n"


def prepared_beside(project: Path, description: str, server: str = SERVER) -> Prepared:
    folder = project / "servers/plain"
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src/plain.py").write_text(server, encoding="utf-8")
    (folder / "server.yaml").write_text(description, encoding="utf-8")
    file = project / "p.yaml"
    file.write_text("servers: {plain: servers/plain}\npipeline: [plain.up: {input: {words: [a]}}]\n", encoding="utf-8")
    return prepare(file)


@pytest.mark.parametrize(
    ("description", "said"),
    [
        (
            "tools:\n  up: {output: 5}\n",
            "2:16: `output:` of `up` must be a list of names, as in [ans_ls], not a number",
        ),
        ("tools:\n  up: {output: q_ls}\n", "2:16: `output:` of `up` must be a list of names"),
        ("tools:\n  up: {output: [[a]]}\n", "2:17: an output of `up` must be a name, not a list"),
        ("tools:\n  up: {output: [a b]}\n", "2:17: an output of `up` must be a name, not 'a b'"),
        ("tools:\n  up: {input: [a]}\n", "2:15: `input:` of `up` must be a map, not a list"),
        ("tools:\n  up: {input: {n: 3}}\n", "2:19: input `n` of `up` must be a variable or $parameter, not a number"),
        ("tools:\n  up: {outputs: [a]}\n", "`up` has the unknown key `outputs`; did you mean `output`?"),
        ("tools: [a]\n", "1:8: `tools:` must be a map, not a list; the file's shape is tools: {name: {input:"),
        ("tools: {up: x}\n", "1:13: `up:` must be a map, not a text"),
        ("- a\n", "1:1: `server.yaml` must be a map, not a list"),
        ("tools: {\n", "2:1: not valid YAML"),
        ("tools: {up: {}, up: {}}\n", "1:17: the key `up` is already on line 1"),
    ],
)
def test_one_mistake(project: Path, description: str, said: str) -> None:
    with pytest.raises(PipelineError) as error:
        prepared_beside(project, description)
    assert f"{project / 'servers/plain/server.yaml'}:" in str(error.value)
    assert said in str(error.value)


@pytest.mark.parametrize("description", ["", "# nothing\n", "tools:\n", "tools: {up: }\n", "path: x\ntools: {}\n"])
def test_a_file_that_says_nothing_is_in_order(project: Path, description: str) -> None:
    prepared_beside(project, description)


def test_a_server_written_with_the_kit_does_not_need_it(project: Path) -> None:
    (project / "servers/lab/server.yaml").write_text("tools: [a]\n", encoding="utf-8")
    prepared(project, "- lab.get\n")
    prepared_beside(project, "tools: [a]\n", f"{SERVER}@app.tool\ndef build(parameter_file): ...\n")


def test_a_running_server_is_checked_with_the_file(project: Path) -> None:
    found = prepared_beside(project, "tools: {up: {output: [up_ls]}}\n")
    live = ServerDeclaration("plain", {"up": ToolDeclaration("up", "tool", (Argument("words"),))})
    assert [output.target for output in found.checked_with({"plain": live}).bindings["1"].outputs] == ["up_ls"]
    (project / "servers/plain/server.yaml").write_text("tools: 5\n", encoding="utf-8")
    assert "`tools:` must be a map" in str(found.checked_with({"plain": live}).errors[0])
