"""A pipeline with a memory server saves its questions and answers after the run, unless it does so itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.api.pipeline_tests import PipelineRunner
from workbench.engine.events import StepSkipped
from workbench.pipeline.prepare import prepare

SERVERS = {
    "notes": """
from workbench.mcp.kit import ToolServer

app = ToolServer("notes")


@app.tool(output="user_id->known")
def get_global_memory(user_id: str = "default"):
    return {"known": "nothing"}


@app.tool(output="user_id,q_ls,ans_ls->None")
def save_memory(user_id: str, q_ls: list[str], ans_ls: list[str]) -> None:
    if "bad" in q_ls:
        raise ValueError("the disk is full")
""",
    "lab": """
from workbench.mcp.kit import ToolServer

app = ToolServer("lab")


@app.tool(output="questions->q_ls")
def give(questions: list[str]):
    return {"q_ls": questions}


@app.tool(output="q_ls->q_ls")
def way(q_ls: list[str]):
    return {"q_ls": [{"data": q, "state": q} for q in q_ls]}


@app.tool(output="q_ls->ans_ls")
def answer(q_ls: list[str]):
    return {"ans_ls": [f"re {q}" for q in q_ls]}


if __name__ == "__main__":
    app.run(transport="stdio")
""",
}
HEAD = "servers:\n  lab: servers/lab\n  notes: servers/notes\npipeline:\n- lab.give\n"
ENDS = HEAD + "- notes.get_global_memory\n- lab.answer\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in SERVERS.items():
        folder = tmp_path / "servers" / name
        (folder / "src").mkdir(parents=True)
        (folder / "src" / f"{name}.py").write_text(text)
    (tmp_path / "servers/notes/src/notes.py").write_text(
        SERVERS["notes"] + '\n\nif __name__ == "__main__":\n    app.run(transport="stdio")\n'
    )
    (tmp_path / "servers/lab/parameter.yaml").write_text("questions: [a, b]\n")
    return tmp_path


def written(project: Path, text: str) -> Path:
    (project / "p.yaml").write_text(text)
    return project / "p.yaml"


async def test_all_items_are_saved_after_the_run(ragwb_pipeline: PipelineRunner, project: Path) -> None:
    run = await ragwb_pipeline(written(project, ENDS))
    run.assert_finished()
    [saved] = run.visits("notes.save_memory")
    assert (saved.step, saved.number) == ("4", 4)
    assert saved.bound is not None
    assert saved.bound.arguments() == {"user_id": "default", "q_ls": ["a", "b"], "ans_ls": ["re a", "re b"]}
    [step] = [step for step in prepare(project / "p.yaml").pipeline.tool_steps() if step.is_implied]
    assert step.position.line == 3, "it stands at the line of its server"


async def test_items_that_have_no_answer_are_left_out(ragwb_pipeline: PipelineRunner, project: Path) -> None:
    """Only one branch answers: what it did is saved all the same."""
    branch = "- branch: {router: [lab.way], branches: {a: [lab.answer], b: []}}\n"
    run = await ragwb_pipeline(written(project, HEAD + "- notes.get_global_memory\n" + branch))
    run.assert_finished()
    [saved] = run.visits("notes.save_memory")
    assert saved.bound is not None
    assert saved.items == (0,)
    assert saved.bound.arguments() == {"user_id": "default", "q_ls": ["a"], "ans_ls": ["re a"]}


async def test_a_save_that_fails_is_told_and_fails_no_run(ragwb_pipeline: PipelineRunner, project: Path) -> None:
    run = await ragwb_pipeline(written(project, ENDS), sets=['lab.questions=["bad"]'])
    run.assert_finished()
    [skipped] = [event for event in run.events if isinstance(event, StepSkipped)]
    assert (skipped.step, skipped.name) == ("4", "notes.save_memory")
    assert skipped.reason.startswith("it failed, and the run is over all the same: notes.save_memory failed:")
    assert "the disk is full" in skipped.reason


@pytest.mark.parametrize(
    "text",
    [
        ENDS + "- notes.save_memory: {input: {user_id: q_ls}}\n",
        HEAD + "- notes.get_global_memory\n",
        HEAD + "- lab.answer\n",
        HEAD + "- notes.get_global_memory\n- lab.answer: {output: {ans_ls: other_ls}}\n",
    ],
    ids=["it saves itself", "no answers", "no step of the memory server", "no ans_ls"],
)
def test_where_nothing_is_added(project: Path, text: str) -> None:
    prepared = prepare(written(project, text), checks=False)
    assert not [step for step in prepared.pipeline.tool_steps() if step.is_implied]
