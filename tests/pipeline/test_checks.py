"""What is wrong with a pipeline and can be known without starting a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.pipeline.binding import Binding
from workbench.pipeline.model import FromParameter, FromVariable
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


@pytest.fixture
def project(tmp_path: Path) -> Path:
    source = tmp_path / "servers" / "lab" / "src"
    source.mkdir(parents=True)
    (source / "lab.py").write_text(SERVER, encoding="utf-8")
    (source.parent / "parameter.yaml").write_text(PARAMETERS, encoding="utf-8")
    return tmp_path


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


def test_names_of_parameters_mean_parameters(project: Path) -> None:
    bound = binding(project, "- lab.get\n- lab.search\n", "2")
    assert bound.inputs == {"query_list": FromVariable("q_ls"), "top_k": FromParameter("top_k")}
    assert [output.target for output in bound.outputs] == ["ret_psg"]


def test_outputs_from_a_parameter(project: Path) -> None:
    bound = binding(project, "- lab.get_data\n- lab.search\n", "1")
    assert [output.target for output in bound.outputs] == ["q_ls", "choices_ls"]


def test_a_renamed_output_keeps_the_others(project: Path) -> None:
    bound = binding(project, "- lab.get:\n    output: {q_ls: instruction_ls}\n", "1")
    assert [output.target for output in bound.outputs] == ["instruction_ls", "gt_ls"]
    text = refused(project, "- lab.get:\n    output: {q_ls: instruction_ls}\n- lab.search\n")
    assert "step 2 (lab.search) reads the variable `q_ls`, which no earlier step gives" in text


def test_renames_belong_to_their_step(project: Path) -> None:
    steps = "- lab.get\n- lab.search:\n    input: {query_list: gt_ls}\n- lab.search\n"
    assert binding(project, steps, "3").inputs["query_list"] == FromVariable("q_ls")


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ("- lab.gett\n", "3:3: server `lab` has no tool or prompt `gett`; did you mean `get`"),
        ("- lab.get:\n    input: {n: 1}\n", "4:13: tool `lab.get` has no parameter `n` (it has: items)"),
        ("- lab.get:\n    output: {results: x}\n", "tool `lab.get` has no output `results` (it has: q_ls, gt_ls)"),
        ("- lab.get:\n    output: {q_ls: gt_ls}\n", "the outputs `q_ls` and `gt_ls` would both be called `gt_ls`"),
        ("- lab.get\n- lab.search:\n    input: {query_list: hello}\n", "put it into the parameter file and write"),
        ("- lab.get\n- lab.search:\n    input: {top_k: $topk}\n", "did you mean `top_k`?"),
        ("- lab.get:\n    input: {items: mem_qq_ls}\n", "reads `memory_qq_ls`, but no step gives `qq_ls`"),
        ("- lab.get\n- branch: {router: [lab.note], branches: {a: []}}\n", "the router `lab.note` has no outputs"),
    ],
)
def test_one_mistake(project: Path, steps: str, said: str) -> None:
    assert said in refused(project, steps)


def test_names_at_the_top_must_be_given_by_a_step(project: Path) -> None:
    text = refused(project, "- lab.get\n", head="items: qq_ls\nwhole: [table]\n")
    assert "`items:` names `qq_ls`, which no step gives; did you mean `q_ls`" in text
    assert "`whole:` names `table`" in text


def test_a_parameter_that_is_nowhere(project: Path) -> None:
    (project / "servers/lab/parameter.yaml").write_text("top_k: 3\n", encoding="utf-8")
    text = refused(project, "- lab.get:\n    input: {items: $items}\n- lab.ask\n")
    assert "step 1 (lab.get) needs the parameter `items`, which is in neither" in text
    assert str(project / "parameter/p_parameter.yaml") in text
    assert str(project / "servers/lab/parameter.yaml") in text
    assert "step 2 (lab.ask) reads the variable `greeting`" in text


def test_the_nearest_parameter_counts(project: Path) -> None:
    (project / "parameter").mkdir()
    (project / "parameter/p_parameter.yaml").write_text("lab: {top_k: 5}\n", encoding="utf-8")
    (project / "other.yaml").write_text("lab: {greeting: hi}\n", encoding="utf-8")
    found = prepared(
        project, "- lab.get\n- lab.search\n", param_file=str(project / "other.yaml"), sets=["lab.items=[x]"]
    )
    values = found.parameters.of("lab")
    assert (values["top_k"].value, values["greeting"].value, values["items"].value) == (5, "hi", ["x"])
    assert values["items"].origin == "--set"
    assert values["top_k"].origin.endswith("p_parameter.yaml")


def test_set_reaches_inside_and_is_checked(project: Path) -> None:
    found = prepared(project, "- lab.get_data\n", sets=["lab.benchmark.key_map.q_ls=text"])
    assert found.parameters.of("lab")["benchmark"].value["key_map"] == {"q_ls": "text", "choices_ls": "choices"}
    text = refused(project, "- lab.get\n", sets=["lap.x=1", "lab", "lab.top_k.inner=1"])
    assert "there is no server `lap`; did you mean `lab`?" in text
    assert "must be alias.parameter=value" in text
    assert "`inner` is not inside a map" in text


def test_environment_in_parameter_files(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "servers/lab/parameter.yaml").write_text("items: ['${ONE}', '$$5', '${TWO}']\n", encoding="utf-8")
    (project / ".env").write_text("TWO=from file\n", encoding="utf-8")
    monkeypatch.setenv("ONE", "1")
    assert prepared(project, "- lab.get\n").parameters.of("lab")["items"].value == ["1", "$5", "from file"]
    monkeypatch.delenv("ONE")
    assert "needs the environment variable `ONE`" in refused(project, "- lab.get\n")


def test_empty_parameter_files_count_as_empty(project: Path) -> None:
    (project / "servers/lab/parameter.yaml").write_text("# nothing here\n", encoding="utf-8")
    (project / "parameter").mkdir()
    (project / "parameter/p_parameter.yaml").write_text("lab: null\n", encoding="utf-8")
    prepared(project, "- lab.get:\n    input: {items: [a]}\n")


def test_servers_that_are_not_there(project: Path) -> None:
    file = project / "p.yaml"
    file.write_text("servers: {lab: servers/lab, ghost: servers/ghost}\npipeline: [lab.get]\n", encoding="utf-8")
    with pytest.raises(PipelineError) as error:
        prepare(file)
    assert str(project / "servers/ghost/src/ghost.py") in str(error.value)
    assert "no step uses `ghost`" in str(error.value)


def test_a_server_described_by_a_file_beside_it(project: Path) -> None:
    server = project / "servers/plain"
    (server / "src").mkdir(parents=True)
    (server / "src/plain.py").write_text(
        "from fastmcp import FastMCP\napp = FastMCP('plain')\n@app.tool\ndef up(words: list[str], n: int = 1): ...\n",
        encoding="utf-8",
    )
    (server / "server.yaml").write_text(
        "tools:\n  up: {input: {words: q_ls, n: $n}, output: [up_ls]}\n", encoding="utf-8"
    )
    file = project / "p.yaml"
    file.write_text(
        "servers: {lab: servers/lab, plain: servers/plain}\npipeline: [lab.get, plain.up]\n", encoding="utf-8"
    )
    bound = prepare(file).checked.bindings["2"]
    assert bound.inputs == {"words": FromVariable("q_ls")}
    assert [output.target for output in bound.outputs] == ["up_ls"]
