"""The pipeline's own model as the answer to a server that asks for one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from workbench.engine.ports import Asked, Call, CallResult, Reply, ToolsError
from workbench.mcp.questions import text_of
from workbench.pipeline.declaration import ServerDeclaration

ALIAS, TOOL = "generation", "generate"
OPTIONS = "request_options"
"""The argument that takes how an answer is to be sampled; a generation server of somebody's own may have none."""
_NAMES = {"maxTokens": "max_tokens", "temperature": "temperature"}


class PipelineModel(Struct, frozen=True):
    """Answers by the tool ``generate`` of the server ``generation``, as a step of the pipeline would."""

    call: Callable[[Call], Awaitable[CallResult]]
    declaration: Callable[[str], Awaitable[ServerDeclaration]]

    async def __call__(self, asked: Asked) -> Reply:
        if asked.server == ALIAS:
            return Reply("decline", reason=f"`{ALIAS}` would have to answer itself")
        arguments: dict[str, Any] = {"prompt_ls": [_prompt(asked.request)]}
        if isinstance(asked.request.get("systemPrompt"), str):
            arguments["system_prompt"] = asked.request["systemPrompt"]
        try:
            tool = (await self.declaration(ALIAS)).tools.get(TOOL)
            if tool is not None and any(argument.name == OPTIONS for argument in tool.arguments):
                given = {ours: asked.request.get(name) for name, ours in _NAMES.items()}
                arguments[OPTIONS] = {name: value for name, value in given.items() if value is not None}
            result = await self.call(Call(ALIAS, TOOL, "tool", arguments, asked.visit or 0))
        except ToolsError as error:
            return Reply("decline", reason=str(error))
        value = result.value if isinstance(result.value, Mapping) else {}
        answers = value.get("ans_ls")
        if not isinstance(answers, list) or len(answers) != 1:
            return Reply("decline", reason=f"{ALIAS}.{TOOL} did not return one answer")
        return Reply("accept", str(answers[0]), is_cut_off=_is_cut_off(value.get("usage_ls")))


def _is_cut_off(usage: Any) -> bool:
    """Whether the only answer was, where the server says so."""
    return isinstance(usage, list) and [isinstance(u, Mapping) and u.get("finish_reason") for u in usage] == ["length"]


def _prompt(request: Mapping[str, Any]) -> str:
    """The messages as one prompt; who says what is written only where they are several."""
    given = request.get("messages")
    messages = [message for message in given if isinstance(message, Mapping)] if isinstance(given, list) else []
    texts = [(message.get("role", "user"), text_of(message.get("content"))) for message in messages]
    return texts[0][1] if len(texts) == 1 else "\n\n".join(f"{role}: {text}" for role, text in texts)
