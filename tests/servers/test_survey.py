"""SurveyCPM in the custom server: actions, passages, the state machine, the document."""

from __future__ import annotations

import json
from typing import Any

import custom
import pytest
import survey_actions
from fastmcp import Client
from fastmcp.exceptions import ToolError
from survey import clean_title, markdown, next_unwritten, placed, read_survey
from survey_passages import chosen
from survey_state import SurveyState


def act(action: Any) -> str:
    return f"<thought>hm</thought><action>{action if isinstance(action, str) else json.dumps(action)}</action>"


PLAN = {
    "name": "init-plan",
    "title": "Tides",
    "sections": [{"title": f"{n}. Part {n}", "plan": f"say {n}"} for n in (1, 2, 3)],
}
LONG = "Tides are moved by the moon, and mills are moved by the tides \\cite{textid1}."


async def test_a_survey_from_its_first_search_to_its_document() -> None:
    """One item, step by step as a pipeline would go."""
    async with Client(custom.app) as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            return (await client.call_tool(f"surveycpm_{tool}", arguments)).structured_content or {}

        instruction = {"instruction_ls": ["Write about tides"]}
        await call("init_citation_registry", **instruction)
        now = await call("state_init", **instruction)
        states = []

        async def update(**changes: Any) -> None:
            now.update(changes)
            names = ("state_ls", "cursor_ls", "extend_time_ls", "extend_result_ls", "step_ls", "parsed_ls")
            now.update(await call("update_state", **{name: now[name] for name in names}))
            states.append(now["state_ls"][0])

        found = await call("parse_search_response", response_ls=[act({"name": "search", "keywords": ["tides"]})])
        assert found == {"keywords_ls": [["tides"]], "parsed_ls": [True]}
        told = await call(
            "process_passages_with_citation", ret_psg_ls=[[["the moon", "a mill"]]], survey_ls=now["survey_ls"]
        )
        assert told["retrieved_info_ls"] == ["bibkey: textid1\nthe moon\n\nbibkey: textid2\na mill"]
        await update(parsed_ls=[True], retrieved_info_ls=told["retrieved_info_ls"])
        await update(
            **await call("after_init_plan", response_ls=[act(PLAN)], survey_ls=now["survey_ls"], **instruction)
        )
        assert now["cursor_ls"] == ["section-1"]
        for _ in range(3):
            await update(parsed_ls=[True])
            arguments = {name: now[name] for name in ("survey_ls", "cursor_ls", "retrieved_info_ls")}
            await update(**await call("after_write", response_ls=[act(LONG)], **arguments, **instruction))
        assert now["cursor_ls"] == [None]
        extended = {"name": "extend-plan", "position": "section-2", "subsections": PLAN["sections"][:2]}
        arguments = {name: now[name] for name in ("survey_ls", "cursor_ls")}
        await update(**await call("after_extend", response_ls=[act(extended)], **arguments, **instruction))
        assert now["cursor_ls"] == ["section-2.1"]
        arguments = {name: now[name] for name in ("survey_ls", "cursor_ls")}
        await update(
            state_ls=["analyst-extend_plan"],
            **await call("after_extend", response_ls=[act({"name": "nop"})], **arguments, **instruction),
        )
        turns = ["write", "search"] * 2 + ["write", "analyst-extend_plan"]
        assert states == ["analyst-init_plan", "search", *turns, "search", "done"]
        assert now["step_ls"] == [len(states)]
        (document,) = (await call("format_output", survey_ls=now["survey_ls"], **instruction))["ans_ls"]
        assert document.startswith("# Tides\n\n## 1 Part 1\n\nTides are moved")
        assert "by the tides [1]." in document
        assert "### 2.1 Part 1" in document


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("no action", "there is no <action>"),
        (act("{'name': 'search'}"), "line 1, column 2"),
        (act({"name": "write"}), "not search"),
        (act({"name": "search", "keywords": []}), "must be a list of texts"),
        (act({"name": "search", "keywords": ["a", " "]}), "must be a list of texts"),
        (act({"name": "search", "keywords": list("abcdef")}), "6 keywords"),
    ],
)
def test_a_search_that_can_not_be_used(answer: str, reason: str) -> None:
    told = custom.surveycpm_parse_search_response([answer])
    assert told.structured_content == {"keywords_ls": [[]], "parsed_ls": [False]}
    assert told.meta is not None
    assert reason in told.meta["ragwb"]["warnings"][0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"title": " "}, "no title"),
        ({"sections": []}, "no sections"),
        ({"sections": PLAN["sections"][:2]}, "3 to 12"),
        ({"sections": [{"title": "x"}] * 3}, "no `plan`"),
        ({"sections": [{"title": "潮汐的研究与历史", "plan": "x"}] * 3}, "language"),
    ],
)
def test_a_plan_that_can_not_be_used(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(survey_actions.BadAction, match=reason):
        survey_actions.plan(act({**PLAN, **change}), "about tides", is_strict=True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "nothing was written"),
        ("# Heading " + LONG, "a heading"),
        ("bibkey " + LONG, "bibkey"),
        ("short", "5 characters"),
        (LONG + "\\cite{textid9}", "textid9"),
        (LONG + "\\cite{textid1}" * 12, "cites 13 times"),
        ("潮汐由月亮引起，" * 10, "language"),
    ],
)
def test_a_text_that_can_not_be_used(text: str, reason: str) -> None:
    with pytest.raises(survey_actions.BadAction, match=reason):
        survey_actions.text(act(text), "about tides", "bibkey: textid1", is_strict=True)
    if text:
        assert survey_actions.text(act(text), "about tides", "", is_strict=False) == text


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ({"position": "section-9"}, "no place"),
        ({"position": "section-2"}, "section-1 is at hand"),
        ({"position": "section-1", "subsections": PLAN["sections"][:1]}, "2 to 7"),
    ],
)
def test_an_extension_that_can_not_be_used(action: dict[str, Any], reason: str) -> None:
    tree = {"title": "t", "sections": PLAN["sections"]}
    with pytest.raises(survey_actions.BadAction, match=reason):
        survey_actions.extension(act({"name": "extend_plan", **action}), tree, "section-1", "tides", is_strict=True)


@pytest.mark.parametrize(
    ("state", "following"),
    [
        (SurveyState("search", "outline", 0, "", 0, False), "search"),
        (SurveyState("search", "outline", 0, "", 139, True), "done"),
        (SurveyState("analyst-extend_plan", None, 3, "", 5, False), "analyst-extend_plan"),
        (SurveyState("analyst-extend_plan", None, 11, "", 5, False), "done"),
        (SurveyState("analyst-extend_plan", None, 11, "extended", 5, True), "done"),
        (SurveyState("done", None, 0, "", 5, True), "done"),
    ],
)
def test_where_it_goes_on(state: SurveyState, following: str) -> None:
    assert state.following(max_step=140, max_extend_step=12).state == following


def test_passages_are_shared_out_and_filled_up() -> None:
    found = [[f"a{n}" for n in range(9)], ["b0", "a0"], []]
    assert chosen(found, 6) == ["a0", "a1", "b0", "a2", "a3", "a4"]
    assert chosen([], 6) == []


def test_a_survey_that_is_none_says_where() -> None:
    assert read_survey("<PAD>") is None
    with pytest.raises(ToolError, match=r"survey_ls\[1\]: line 1, column 2"):
        custom.surveycpm_format_output(['{"title": "x"}', "{x"], ["a", "b"])
    tree = {"name": "n", "sections": [{"name": "a", "subsections": [{"title": "b", "content": "c"}]}, "odd"]}
    assert [place for place, _ in placed(tree)] == ["section-1", "section-1.1"]
    assert next_unwritten(tree) == "section-1"
    assert markdown(tree) == "# n\n\n## 1 a\n\n### 1.1 b\n\nc"


@pytest.mark.parametrize(
    ("written", "clean"),
    [
        ("1.2. Mills", "Mills"),
        ("第三章 潮汐", "潮汐"),
        ("Section 4: Boats", "Boats"),
        ("II. Salt", "Salt"),
        ("3D boats", "3D boats"),
        ("I", "I"),
    ],
)
def test_titles_lose_their_numbers(written: str, clean: str) -> None:
    assert clean_title(written) == clean
