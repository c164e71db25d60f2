"""The prompt server: what the model sees is what is in the data, letter for letter."""

from __future__ import annotations

from pathlib import Path

import prompt
import pytest
from fastmcp.exceptions import ToolError

from templates import PromptTemplateError


def template(project: Path, text: str) -> str:
    (project / "t.jinja").write_text(text, encoding="utf-8")
    return "t.jinja"


def test_nothing_is_escaped(project: Path) -> None:
    path = template(project, "Use <search>.\n{{documents}}\nQuestion: {{question}}")
    passage, question = 'if (a < b && c > d) { return "x"; }', 'Is 3 < 5 & who\'s "Ann"?'
    [text] = prompt.render_items(path, question=[question], documents=[passage])
    assert text == f"Use <search>.\n{passage}\nQuestion: {question}"


def test_braces_in_documents_mean_nothing(project: Path) -> None:
    path = template(project, '{{documents}}\nAnswer in \\boxed{YOUR_ANSWER}. Example: {"a": 1}')
    passages = [r"sum_{i=1}^{n} \frac{1}{i}", "{{ 7*7 }} {% for x in y %} {# note #}", "{{ ''.__class__ }}"]
    [text] = prompt.render_items(path, question=["q"], documents=[prompt.joined(passages)])
    assert text == "\n".join([*passages, 'Answer in \\boxed{YOUR_ANSWER}. Example: {"a": 1}'])


def test_an_unknown_name_is_told_with_its_line_and_the_names_there_are(project: Path) -> None:
    path = template(project, "Documents:\n{{docments}}\nQuestion: {{question}}")
    with pytest.raises(PromptTemplateError, match=r"t\.jinja:2: 'docments' is undefined.*documents, question"):
        prompt.render_items(path, question=["q"], documents=["d"])


def test_a_mistake_in_the_syntax_is_told_with_its_line(project: Path) -> None:
    path = template(project, "Documents:\n{% for d in documents %}{{ d }}\nQuestion: {{question}}")
    with pytest.raises(ToolError, match=r"t\.jinja:\d: .*endfor"):
        prompt.messages(path, question=["q"], documents=["d"])


def test_the_sandbox_is_closed(project: Path) -> None:
    path = template(project, "{{ question.__class__.__mro__ }}")
    with pytest.raises(PromptTemplateError, match=r"t\.jinja:1"):
        prompt.render_items(path, question=["q"])


def test_lists_of_unequal_length_are_named(project: Path) -> None:
    path = template(project, "{{question}}{{documents}}")
    with pytest.raises(ToolError, match="question 2, documents 1"):
        prompt.render_items(path, question=["a", "b"], documents=["d"])


def test_a_missing_template_is_named(project: Path) -> None:
    with pytest.raises(PromptTemplateError, match=r"nowhere\.jinja: there is no such template"):
        prompt.render_items("nowhere.jinja", question=[])


def test_choices_get_letters() -> None:
    assert prompt.lettered(["oats", "salt"]) == "A: oats\nB: salt"
    with pytest.raises(ToolError, match="27 choices"):
        prompt.lettered(["x"] * 27)


def test_one_message_per_item_and_none_for_none(project: Path) -> None:
    path = template(project, "{{question}}|{{documents}}")
    messages = prompt.qa_rag_boxed(["a", "b"], [["x", "y"], []], path)
    assert [message.content.text for message in messages] == ["a|x\ny", "b|"]
    assert prompt.qa_boxed([], path) == []


@pytest.mark.parametrize("name", ["qa_rag_boxed", "qa_boxed", "gen_subq", "check_passages"])
def test_the_shipped_templates_render(name: str, project: Path) -> None:
    path = f"pipelines/prompts/{name}.jinja"
    [text] = prompt.render_items(path, question=["Who keeps the mill?"], documents=["Max keeps the mill."])
    assert "{" not in text.replace("\\boxed{}", "")


def test_check_passages_asks_for_a_search_when_words_are_missing() -> None:
    path = "pipelines/prompts/check_passages.jinja"
    question = "Where was the keeper born?"
    asked, answered = prompt.render_items(path, question=[question] * 2, documents=["The keeper.", "Keeper, born."])
    assert "<search>" in asked
    assert "<search>" not in answered
