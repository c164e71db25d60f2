"""Each tool through its real server, a process that is spoken to over stdio: one server for all tools of its kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from fake_endpoint import FakeEndpoint
from fastmcp.exceptions import ToolError
from stdio import StdioServer, running

Row = tuple[str, dict[str, Any], dict[str, Any]]
"""A tool, its arguments, and what is found in its result at some paths."""

ANN = {"user_id": "ann"}
RUN = "q1 Q0 good 1 2.0 t\nq1 Q0 bad 2 1.0 t\n"
PLAN = {
    "name": "init-plan",
    "title": "Tides",
    "sections": [{"title": f"{n}. Part {n}", "plan": f"say {n}"} for n in (1, 2, 3)],
}
SURVEY = json.dumps({"title": "Tides", "sections": [{"title": "Part", "plan": "say it"}]})
ITEM = {"survey_ls": [SURVEY], "cursor_ls": ["section-1"], "instruction_ls": ["about tides"]}
O1 = {name: [["<PAD>"]] for name in ("total_subq_list", "total_reason_list", "total_final_info_list")}
STATE = {"state_ls": ["search"], "extend_time_ls": [0], "extend_result_ls": [""], "step_ls": [0]}
JUDGED = {"save_path": "judged.json", "q_ls": ["Who?"]}


def act(action: Mapping[str, Any]) -> str:
    return f"<thought>hm</thought><action>{json.dumps(action)}</action>"


def judge(prompt: str) -> str:
    """A model that finds for everybody."""
    answers = {
        "Which of these describes": "easy",
        "Take the answer apart": '["It is Ann."]',
        "for each statement": "[1]",
        "For each statement": "[1]",
        "For each passage": "[1]",
        "different questions": '{"questions": ["Who?"], "evasive": 0}',
        "Grade the answer": '{"grade": 5, "reason": "fine"}',
        "Which answer is better": '{"better": "A"}',
    }
    return next(answer for words, answer in answers.items() if words in prompt)


TOOLS: dict[str, list[Row]] = {
    "sayhello": [("greet", {"name": "Ann"}, {"msg": "Hello, Ann!"})],
    "router": [
        ("route1", {"query_list": ["1"]}, {"query_list.0.state": "state1"}),
        ("route2", {"query_list": ["1"]}, {"query_list.0.state": "state2"}),
        ("ircot_check_end", {"ans_ls": ["So the answer is 3"]}, {"ans_ls.0.state": "complete"}),
        ("search_r1_check", {"ans_ls": ["x"]}, {"ans_ls.0.state": "incomplete"}),
        ("r1_searcher_check", {"ans_ls": ["</answer>"]}, {"ans_ls.0.state": "complete"}),
        ("webnote_check_page", {"page_ls": ["To be filled"]}, {"page_ls.0.state": "incomplete"}),
        ("check_model_state", {"ans_ls": ["<search>"]}, {"ans_ls.0.state": "continue"}),
        ("search_o1_check", {"ans_ls": ["x"], "q_ls": ["q"], **O1}, {"q_ls": [{"data": "q", "state": "stop"}]}),
        ("surveycpm_state_router", {**STATE, "cursor_ls": [None], "survey_ls": [""]}, {"state_ls.0.state": "search"}),
        ("route_by_rule", {"values": [7], "rules": {"many": "value > 5"}}, {"values.0.state": "many"}),
        ("route_by_value", {"values": ["go"]}, {"values": [{"data": "go", "state": "go"}]}),
        ("route_by_llm", {"values": ["x"], "states": {"easy": "", "hard": ""}}, {"values.0.state": "easy"}),
    ],
    "custom": [
        ("output_extract_from_boxed", {"ans_ls": [r"\boxed{[2,5)}"]}, {"pred_ls": ["[2,5)"]}),
        ("merge_passages", {"temp_psg": [["b"]], "ret_psg": [["a"]]}, {"ret_psg": [["a", "b"]]}),
        ("lines_of_answers", {"ans_ls": ["1. a\n- b"]}, {"line_ls": [["a", "b"]]}),
        ("queries_of_answers", {"q_ls": ["q"], "ans_ls": ["a\nq"]}, {"batch_query_list": [["q", "a"]]}),
        ("read_filters", {"ans_ls": ['{"town": "Marl"}'], "filter_keys": ["town"]}, {"filter_ls": [{"town": "Marl"}]}),
        ("search_r1_query_extract", {"ans_ls": ["<search>a</search>"]}, {"extract_query_list": ["a?"]}),
        ("r1_searcher_query_extract", {"ans_ls": ["<|begin_of_query|>a"]}, {"extract_query_list": ["a?"]}),
        ("iterretgen_nextquery", {"q_ls": ["q"], "ans_ls": ["a"]}, {"nextq_ls": ["q a"]}),
        ("ircot_get_first_sent", {"ans_ls": ["It is 3.5 m. Yes."]}, {"q_ls": ["It is 3.5 m."]}),
        ("ircot_extract_ans", {"ans_ls": ["So the answer is: 3."]}, {"pred_ls": ["3"]}),
        ("search_o1_init_list", {"q_ls": ["q"]}, O1),
        (
            "search_o1_combine_list",
            {
                "total_subq_list": [["<PAD>"]],
                "extract_query_list": ["a"],
                "total_reason_list": [["<PAD>"]],
                "extract_reason_list": ["b"],
            },
            {"total_subq_list": [["a"]], "total_reason_list": [["b"]]},
        ),
        (
            "search_o1_query_extract",
            {"ans_ls": ["<|begin_search_query|>a<|end_search_query|>"]},
            {"extract_query_list": ["a"]},
        ),
        ("search_o1_reasoning_extract", {"ans_ls": ["b<|begin_search_query|>a"]}, {"extract_reason_list": ["b"]}),
        ("search_o1_extract_final_information", {"ans_ls": ["no"]}, {"extract_final_infor_list": [""]}),
        (
            "search_o1_combine_final_information",
            {"total_final_info_list": [["a"]], "extract_final_infor_list": ["b"]},
            {"total_final_info_list": [["a", "b"]]},
        ),
        ("evisrag_output_extract_from_special", {"ans_ls": ["<answer> a </answer>"]}, {"pred_ls": ["a"]}),
        ("assign_citation_ids", {"ret_psg": [["a"]]}, {"ret_psg": [["[1] a"]]}),
        ("init_citation_registry", {"q_ls": ["q"]}, {"q_ls": ["q"]}),
        ("assign_citation_ids_stateful", {"ret_psg": [["b"]]}, {"ret_psg": [["[1] b"]]}),
        ("surveycpm_init_citation_registry", {"instruction_ls": ["i"]}, {"instruction_ls": ["i"]}),
        ("surveycpm_state_init", {"instruction_ls": ["i"]}, {"state_ls": ["search"], "step_ls": [0]}),
        (
            "surveycpm_parse_search_response",
            {"response_ls": [act({"name": "search", "keywords": ["a"]})]},
            {"keywords_ls": [["a"]], "parsed_ls": [True]},
        ),
        ("surveycpm_process_passages", {"ret_psg_ls": [[["a"]]]}, {"retrieved_info_ls": ["a"]}),
        (
            "surveycpm_process_passages_with_citation",
            {"ret_psg_ls": [[["a"]]], "survey_ls": [""]},
            {"retrieved_info_ls": ["bibkey: textid1\na"]},
        ),
        (
            "surveycpm_after_init_plan",
            {"response_ls": [act(PLAN)], "survey_ls": [""], "instruction_ls": ["about tides"]},
            {"cursor_ls": ["section-1"], "parsed_ls": [True]},
        ),
        (
            "surveycpm_after_write",
            {"response_ls": ["no action"], "retrieved_info_ls": [""], **ITEM},
            {"cursor_ls": ["section-1"], "parsed_ls": [False]},
        ),
        (
            "surveycpm_after_extend",
            {"response_ls": [act({"name": "nop"})], **ITEM},
            {"survey_ls": [SURVEY], "parsed_ls": [True]},
        ),
        (
            "surveycpm_update_state",
            {**STATE, "cursor_ls": ["outline"], "parsed_ls": [True]},
            {"state_ls": ["analyst-init_plan"], "step_ls": [1]},
        ),
        (
            "surveycpm_check_completion",
            {"step_ls": [9], "state_ls": ["search"], "surveycpm_max_step": 9},
            {"state_ls": ["done"]},
        ),
        (
            "surveycpm_format_output",
            {"survey_ls": [SURVEY], "instruction_ls": ["i"]},
            {"ans_ls": ["# Tides\n\n## 1 Part"]},
        ),
    ],
    "memory": [
        ("get_global_memory", ANN, {"global_memory_content": "", "current_user_id": "ann"}),
        ("save_memory", {**ANN, "q_ls": ["a"], "ans_ls": ["b"]}, {}),
        ("get_buffer", ANN, {"messages.1": {"role": "assistant", "content": "b"}}),
        ("get_window", {**ANN, "window": 0}, {"messages": []}),
        ("get_summary", ANN, {"summary": "", "unsummarised": "user: a\nassistant: b"}),
        ("save_summary", {**ANN, "summary_ls": ["short"]}, {}),
        ("forget_dialogue", ANN, {}),
        ("next_question", {**ANN, "script_ls": ["first"]}, {"q_ls": ["first"]}),
        ("update_profile", {**ANN, "profile_ls": [{"town": "Marl"}]}, {"profile.town": "Marl"}),
        ("get_profile", ANN, {"profile.town": "Marl"}),
        ("add_facts", {**ANN, "fact_ls": [{"subject": "Ann", "relation": "rows", "object": "Heron"}]}, {}),
        ("search_facts", {**ANN, "q_ls": ["Ann?"]}, {"fact_psg": [["Ann rows Heron"]]}),
    ],
    "evaluation": [
        (
            "evaluate",
            {"pred_ls": ["Marl"], "gt_ls": [["marl"]], "metrics": ["em"], "save_path": "em.json"},
            {"eval_res.em": [1.0], "eval_res.avg_em": 1.0},
        ),
        (
            "compare_searches",
            {
                **{"old_ids": [["b", "a"]], "new_ids": [["a", "b"]], "gold_ids": [["a"]]},
                **{"metrics": ["mrr"], "ks": None, "save_path": "searches.json"},
            },
            {"eval_res.mrr.old": 0.5, "eval_res.mrr.new": 1.0, "eval_res.items": 1},
        ),
        (
            "evaluate_trec",
            {"run_path": "run", "qrels_path": "qrels", "metrics": ["mrr"], "ks": None, "save_path": "trec.json"},
            {"eval_res.mrr.q1": 1.0},
        ),
        (
            "evaluate_trec_pvalue",
            {"run_new_path": "run", "run_old_path": "run", "qrels_path": "qrels", "metrics": ["mrr"], "ks": None}
            | {"n_resamples": 10, "save_path": "p.json"},
            {"eval_res.mrr.p": 1.0},
        ),
        (
            "faithfulness",
            {**JUDGED, "ans_ls": ["Ann"], "ret_psg": [["Ann"]]},
            {"eval_res.steps.0.supported": [True], "eval_res.avg_faithfulness": 1.0},
        ),
        ("answer_relevancy", {**JUDGED, "ans_ls": ["Ann"]}, {"eval_res.steps.0.questions": ["Who?"]}),
        ("context_precision", {**JUDGED, "gt_ls": [["Ann"]], "ret_psg": [["Ann"]]}, {"eval_res.scored": 1}),
        ("context_recall", {**JUDGED, "gt_ls": [["Ann"]], "ret_psg": [["Ann"]]}, {"eval_res.context_recall": [1.0]}),
        (
            "judge_pointwise",
            {**JUDGED, "ans_ls": ["Ann"], "gt_ls": [["Ann"]], "criteria": "kind"},
            {"eval_res.pointwise": [1.0]},
        ),
        (
            "judge_pairwise",
            {**JUDGED, "first_ls": ["Ann"], "second_ls": ["Bea"], "criteria": "kind"},
            {"eval_res.steps.0.winner": "tie"},
        ),
    ],
}


def at(value: Any, path: str) -> Any:
    """What stands at ``eval_res.steps.0``."""
    return reduce(lambda part, key: part[int(key)] if isinstance(part, list) else part[key], path.split("."), value)


async def names(server: StdioServer) -> set[str]:
    return {tool.name for tool in await server.client.list_tools()} - {"build"}


@pytest.mark.parametrize("name", TOOLS)
async def test_every_tool(name: str, tmp_path: Path) -> None:
    (tmp_path / "run").write_text(RUN)
    (tmp_path / "qrels").write_text("q1 0 good 1\n")
    async with running(name, tmp_path, model=judge) as server:
        assert {tool for tool, _, _ in TOOLS[name]} == await names(server)
        for tool, arguments, expected in TOOLS[name]:
            given = await server(tool, **arguments)
            assert {path: at(given, path) for path in expected} == expected, tool


async def test_every_tool_of_generation(endpoint: FakeEndpoint, tmp_path: Path) -> None:
    """An endpoint's answers; then the same call while one of its items fails, and after the end."""
    (tmp_path / "a.png").write_bytes(b"picture")
    configs = {"openai": {"model_name": "choosy", "base_url": endpoint.url, "concurrency": 1, "retries": 0}}
    begin = {"backend": "openai", "backend_configs": configs, "sampling_params": {"temperature": 0}}
    async with running("generation", tmp_path) as server:
        assert await names(server) >= {"generate", "multimodal_generate", "multiturn_generate"}
        with pytest.raises(ToolError, match=r"generation\.generation_init must come before"):
            await server("generate", prompt_ls=["p"])
        await server("generation_init", **begin)
        asked = await server("generate", prompt_ls=["a"])
        assert asked["ans_ls"] == ["re a"]
        assert "".join(message or "" for _, _, message in server.progress) == "re a"
        arguments = {"prompt_ls": ["a", "bad"]}
        result = await server.client.call_tool("generate", arguments, meta={"items": [4, 7]})
        assert result.structured_content["ans_ls"] == ["re a", None]
        assert "The content was filtered" in result.meta["ragwb"]["failed"]["1"]
        seen = await server("multimodal_generate", prompt_ls=["what?"], multimodal_path=[["a.png"]])
        assert "data:image/png;base64,cGljdHVyZQ==" in seen["ans_ls"][0]
        said = await server("multiturn_generate", messages=[{"role": "user", "content": "b"}])
        assert said["ans_ls"] == ["re b"]
        tools = {"agent_tools": {"look": "Looks."}, "agent_steps": 1}
        agents = await server("agent_init", prompt_ls=["who?"], agent_tools=tools["agent_tools"])
        turn = await server("agent_generate", **agents, **tools)
        assert (turn["action_ls"], turn["ans_ls"][0][:10]) == (["answer"], "re Find th")
        await server("vllm_shutdown")
        assert (await server("generate", prompt_ls=["c"]))["ans_ls"] == ["re c"]
        await server("shutdown")
        with pytest.raises(ToolError, match="must come before"):
            await server("generate", prompt_ls=["p"])
