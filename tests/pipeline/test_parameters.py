"""Misspelt and misplaced parameters: what files and ``--set`` give that nothing takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.lab import prepared, refused

STEPS = "- lab.get\n- lab.search\n"


def write(project: Path, text: str) -> Path:
    file = project / "parameter" / "p_parameter.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def warnings(project: Path, steps: str = STEPS) -> list[str]:
    found = prepared(project, steps).warnings
    return [str(warning) for warning in found if "the default" not in warning.message]


def test_a_set_that_nothing_takes(project: Path) -> None:
    text = refused(project, STEPS, sets=["lab.top_kk=secret"])
    assert "--set lab.top_kk: nothing of server `lab` takes a parameter `top_kk`; did you mean `top_k`?" in text
    assert "secret" not in text


@pytest.mark.parametrize("name", ["top_k", "extra", "own", "query_list"])
def test_a_set_that_a_file_a_tool_or_a_step_takes(project: Path, name: str) -> None:
    write(project, "lab: {own: 1}\n")
    prepared(project, STEPS, sets=[f"lab.{name}=[a]"])
    prepared(project, "- lab.get:\n    input: {items: $mine}\n", sets=["lab.mine=[a]"])


def test_a_set_for_a_server_that_may_have_more_tools(project: Path) -> None:
    with (project / "servers/lab/src/lab.py").open("a", encoding="utf-8") as server:
        server.write("import helper\nhelper.add(app)\n")
    prepared(project, STEPS, sets=["lab.nn=1"])


def test_a_key_that_nothing_takes_is_warned_of(project: Path) -> None:
    file = write(project, "lab:\n  topk: 3\n  extra: 1\n  top_k: 4\n")
    said = f"{file}:2:3: warning: nothing of server `lab` takes a parameter `topk`; did you mean `top_k`?"
    assert warnings(project) == [said]


def test_a_misspelt_section_is_warned_of(project: Path) -> None:
    file = write(project, "lap: {top_k: 3}\nother: {x: 1}\n")
    assert warnings(project) == [
        f"{file}:1:1: warning: the section `lap` is of no server in p.yaml; did you mean `lab`?"
    ]
    write(project, "lab: {top_k: 3}\nlap: {top_k: 3}\n")
    assert warnings(project) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lab: {}\nlab: {top_k: 1}\n", ":2:1: the key `lab` is already on line 1"),
        ("lab:\n  extra:\n    a: 1\n    a: 2\n", ":4:5: the key `a` is already on line 3"),
    ],
)
def test_keys_that_stand_twice(project: Path, text: str, said: str) -> None:
    file = write(project, text)
    assert f"{file}{said}" in refused(project, STEPS)
    server = project / "servers/lab/parameter.yaml"
    server.write_text(text, encoding="utf-8")
    assert f"{server}{said}" in refused(project, STEPS)


def test_a_file_that_can_not_be_read_hides_only_what_hangs_on_it(project: Path) -> None:
    (project / "servers/lab/parameter.yaml").write_text("top_k: [\n", encoding="utf-8")
    text = refused(project, "- lab.get\n- lab.ask\n- lab.gett\n", param_file="nowhere.yaml")
    assert "parameter.yaml:2:1: not valid YAML" in text
    assert "nowhere.yaml: the parameter file does not exist" in text
    assert "has no tool or prompt `gett`" in text
    assert len(text.splitlines()) == 3
