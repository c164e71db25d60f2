"""The prompt server: what the model sees is what is in the data, letter for letter."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import prompt
import pytest
import pytest_asyncio
import yaml
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from parts import joined, lettered, steps
from rendering import messages

from workbench.api.pipeline_tests import PipelineRunner
from workbench.mcp.templates import PromptTemplateError, render_items

ROOT = Path(__file__).resolve().parents[2]
SURVEY = {
    "title": "Tides",
    "sections": [
        {"title": "Mills", "content": "Mills turn.\nThey stop.", "sections": [{"name": "Wheels", "plan": "say how"}]},
        {"title": "Boats", "plan": "list boats"},
        {"name": "Empty", "content": ""},
        {},
    ],
}


def template(project: Path, text: str) -> str:
    (project / "t.jinja").write_text(text, encoding="utf-8")
    return "t.jinja"


def test_nothing_is_escaped(project: Path) -> None:
    path = template(project, "Use <search>.\n{{documents}}\nQuestion: {{question}}")
    passage, question = 'if (a < b && c > d) { return "x"; }', 'Is 3 < 5 & who\'s "Ann"?'
    [text] = render_items(path, question=[question], documents=[passage])
    assert text == f"Use <search>.\n{passage}\nQuestion: {question}"


def test_braces_in_documents_mean_nothing(project: Path) -> None:
    path = template(project, '{{documents}}\nAnswer in \\boxed{YOUR_ANSWER}. Example: {"a": 1}')
    passages = [r"sum_{i=1}^{n} \frac{1}{i}", "{{ 7*7 }} {% for x in y %} {# note #}", "{{ ''.__class__ }}"]
    [text] = render_items(path, question=["q"], documents=[joined(passages)])
    assert text == "\n".join([*passages, 'Answer in \\boxed{YOUR_ANSWER}. Example: {"a": 1}'])


def test_an_unknown_name_is_told_with_its_line_and_the_names_there_are(project: Path) -> None:
    path = template(project, "Documents:\n{{docments}}\nQuestion: {{question}}")
    with pytest.raises(PromptTemplateError, match=r"t\.jinja:2: 'docments' is undefined.*documents, question"):
        render_items(path, question=["q"], documents=["d"])


def test_a_mistake_in_the_syntax_is_told_with_its_line(project: Path) -> None:
    path = template(project, "Documents:\n{% for d in documents %}{{ d }}\nQuestion: {{question}}")
    with pytest.raises(ToolError, match=r"t\.jinja:\d: .*endfor"):
        messages(path, question=["q"], documents=["d"])


def test_the_sandbox_is_closed(project: Path) -> None:
    path = template(project, "{{ question.__class__.__mro__ }}")
    with pytest.raises(PromptTemplateError, match=r"t\.jinja:1"):
        render_items(path, question=["q"])


def test_lists_of_unequal_length_are_named(project: Path) -> None:
    path = template(project, "{{question}}{{documents}}")
    with pytest.raises(ToolError, match="question has 2, documents has 1"):
        render_items(path, question=["a", "b"], documents=["d"])


def test_a_missing_template_is_named(project: Path) -> None:
    with pytest.raises(PromptTemplateError, match=r"nowhere\.jinja: there is no such template"):
        render_items("nowhere.jinja", question=[])


def test_choices_get_letters() -> None:
    assert lettered(["oats", "salt"]) == "A: oats\nB: salt"
    with pytest.raises(ToolError, match="27 choices"):
        lettered(["x"] * 27)


def test_one_message_per_item_and_none_for_none(project: Path) -> None:
    path = template(project, "{{question}}|{{documents}}")
    asked = prompt.qa_rag_boxed(["a", "b"], [["x", "y"], []], path)
    assert [message.content.text for message in asked] == ["a|x\ny", "b|"]
    assert prompt.qa_boxed([], path) == []


@pytest.mark.parametrize("name", ["qa_rag_boxed", "qa_boxed", "gen_subq", "check_passages"])
def test_the_shipped_templates_render(name: str, project: Path) -> None:
    path = f"pipelines/prompts/{name}.jinja"
    [text] = render_items(path, question=["Who keeps the mill?"], documents=["Max keeps the mill."])
    assert "{" not in text.replace("\\boxed{}", "")


def test_check_passages_asks_for_a_search_when_words_are_missing() -> None:
    path = "pipelines/prompts/check_passages.jinja"
    question = "Where was the keeper born?"
    asked, answered = render_items(path, question=[question] * 2, documents=["The keeper.", "Keeper, born."])
    assert "<search>" in asked
    assert "<search>" not in answered


def test_a_template_can_not_lead_out_of_the_project(project: Path) -> None:
    (project.parent / "secret.txt").write_text("key")
    (project / "link.jinja").symlink_to(project.parent / "secret.txt")
    for path in ("../secret.txt", str(project.parent / "secret.txt"), "link.jinja"):
        with pytest.raises(PromptTemplateError, match="must lie in the project folder"):
            render_items(path, question=["q"])


def test_a_long_reasoning_is_shown_by_its_ends() -> None:
    assert steps(["<PAD>"]) == ""
    assert steps(["a", "b", "c"]) == "Step 1: a\n\nStep 2: b\n\nStep 3: c"
    assert steps(["a", "b", "c", "d", "e"]) == "Step 1: a\n\nStep 2: c\n\nStep 3: d\n\nStep 4: e"


@pytest_asyncio.fixture(scope="session")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client[Any]]:
    """The real server, in a project whose templates show each variable on a line."""
    folder = tmp_path_factory.mktemp("prompts")
    words = """
        question documents choices CoT plan page sub_question docs_text history answer passages global_memory
        project_memory cur_answer prev_reasoning search_query document instruction survey task information
    """
    lines = [f"{{% if {name} is defined %}}{name}={{{{ {name} }}}}\n{{% endif %}}" for name in words.split()]
    (folder / "all.jinja").write_text("".join(lines), encoding="utf-8")
    env = {"RAGWB_PROJECT": str(folder), "RAGWB_OUTPUT": str(folder), "PYTHONPATH": str(ROOT)}
    script = str(ROOT / "servers/prompt/src/prompt.py")
    async with Client(StdioTransport(sys.executable, [script], env=env, keep_alive=False)) as client:
        yield client


async def ask(client: Client[Any], name: str, **arguments: Any) -> list[str]:
    encoded = [key for key, value in arguments.items() if not isinstance(value, str)]
    sent = {key: json.dumps(value) if key in encoded else value for key, value in arguments.items()}
    result = await client.get_prompt(name, sent, meta={"encoded": encoded})
    return [message.content.text for message in result.messages]  # type: ignore[union-attr]


EARLIER = {"role": "user", "content": {"type": "text", "text": "who's <b>"}}
PASSAGES = [[str(number) for number in range(1, 7)]]
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "qa_boxed": ({"q_ls": ["q"]}, "question=q"),
    "qa_rag_boxed": ({"q_ls": ["q"], "ret_psg": [["a", "b"]]}, "question=q\ndocuments=a\nb"),
    "qa_with_memory": (
        {"q_ls": ["q"], "global_memory_content": "[1]", "project_memory_content": [["was", "said"]]},
        "question=q\nglobal_memory=[1]\nproject_memory=was\nsaid",
    ),
    "qa_rag_with_memory": (
        {"q_ls": ["q"], "global_memory_content": "", "project_memory_content": [[]], "ret_psg": [["a"]]},
        "question=q\ndocuments=a\nglobal_memory=\nproject_memory=",
    ),
    "qa_boxed_multiple_choice": ({"q_ls": ["q"], "choices_ls": [["x", "y"]]}, "question=q\nchoices=A: x\nB: y"),
    "qa_rag_boxed_multiple_choice": (
        {"q_ls": ["q"], "choices_ls": [["x"]], "ret_psg": [["a"]]},
        "question=q\ndocuments=a\nchoices=A: x",
    ),
    "RankCoT_kr": ({"q_ls": ["q"], "ret_psg": [["a"]]}, "question=q\ndocuments=a"),
    "RankCoT_qa": ({"q_ls": ["q"], "kr_ls": ["so"]}, "question=q\nCoT=so"),
    "gen_subq": ({"q_ls": ["q"], "ret_psg": [["a"]]}, "question=q\ndocuments=a"),
    "check_passages": ({"q_ls": ["q"], "ret_psg": [["a"]]}, "question=q\ndocuments=a"),
    "ircot_next_prompt": (
        {"memory_q_ls": [["q"], ["One."], ["Two."]], "memory_ret_psg": [[["a"]], [["b", "c"]]]},
        "question=q\ndocuments=a\nb\nc\ncur_answer=One. Two.",
    ),
    "search_r1_gen": (
        {"prompt_ls": [EARLIER], "ans_ls": ["<search>"], "ret_psg": PASSAGES},
        "history=who's <b>\nanswer=<search>\npassages=1\n2\n3",
    ),
    "r1_searcher_gen": (
        {"prompt_ls": [EARLIER], "ans_ls": ["x"], "ret_psg": PASSAGES},
        "history=who's <b>\nanswer=x\npassages=1\n2\n3\n4\n5",
    ),
    "search_o1_init": ({"q_ls": ["q"]}, "question=q"),
    "search_o1_reasoning_indocument": (
        {"extract_query_list": ["s"], "ret_psg": [["a"]], "total_reason_list": [["<PAD>"]]},
        "prev_reasoning=\nsearch_query=s\ndocument=a",
    ),
    "search_o1_insert": (
        {"q_ls": ["q"], "total_subq_list": [["s", "<PAD>"]], "total_final_info_list": [["f", "<PAD>"]]},
        "question=q\n<|begin_search_query|>s<|end_search_query|>\n<|begin_search_result|>f<|end_search_result|>",
    ),
    "webnote_gen_plan": ({"q_ls": ["q"]}, "question=q"),
    "webnote_init_page": ({"q_ls": ["q"], "plan_ls": ["p"]}, "question=q\nplan=p"),
    "webnote_gen_subq": ({"q_ls": ["q"], "plan_ls": ["p"], "page_ls": ["n"]}, "question=q\nplan=p\npage=n"),
    "webnote_fill_page": (
        {"q_ls": ["q"], "plan_ls": ["p"], "page_ls": ["n"], "subq_ls": ["s"], "psg_ls": [["a", "b"]]},
        "question=q\nplan=p\npage=n\nsub_question=s\ndocs_text=a\nb",
    ),
    "webnote_gen_answer": ({"q_ls": ["q"], "page_ls": ["n"]}, "question=q\npage=n"),
    "evisrag_vqa": ({"q_ls": ["<image>?"], "ret_psg": [["1.png", "2.png"]]}, "question=<image><image>?"),
    "surveycpm_search": (
        {"instruction_ls": ["i"], "survey_ls": ["<PAD>"], "cursor_ls": ["outline"]},
        "instruction=i\nsurvey=There is no survey.\ntask=You need to update outline",
    ),
    "surveycpm_init_plan": ({"instruction_ls": ["i"], "retrieved_info_ls": ["<PAD>"]}, "instruction=i\ninformation="),
    "surveycpm_write": (
        {"instruction_ls": ["i"], "survey_ls": [""], "cursor_ls": [None], "retrieved_info_ls": ["r"]},
        "instruction=i\nsurvey=There is no survey.\ntask=\ninformation=r",
    ),
    "surveycpm_extend_plan": (
        {"instruction_ls": ["i"], "survey_ls": [json.dumps(SURVEY)]},
        "instruction=i\nsurvey=# Title: Tides\n# Section-1 [Mills]: [OK] Mills turn. They stop.\n"
        "    # Section-1.1 [Wheels]: [PLAN] say how\n# Section-2 [Boats]: [PLAN] list boats\n"
        "# Section-3 [Empty]:\n# Section-4 []:",
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_every_prompt_gives_its_template_what_it_names(server: Client[Any], name: str) -> None:
    arguments, text = CASES[name]
    parameter = f"{name}_template" if name.startswith("surveycpm") else "template"
    [rendered] = await ask(server, name, **arguments, **{parameter: "all.jinja"})
    assert rendered.removesuffix("\n") == text


async def test_every_prompt_is_tried(server: Client[Any]) -> None:
    assert {entry.name for entry in await server.list_prompts()} == {*CASES, "render"}


@pytest.mark.parametrize("name", CASES)
async def test_every_prompt_has_a_template_of_ours(server: Client[Any], name: str) -> None:
    annotations = {e.name: e.meta["ragwb"]["output"] for e in await server.list_prompts() if e.meta}
    parameter = annotations[name].partition("->")[0].split(",")[-1]
    defaults = yaml.safe_load((ROOT / "servers/prompt/parameter.yaml").read_text())
    argument = f"{name}_template" if name.startswith("surveycpm") else "template"
    [text] = await ask(server, name, **CASES[name][0], **{argument: defaults[parameter]})
    assert "PAD" not in text
    assert "{{" not in text
    assert "{%" not in text


async def test_a_survey_that_is_no_json_is_told_with_its_place(server: Client[Any]) -> None:
    arguments = {"instruction_ls": ["i"], "surveycpm_extend_plan_template": "all.jinja"}
    with pytest.raises(MCPError, match=r"survey_ls\[0\] is no JSON: line 1, column 11"):
        await ask(server, "surveycpm_extend_plan", survey_ls=['{"title": }'], **arguments)


async def test_an_item_that_the_first_round_left_out_has_no_prompt(server: Client[Any]) -> None:
    memory = {"memory_q_ls": [["q", None], ["One.", "x"]], "memory_ret_psg": [[["a"], None]]}
    assert await ask(server, "ircot_next_prompt", **memory, template="all.jinja") == [
        "question=q\ndocuments=a\ncur_answer=One.\n"
    ]


async def test_any_variables_of_another_client(server: Client[Any]) -> None:
    """Without a word of which lists are item lists: those as long as the first."""
    result = await server.get_prompt("render", {"template": "all.jinja", "question": ["a", "b"], "plan": ["x"]})
    assert [m.content.text for m in result.messages] == [  # type: ignore[union-attr]
        "question=a\nplan=['x']\n",
        "question=b\nplan=['x']\n",
    ]


PIPELINE = """
servers: {benchmark: servers/benchmark, prompt: servers/prompt}
items: q_ls
whole: [rules_ls]
pipeline:
- benchmark.get_data
- prompt.render:
    input: {template: $ask_template, question: q_ls, rules: rules_ls, style: {tone: dry}}
"""
PARAMETERS = """
benchmark: {benchmark: {name: t, path: q.jsonl, key_map: {q_ls: q, rules_ls: r}}}
prompt: {ask_template: ask.jinja}
"""


async def test_whole_values_and_item_lists_are_told_apart_whatever_their_length(
    ragwb_pipeline: PipelineRunner, tmp_path: Path
) -> None:
    (tmp_path / ".ragwb.yaml").write_text("")
    (tmp_path / "p.yaml").write_text(PIPELINE)
    (tmp_path / "parameter").mkdir()
    (tmp_path / "parameter/p_parameter.yaml").write_text(PARAMETERS)
    (tmp_path / "q.jsonl").write_text('{"q": "a", "r": 1}\n{"q": "b", "r": 2}\n')
    (tmp_path / "ask.jinja").write_text("{{ question }} {{ rules }} {{ style.tone }}")
    run = await ragwb_pipeline(tmp_path / "p.yaml")
    assert run.variable("prompt_ls") == ["a [1, 2] dry", "b [1, 2] dry"]
    (tmp_path / "ask.jinja").write_text("{{ question }}\n{{ rulez }}")
    run = await ragwb_pipeline(tmp_path / "p.yaml")
    assert "ask.jinja:2: 'rulez' is undefined; the names there are: question, rules, style" in str(run.error)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\n{{ 'x' * 10**9 }}", r"t\.jinja:2: this repetition is too long"),
        ("{{ ('x' * 10**6) * 1000 }}", r"t\.jinja:1: this repetition is too long"),
        ("{% for n in range(99) %}{{ 'x' * 10**6 }}{% endfor %}", r"t\.jinja:1: the prompt has more than 16 million"),
        ("{% macro m() %}{{ m() }}{% endmacro %}\n{{ m() }}", r"t\.jinja:\d: maximum recursion depth"),
        ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", r"t\.jinja: it is nested too deeply"),
    ],
)
def test_a_prompt_without_bounds_is_refused(project: Path, text: str, said: str) -> None:
    with pytest.raises(PromptTemplateError, match=said):
        render_items(template(project, text), question=["q"])
