"""The pipelines, data and parameters that ragwb ships fit together."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from stdio import running

from workbench.pipeline.project import ServerSource
from workbench.pipeline.static_source import read_declaration

ROOT = Path(__file__).resolve().parents[2]
PIPELINES = sorted((ROOT / "pipelines").glob("*.yaml"))
SERVERS = sorted(path.parent for path in (ROOT / "servers").glob("*/parameter.yaml"))


def records(name: str) -> list[dict[str, Any]]:
    lines = (ROOT / "pipelines/data" / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def paths(value: Any) -> list[str]:
    """Every text in a parameter file that names something we ship."""
    if isinstance(value, dict):
        return [path for part in value.values() for path in paths(part)]
    return [value] if isinstance(value, str) and value.startswith("pipelines/") else []


def test_the_corpus_is_what_the_facts_say() -> None:
    spec = importlib.util.spec_from_file_location("make_corpus", ROOT / "pipelines/data/make_corpus.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    facts = yaml.safe_load((ROOT / "pipelines/data/facts.yaml").read_text(encoding="utf-8"))
    assert list(module.passages(facts)) == records("corpus.jsonl")


def test_passages_are_many_and_each_is_there_once() -> None:
    texts = [record["contents"] for record in records("corpus.jsonl")]
    assert len(texts) == len(set(texts)) >= 200


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "pipelines/data").glob("questions*.jsonl")))
def test_every_gold_answer_is_in_some_passage(name: str) -> None:
    corpus = "\n".join(record["contents"] for record in records("corpus.jsonl"))
    for question in records(name):
        assert question["golden_answers"][0] in corpus, question


def test_two_hop_answers_are_in_the_passages_they_need() -> None:
    texts = {record["id"]: record["contents"] for record in records("corpus.jsonl")}
    for question in records("questions_two_hop.jsonl"):
        first, second = (texts[passage] for passage in question["needs"])
        assert question["golden_answers"][0] in second
        assert question["golden_answers"][0] not in first


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda path: path.stem)
def test_files_that_parameters_name_are_there(pipeline: Path) -> None:
    parameters = yaml.safe_load((pipeline.parent / f"parameter/{pipeline.stem}_parameter.yaml").read_text())
    servers = yaml.safe_load(pipeline.read_text())["servers"]
    assert set(parameters) <= set(servers)
    assert [path for path in paths(parameters) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("server", SERVERS, ids=lambda path: path.name)
def test_defaults_name_files_that_are_there(server: Path) -> None:
    assert (server / "src" / f"{server.name}.py").is_file()
    defaults = yaml.safe_load((server / "parameter.yaml").read_text())
    assert [path for path in paths(defaults) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("server", SERVERS, ids=lambda path: path.name)
def test_every_parameter_reaches_a_tool(server: Path) -> None:
    """An argument that the annotation leaves out is not passed: its parameter would be without effect."""
    source = ServerSource(server.name, server.name, "ragwb", server, script=server / "src" / f"{server.name}.py")
    declaration, _ = read_declaration(source)
    assert declaration is not None
    said = {f"{tool.annotation},{tool.outputs_from or ''}" for tool in declaration.tools.values()}
    assert set(yaml.safe_load((server / "parameter.yaml").read_text())) <= set(re.findall(r"\w+", " ".join(said)))


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS, ids=lambda path: path.name)
async def test_servers_start_over_stdio(server: Path, tmp_path: Path) -> None:
    async with running(server.name, tmp_path) as running_server:
        client = running_server.client
        offered = [*await client.list_tools(), *await client.list_prompts()]
    annotated = [entry for entry in offered if "output" in ((entry.meta or {}).get("ragwb") or {})]
    assert len(annotated) == len(offered) - 1  # all but `build`
