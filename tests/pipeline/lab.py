"""A project with one small server, and what ``prepare`` says of pipelines in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.pipeline.binding import Binding
from workbench.pipeline.prepare import Prepared, prepare
from workbench.pipeline.problems import PipelineError

SERVER = """
from workbench.mcp.kit import ToolServer
app = ToolServer("lab")

@app.tool(output="items->q_ls,gt_ls")
def get(items): ...

@app.tool(output="q_ls,top_k,extra->ret_psg")
def search(query_list, top_k=2, extra=None): ...

@app.tool(output="q_ls->q_ls")
def route(q_ls): ...

@app.tool(output="q_ls->None")
def note(q_ls): ...

@app.prompt(output="q_ls,greeting->prompt_ls")
def ask(q_ls, greeting): ...

@app.tool(output="benchmark->q_ls", outputs_from="benchmark.key_map")
def get_data(benchmark): ...
"""
PARAMETERS = "items: [a, b]\ntop_k: 3\ngreeting: hello\nbenchmark: {key_map: {q_ls: question, choices_ls: choices}}\n"


def prepared(project: Path, steps: str, head: str = "", **options: object) -> Prepared:
    file = project / "p.yaml"
    file.write_text(f"servers: {{lab: servers/lab}}\n{head}pipeline:\n{steps}", encoding="utf-8")
    return prepare(file, **options)  # type: ignore[arg-type]


def refused(project: Path, steps: str, head: str = "", **options: object) -> str:
    with pytest.raises(PipelineError) as error:
        prepared(project, steps, head, **options)
    return str(error.value)


def binding(project: Path, steps: str, path: str, **options: object) -> Binding:
    return prepared(project, steps, **options).checked.bindings[path]
