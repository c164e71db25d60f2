"""What is wrong with a pipeline and can be known without starting a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.lab import binding, prepared, refused
from workbench.pipeline.model import FromParameter, FromVariable
from workbench.pipeline.prepare import prepare
from workbench.pipeline.problems import PipelineError


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
        (
            "- lab.get\n- lab.search:\n    input: {query_list: hello}\n",
            "(a text of your own goes into the parameter file: write `query_list: $its_name`)",
        ),
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


def test_mistakes_of_the_file_do_not_hide_those_against_servers(project: Path) -> None:
    text = refused(
        project,
        "- lab.get\n"
        "- lab.search:\n    imput: {query_list: gt_ls}\n"
        "- labb.x:\n    output: {a: made_ls}\n"
        "- lab.gett\n"
        "- lab.note:\n    input: {q_lss: made_ls}\n",
    )
    assert "step 2 (lab.search) has the unknown key `imput`" in text
    assert "there is no server `labb`" in text
    assert "has no tool or prompt `gett`" in text
    assert "has no parameter `q_lss`" in text
    assert len(text.splitlines()) == 4


@pytest.mark.parametrize(
    "unreadable",
    [
        "- loop: {times: 2, step: [lab.get]}\n",
        "- loop: 3\n",
        "- lab\n",
        "- branch: {router: [lab.get], branches: [a]}\n",
        "- branch: {routers: [lab.get], branches: {a: []}}\n",
        "- lab.search:\n    outputs: {ret_psg: own_ls}\n",
        "- lab.search: own_ls\n",
    ],
)
def test_what_can_not_be_read_may_give_any_variable(project: Path, unreadable: str) -> None:
    text = refused(project, f"{unreadable}- lab.note: {{input: {{q_ls: own_ls}}}}\n- lab.none\n", head="whole: [t]\n")
    assert "reads the variable" not in text
    assert "which no step gives" not in text
    assert "has no tool or prompt `none`" in text


def test_a_missing_server_does_not_hide_mistakes_against_others(project: Path) -> None:
    file = project / "p.yaml"
    file.write_text(
        "servers: {lab: servers/lab, ghost: servers/ghost}\n"
        "pipeline: [ghost.go: {input: {n: $n}}, lab.gett, lab.search]\n",
        encoding="utf-8",
    )
    with pytest.raises(PipelineError) as error:
        prepare(file, sets=["ghost.n=1"])
    assert [problem.position.line for problem in error.value.problems if problem.position] == [1, 2]
    assert "no tool or prompt `gett`" in str(error.value)


def test_a_server_may_be_used_by_a_step_that_can_not_be_read(project: Path) -> None:
    file = project / "p.yaml"
    file.write_text("servers: {ghost: servers/ghost}\npipeline: [loop: 3]\n", encoding="utf-8")
    with pytest.raises(PipelineError) as error:
        prepare(file)
    assert "the line may be taken out" not in str(error.value)


def test_whole_must_not_name_what_sets_the_items(project: Path) -> None:
    said = "2:9: `whole:` names `q_ls`, which sets the number of items"
    assert said in refused(project, "- lab.get\n", head="whole: [q_ls]\n")
    assert said in refused(project, "- lab.get\n", head="whole: [q_ls]\nitems: q_ls\n")
    prepared(project, "- lab.get\n", head="whole: [q_ls]\nitems: gt_ls\n")


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        ("q_ls->a,a", "tool `lab.odd`: it declares the output `a` more than once"),
        ("no arrow", "tool `lab.odd`: its annotation holds 'no arrow', which is no name"),
        ("a->b->c", "tool `lab.odd`: its annotation 'a->b->c' has more than one `->`"),
    ],
)
def test_annotations_that_can_not_be_meant(project: Path, annotation: str, said: str) -> None:
    with (project / "servers/lab/src/lab.py").open("a", encoding="utf-8") as server:
        server.write(f"@app.tool(output={annotation!r})\ndef odd(q_ls): ...\n")
    text = refused(project, "- lab.get\n- lab.odd\n- lab.note: {input: {q_ls: a}}\n")
    assert said in text
    assert len(text.splitlines()) == 1
