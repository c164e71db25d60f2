"""The memory server: notes, dialogue, summary, profile and facts, each user's own."""

from __future__ import annotations

import multiprocessing
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import memory
import pytest
from fastmcp import Client
from fastmcp.exceptions import ToolError
from memory_store import Fact, Store

from workbench.api.pipeline_tests import PipelineRunner


async def call(tool: str, **arguments: Any) -> Any:
    async with Client(memory.app) as client:
        return (await client.call_tool(tool, arguments)).structured_content


async def test_a_new_user_is_not_made_up(project: Path) -> None:
    found = await call("get_global_memory", user_id="new")
    assert found == {"global_memory_content": "", "current_user_id": "new"}
    (project / "output/memory/new/MEMORY.md").write_text("Likes boats.\n", encoding="utf-8")
    assert (await call("get_global_memory", user_id="new"))["global_memory_content"] == "Likes boats.\n"


@pytest.mark.parametrize("user", ["../x", "a/b", "", "x" * 300, "a\0", "ü"])
async def test_ids_that_could_lead_elsewhere_are_refused(project: Path, user: str) -> None:
    with pytest.raises(ToolError, match="is no user id"):
        await call("get_global_memory", user_id=user)
    assert not list(project.rglob("MEMORY.md"))


async def test_what_was_said_is_kept_for_people_and_as_turns(project: Path) -> None:
    await call("save_memory", user_id="ann", q_ls=["Who?\n## not a heading", "When?"], ans_ls=["Bea", "1848"])
    (notes,) = (project / "output/memory/ann/project").glob("*.md")
    text = notes.read_text(encoding="utf-8")
    assert text.count("\n## ") + text.startswith("## ") == 2
    assert "- user: Who?\n  ## not a heading\n- assistant: Bea\n" in text
    messages = (await call("get_buffer", user_id="ann"))["messages"]
    assert [m["role"] for m in messages] == ["user", "assistant"] * 2
    assert (await call("get_window", user_id="ann", window=1))["messages"] == messages[2:]
    assert (await call("get_window", user_id="bob", window=1))["messages"] == []
    await call("forget_dialogue", user_id="ann")
    assert (await call("get_buffer", user_id="ann"))["messages"] == []


@pytest.mark.parametrize(
    ("q_ls", "ans_ls", "said"),
    [
        ([], [], []),
        ([" "], ["b"], ["not remembered: [0] q_ls is empty"]),
        (["a", "b"], ["", " "], ["not remembered: [0] ans_ls is empty, [1] ans_ls is empty"]),
    ],
)
async def test_nothing_to_remember(project: Path, q_ls: list[str], ans_ls: list[str], said: list[str]) -> None:
    async with Client(memory.app) as client:
        result = await client.call_tool("save_memory", {"user_id": "ann", "q_ls": q_ls, "ans_ls": ans_ls})
    assert (result.meta or {}).get("ragwb", {}).get("warnings", []) == said
    assert await call("get_buffer", user_id="ann") == {"messages": []}


async def test_questions_without_their_answers_are_refused(project: Path) -> None:
    with pytest.raises(ToolError, match="q_ls has 1, ans_ls has 2"):
        await call("save_memory", user_id="ann", q_ls=["a"], ans_ls=["b", "c"])


async def test_what_is_empty_does_not_cost_the_others(project: Path) -> None:
    async with Client(memory.app) as client:
        asked = {"user_id": "ann", "q_ls": ["a", " ", "c"], "ans_ls": ["", "b", "d"]}
        saved = await client.call_tool("save_memory", asked, meta={"items": [4, 6, 7]})
    assert saved.meta is not None
    assert saved.meta["ragwb"]["warnings"] == ["not remembered: [4] ans_ls is empty, [6] q_ls is empty"]
    messages = (await call("get_buffer", user_id="ann"))["messages"]
    assert [message["content"] for message in messages] == ["c", "d"]


async def test_what_is_said_while_a_summary_is_made_is_not_in_it(project: Path) -> None:
    await call("save_memory", user_id="ann", q_ls=["a"], ans_ls=["b"])
    await call("get_summary", user_id="ann")
    await call("save_memory", user_id="ann", q_ls=["c"], ans_ls=["d"])
    await call("save_summary", user_id="ann", summary_ls=["they spoke of a"])
    assert (await call("get_summary", user_id="ann"))["unsummarised"] == "user: c\nassistant: d"


async def test_a_summary_and_the_turns_since(project: Path) -> None:
    await call("save_memory", user_id="ann", q_ls=["a"], ans_ls=["b"])
    assert await call("get_summary", user_id="ann") == {"summary": "", "unsummarised": "user: a\nassistant: b"}
    await call("save_summary", user_id="ann", summary_ls=["they spoke of a "])
    await call("save_memory", user_id="ann", q_ls=["c"], ans_ls=["d"])
    found = await call("get_summary", user_id="ann")
    assert found == {"summary": "they spoke of a", "unsummarised": "user: c\nassistant: d"}
    await call("save_summary", user_id="ann", summary_ls=[" "])
    assert await call("get_summary", user_id="ann") == found, "an empty summary changes nothing"


async def test_a_profile_grows_and_forgets(project: Path) -> None:
    learnt = [{"name": "Ann"}, 'So: {"town": "Marl", "boat": "Blue Heron"} it is.', {"boat": None}]
    assert (await call("update_profile", user_id="ann", profile_ls=learnt))["profile"] == {
        "name": "Ann",
        "town": "Marl",
    }
    assert (await call("get_profile", user_id="ann"))["profile"] == {"name": "Ann", "town": "Marl"}
    with pytest.raises(ToolError, match=r"profile_ls\[1\] is no map: '7'"):
        await call("update_profile", user_id="ann", profile_ls=[{"a": 1}, 7])
    await call("update_profile", user_id="ann", profile_ls=["nothing new"])
    assert (await call("get_profile", user_id="ann"))["profile"] == {"name": "Ann", "town": "Marl"}


async def test_a_script_is_given_one_question_at_a_time(project: Path) -> None:
    asked = [(await call("next_question", user_id="ann", script_ls=["a", "b"]))["q_ls"] for _ in range(3)]
    assert asked == [["a"], ["b"], [""]]
    await call("forget_dialogue", user_id="ann")
    assert (await call("next_question", user_id="ann", script_ls=["a", "b"]))["q_ls"] == ["a"]


FACTS = [
    {
        "subject": "Ann",
        "relation": "is captain of",
        "object": "Blue Heron",
        "valid_from": "2020",
        "valid_to": "2023-05",
    },
    {"subject": "Bea", "relation": "is captain of", "object": "Blue Heron", "valid_from": "2023-05"},
    {"subject": "Blue Heron", "relation": "sails to", "object": "Marl"},
    {"subject": "Marl", "relation": "has a fair in", "object": "May"},
]


async def test_facts_by_steps_and_dates(project: Path) -> None:
    await call("add_facts", user_id="ann", fact_ls=[FACTS, str(FACTS[0]).replace("'", '"')])

    async def search(question: str, **options: Any) -> list[str]:
        found: list[list[str]] = (await call("search_facts", user_id="ann", q_ls=[question], **options))["fact_psg"]
        return found[0]

    ann = "Ann is captain of Blue Heron from 2020 until 2023-05"
    bea = "Bea is captain of Blue Heron from 2023-05"
    assert await search("Where does ann go?", hops=1) == [ann]
    assert await search("Where does Ann go?") == [ann, "Blue Heron sails to Marl", bea]
    assert (await search("Where does Ann go?", hops=3))[-1] == "Marl has a fair in May"
    assert await search("Who has the Blue Heron?", hops=1, at="2021-03") == ["Blue Heron sails to Marl", ann]
    assert await search("Who has the Blue Heron?", hops=1, at="2023-06-01") == ["Blue Heron sails to Marl", bea]
    assert await search("Annabel?") == []
    with pytest.raises(ToolError, match="a date is like 2024"):
        await search("Ann", at="yesterday")


async def test_a_fact_takes_the_place_of_another(project: Path) -> None:
    lives = {"subject": "Ann", "relation": "lives in"}
    for town, since in (("Marl", "2020"), ("Drumlow", "2024")):
        await call("add_facts", user_id="ann", replaces=True, fact_ls=[{**lives, "object": town, "valid_from": since}])
    found = await call("search_facts", user_id="ann", q_ls=["Ann"], hops=1, at="2025")
    assert found["fact_psg"] == [["Ann lives in Drumlow from 2024"]]
    with pytest.raises(ToolError, match=r"fact_ls\[0\]: a fact needs relation and object"):
        await call("add_facts", user_id="ann", fact_ls=[{"subject": "Ann"}])


@pytest.mark.parametrize(
    ("facts", "known"),
    [
        (["Marl", "Drumlow"], ["Marl until 2026-05-01", "Drumlow"]),
        (["Marl", "Drumlow", "Marl"], ["Marl", "Drumlow until 2026-05-01"]),
        (["Marl from 2030", "Drumlow"], ["Marl from 2030", "Drumlow until 2030"]),
        (["Drumlow from 2024", "Marl from 2020"], ["Drumlow from 2024", "Marl from 2020 until 2024"]),
        (
            ["Marl from 2020", "Drumlow from 2024", "Gull from 2022"],
            ["Marl from 2020 until 2022", "Drumlow from 2024", "Gull from 2022 until 2024"],
        ),
        (["Marl from 2020", "Drumlow until 2015"], ["Marl from 2020", "Drumlow until 2015"]),
        (["Marl from 2020", "Marl from 2020 until 2021"], ["Marl from 2020 until 2021"]),
    ],
)
def test_one_thing_is_true_at_a_time_in_whatever_order_it_is_learnt(
    tmp_path: Path, facts: list[str], known: list[str]
) -> None:
    store = Store(tmp_path)
    for text in facts:
        town, _, rest = text.partition(" ")
        begin, _, end = rest.removeprefix("from ").partition("until ")
        fact = Fact("Ann", "lives in", town, begin.strip(), end)
        store.add_facts([fact], replaces=True, today="2026-05-01")
    assert {str(fact) for _, fact in store.facts_about(["Ann"], 1, "")} == {f"Ann lives in {text}" for text in known}


def test_an_end_that_is_learnt_later_is_kept(tmp_path: Path) -> None:
    store, fact = Store(tmp_path), Fact("Ann", "lives in", "Marl", "2020")
    for end in ("", "2024", ""):
        store.add_facts([replace(fact, valid_to=end)], replaces=False, today="2026-05-01")
    assert store.facts_about(["Ann"], 1, "") == [(1, replace(fact, valid_to="2024"))]


@pytest.mark.parametrize(
    ("fact", "date", "held"),
    [
        (Fact("a", "r", "b"), "1900", True),
        (Fact("a", "r", "b", "2020-05"), "2020", True),
        (Fact("a", "r", "b", "2020-05"), "2020-04-30", False),
        (Fact("a", "r", "b", "2020", "2021"), "2021-01-01", False),
        (Fact("a", "r", "b", "2020", "2021"), "2020-12", True),
    ],
)
def test_when_a_fact_held(fact: Fact, date: str, held: bool) -> None:
    assert fact.held_at(date) == held


PIPELINE = """\
servers: {benchmark: servers/benchmark, custom: servers/custom, memory: servers/memory}
pipeline:
- benchmark.get_data
- memory.get_global_memory
- custom.iterretgen_nextquery: {input: {ans_ls: gt_ls}, output: {nextq_ls: ans_ls}}
"""


async def test_memory_folder_says_where_all_of_it_is(ragwb_pipeline: PipelineRunner, tmp_path: Path) -> None:
    """Also for the step that saves after the run, which no pipeline has in its text."""
    (tmp_path / "p.yaml").write_text(PIPELINE, encoding="utf-8")
    (tmp_path / "q.jsonl").write_text('{"question": "Who?", "golden_answers": ["Ann"]}\n', encoding="utf-8")
    folder = tmp_path / "elsewhere"
    (folder / "bea").mkdir(parents=True)
    (folder / "bea/MEMORY.md").write_text("Likes boats.\n", encoding="utf-8")
    sets = [f"memory.memory_folder={folder}", "memory.user_id=bea", f"benchmark.benchmark.path={tmp_path / 'q.jsonl'}"]
    run = await ragwb_pipeline(tmp_path / "p.yaml", sets=sets)
    run.assert_finished()
    assert run.variable("global_memory_content") == "Likes boats.\n"
    [saved] = run.visits("memory.save_memory")
    assert saved.bound is not None
    assert saved.bound.arguments()["memory_folder"] == str(folder)
    assert Store(folder / "bea").turns() == [(1, "Who?", "Who? ['Ann']")]


def _write(folder: str, name: str) -> None:
    for number in range(20):
        memory.save_memory("ann", [f"{name}{number}"], ["x"], memory_folder=folder)
        memory.update_profile("ann", [{f"{name}{number}": 1}], memory_folder=folder)


def test_nothing_is_lost_when_two_write_at_once(project: Path) -> None:
    folder = str(project / "both")
    writers = [multiprocessing.get_context("fork").Process(target=_write, args=(folder, name)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    (notes,) = (project / "both/ann/project").glob("*.md")
    assert notes.read_text(encoding="utf-8").count("- user: ") == 40
    turns = Store(project / "both/ann").turns()
    assert sorted(question for _, question, _ in turns) == sorted(f"{name}{n}" for name in "ab" for n in range(20))
    profile = memory.get_profile("ann", memory_folder=folder)["profile"]
    assert sorted(profile) == sorted(f"{name}{n}" for name in "ab" for n in range(20))
    for file in (notes, project / "both/ann/memory.sqlite"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
