"""What servers give back and offer, in all its forms, as values of a pipeline."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from workbench.engine.ports import CallResult
from workbench.mcp.results import ToolReportedError, declare, tool_result

TEXT = {"type": "text", "text": "plain"}
IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
LINK = {"type": "resource_link", "uri": "file:///a.txt", "name": "a", "mimeType": "text/plain"}
RESOURCE = {"type": "resource", "resource": {"uri": "demo://1", "mimeType": "application/pdf", "blob": "aGk="}}


def result(*content: Any, wrapped: bool = False, **parts: Any) -> CallResult:
    return tool_result(msgspec.Raw(json.dumps({"content": content, **parts}).encode()), wrapped=wrapped)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ([TEXT], "plain"),
        ([TEXT, {"type": "text", "text": "more"}], "plain\nmore"),
        ([{"type": "text", "text": '{"a": 1}'}], {"a": 1}),
        ([IMAGE], IMAGE),
        ([LINK], LINK),
        ([RESOURCE], RESOURCE),
        ([TEXT, IMAGE, RESOURCE], {"content": [TEXT, IMAGE, RESOURCE]}),
        ([IMAGE, IMAGE], {"content": [IMAGE, IMAGE]}),
        ([], None),
    ],
)
def test_content(content: list[Any], value: Any) -> None:
    assert result(*content).value == value
    assert result(*content, structuredContent=None).value == value


def test_structured_content_counts_and_what_it_can_not_hold_is_kept() -> None:
    assert result(TEXT, structuredContent={"a": 1}).value == {"a": 1}
    assert result(TEXT, IMAGE, structuredContent={"a": 1}).value == {"content": [IMAGE], "a": 1}
    assert result(TEXT, structuredContent={"result": [1]}, wrapped=True).value == [1]
    assert result(LINK, structuredContent={"result": 1}, wrapped=True).value == {"content": [LINK], "result": 1}


def test_an_error_has_all_its_words() -> None:
    with pytest.raises(ToolReportedError, match="plain\nmore"):
        result(TEXT, {"type": "text", "text": "more"}, isError=True)
    with pytest.raises(ToolReportedError, match="gave no reason"):
        result(IMAGE, isError=True)


def test_of_one_name_the_first_counts() -> None:
    tools = [{"name": "a", "description": "1"}, {"name": "a", "description": "2"}]
    declared = declare("x", tools, [{"name": "a"}, {"name": "b"}]).tools
    assert {name: (tool.kind, tool.description) for name, tool in declared.items()} == {
        "a": ("tool", "1"),
        "b": ("prompt", ""),
    }


def test_arguments_that_do_not_fit_are_told_a_line_each() -> None:
    words = """Error calling tool 'search': 3 validation errors for call[search]
top_k
  Input should be a valid integer [type=int_type, input_value=None, input_type=NoneType]
    For further information visit https://errors.pydantic.dev/2.14/v/int_type
q_ls.1
  Input should be a valid string [type=string_type, input_value='a [b]', input_type=int]
    For further information visit https://errors.pydantic.dev/2.14/v/string_type
corpus
  Missing required argument [type=missing_argument, input_value={'q': []}, input_type=dict]
    For further information visit https://errors.pydantic.dev/2.14/v/missing_argument"""
    with pytest.raises(ToolReportedError) as raised:
        result({"type": "text", "text": words}, isError=True)
    assert str(raised.value).splitlines() == [
        "`top_k`: Input should be a valid integer; found null",
        "`q_ls.1`: Input should be a valid string; found 'a [b]'",
        "`corpus`: Missing required argument",
    ]
