"""An agent that reasons and acts in turns: what it remembers, what its model said, and when it has come to an end.

The scheme is ReAct's (Yao et al., "ReAct: Synergizing Reasoning and Acting in Language Models", 2023): a turn is a
thought and either a call of a tool or the answer; what the tool gave is read in the next turn.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from answer import Answer, GenerationError, ToolCall
from backend import Messages, Tool

from workbench.mcp.half_pairs import loaded
from workbench.mcp.thinking import separated

ANSWER = "answer"
"""The action of an agent that has come to an end; no tool can have this name."""

Style = Literal["text", "json", "native"]
_PLAIN = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
"""The arguments of a tool that takes one text."""

_LINE = re.compile(
    r"^[ \t*#]*(thought|action input|action|input|observation|final answer|answer)[ \t*]*:[ \t*]*", re.I | re.M
)
_WITH_INPUT = re.compile(r"(?P<name>[^\[\](){}\n]+?)\s*[\[(](?P<input>.*)[\])]\s*\Z", re.DOTALL)
_LAST_TURN = "This is your last turn: give the answer now, without a tool."


@dataclass(frozen=True)
class Rules:
    """What agents may do: the tools by name, how the model is to call them, and the budget of one item."""

    tools: Mapping[str, Tool]
    style: Style
    steps: int
    """Turns, that is calls of the model; in the last one there are no tools any more."""
    tokens: int | None
    """Tokens of all its prompts and answers together; who has used them up is not asked again."""

    @classmethod
    def of(cls, tools: Mapping[str, Any], style: str, steps: int = 1, tokens: int | None = None) -> Rules:
        """Raises ``GenerationError`` for settings that mean nothing."""
        if not tools:
            raise GenerationError("generation.agent_tools names no tool")
        if style not in get_args(Style):
            raise GenerationError(f"generation.agent_style is {' or '.join(get_args(Style))}, not {style!r}")
        if steps < 1 or (tokens is not None and tokens < 1):
            raise GenerationError("generation.agent_steps and agent_tokens are 1 or more (agent_tokens may be null)")
        return cls({name: _tool(name, told) for name, told in tools.items()}, style, steps, tokens)

    def schema(self, *, is_last: bool) -> dict[str, Any] | None:
        """What a turn in the style ``json`` must follow; in the last one there is the answer only."""
        if self.style != "json":
            return None
        tools = () if is_last else self.tools.values()
        inputs = [dict(tool.parameters) for tool in tools if not tool.is_plain]
        text = {"type": "string"}
        properties = {
            "thought": text,
            "action": {"type": "string", "enum": [*(tool.name for tool in tools), ANSWER]},
            "input": {"anyOf": [text, *inputs]} if inputs else text,
        }
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }


@dataclass
class Agent:
    """The agent of one item. As a map (``state``) it is an entry of ``agent_ls`` between two turns."""

    messages: Messages
    turns: int = 0
    tokens: int = 0
    action: str = ""
    """The tool whose result it waits for, or ``answer``; empty before its first turn."""
    input: Any = ""
    call_id: str | None = None
    answer: str | None = None
    ended_by: str = ""
    """Why it ended without having said so: ``steps`` or ``tokens``."""
    remarks: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, state: Any) -> Agent:
        """Raises ``GenerationError`` for what is no entry of ``agent_ls``."""
        try:
            return cls(**state)
        except TypeError:
            raise GenerationError(
                f"agent_ls holds {str(state)[:80]!r}, which is no agent: generation.agent_init begins them"
            ) from None

    def state(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def is_done(self) -> bool:
        return self.action == ANSWER

    def is_at_last_turn(self, rules: Rules) -> bool:
        return self.turns + 1 >= rules.steps

    def hear(self, observation: Any) -> None:
        """Take in what the tool gave that it waits for."""
        if not self.action or self.is_done:
            return
        text = _as_text(observation)
        if self.call_id is not None:
            self.messages.append({"role": "tool", "tool_call_id": self.call_id, "content": text})
        else:
            self.messages.append({"role": "user", "content": f"Observation: {text}"})
        self.action, self.input, self.call_id = "", "", None

    def must_ask(self, rules: Rules) -> bool:
        """Whether its model is to be asked; one without budget ends here, with the last that it said."""
        if self.action:
            return False
        if self.turns and (self.turns >= rules.steps or (rules.tokens is not None and self.tokens >= rules.tokens)):
            self._end(self.last_words(), "steps" if self.turns >= rules.steps else "tokens")
            return False
        return True

    def asked(self, rules: Rules) -> Messages:
        """The conversation that its model is given."""
        if not self.is_at_last_turn(rules):
            return self.messages
        *before, last = self.messages
        if last["role"] != "user" or not isinstance(last["content"], str):
            return [*self.messages, {"role": "user", "content": _LAST_TURN}]
        # Many models are told of turns that alternate: two of the user's in a row are none.
        return [*before, {"role": "user", "content": f"{last['content']}\n\n{_LAST_TURN}"}]

    def took(self, said: Answer, rules: Rules) -> None:
        """Read what the model said: a call, the answer, or something that it must be told is neither."""
        may_call = not self.is_at_last_turn(rules)
        self.turns += 1
        self.tokens += (said.prompt_tokens or 0) + (said.completion_tokens or 0)
        self.remarks = ["cut off at sampling_params.max_tokens"] if said.finish_reason == "length" else []
        if said.calls:
            if len(said.calls) > 1:
                dropped = ", ".join(call.name for call in said.calls[1:])
                self.remarks.append(f"one tool is called in a turn, the further calls were passed over: {dropped}")
            self._took_call(separated(said.text)[0], said.calls[0], rules, may_call=may_call)
        else:
            self._took_text(separated(said.text)[0], rules, may_call=may_call)

    def _took_call(self, text: str, call: ToolCall, rules: Rules, *, may_call: bool) -> None:
        if call.name.casefold() == ANSWER:
            self.messages.append({"role": "assistant", "content": text or _answer_in(call.arguments)})
            self._end(_answer_in(call.arguments) or text)
            return
        function = {"name": call.name, "arguments": call.arguments}
        asked = {"id": call.id, "type": "function", "function": function}
        self.messages.append({"role": "assistant", "content": text, "tool_calls": [asked]})
        if not may_call:
            self._end(text, "steps")
            return
        self.call_id = call.id
        self._call(call.name, call.arguments, rules)

    def _took_text(self, text: str, rules: Rules, *, may_call: bool) -> None:
        parts = _json_parts(text) or _parts(text)
        self.messages.append({"role": "assistant", "content": parts.kept})
        if parts.answer is not None:
            self._end(parts.answer)
        elif not parts.action:
            if rules.style != "native":
                self.remarks.append("neither an action nor an answer was named, what was said is taken as the answer")
            self._end(parts.kept)
        elif not may_call:
            self._end(parts.kept, "steps")
        else:
            self._call(parts.action, parts.input, rules)

    def _call(self, name: str, arguments: str, rules: Rules) -> None:
        """Wait for a tool, or tell the model at once why that can't be called."""
        by_name = {known.casefold(): known for known in rules.tools}
        known = by_name.get(name.casefold(), "")
        self.action = known or name
        try:
            self.input = (
                _read(rules.tools[known], arguments, is_native=self.call_id is not None) if known else arguments
            )
            mistake = "" if known else f"there is no tool {name!r}; there are {', '.join(rules.tools)}"
        except ValueError as error:
            mistake = str(error)
        if mistake:
            self.remarks.append(mistake)
            self.hear(mistake)

    def _end(self, answer: str, ended_by: str = "") -> None:
        self.action, self.input, self.call_id = ANSWER, "", None
        self.answer, self.ended_by = answer.strip(), ended_by

    def last_words(self) -> str:
        """What its model said last; empty before its first turn."""
        return next((m["content"] for m in reversed(self.messages) if m["role"] == "assistant"), "")


@dataclass(frozen=True)
class _Parts:
    kept: str
    """The text up to where the model begins to make up what a tool gives."""
    action: str = ""
    input: str = ""
    answer: str | None = None


def _parts(text: str) -> _Parts:
    """The first action or answer of a text of lines ``Thought:``, ``Action:``, ``Input:``, ``Answer:``."""
    marks = list(_LINE.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    action = ""
    for mark, end in zip(marks, ends, strict=False):  # no mark, no part
        name, said = mark[1].casefold(), text[mark.end() : end].strip()
        if name == "observation":
            return _without_input(text[: mark.start()].rstrip(), action)
        if name.endswith("answer") and action.casefold() in ("", ANSWER):
            return _Parts(text.rstrip(), answer=text[mark.end() :].strip())
        if name == "action" and not action:
            with_input = _WITH_INPUT.match(said)
            if with_input is not None:
                given = with_input["input"].strip().strip("\"'")
                return _called(text[:end].rstrip(), _bare(with_input["name"]), given)
            action = _bare(said)
        elif name.endswith("input") and action:
            if action.casefold() == ANSWER:  # all that follows, as after `Answer:`
                return _called(text.rstrip(), action, text[mark.end() :].strip())
            return _called(text[:end].rstrip(), action, said.strip("\"'") if "\n" not in said else said)
    return _without_input(text.rstrip(), action)


def _without_input(kept: str, action: str) -> _Parts:
    """A tool may need none, an answer does."""
    return _Parts(kept, "" if action.casefold() == ANSWER else action)


def _called(kept: str, action: str, given: str) -> _Parts:
    """The call of a tool; of the action that ends, its input is the answer."""
    return _Parts(kept, answer=given) if action.casefold() == ANSWER else _Parts(kept, action, given)


def _read(tool: Tool, arguments: str, *, is_native: bool) -> Any:
    """A tool's input. Of a plain tool in a text it is what stands there, if nothing else. Raises ``ValueError``."""
    try:
        return tool.read(arguments)
    except ValueError:
        if is_native or not tool.is_plain:
            raise
        return arguments


def _json_parts(text: str) -> _Parts | None:
    """A turn as a JSON object; None where it is none, or not whole."""
    try:
        turn = loaded(text)
    except ValueError:
        return None
    if not isinstance(turn, dict) or "action" not in turn:
        return None
    action, given = str(turn["action"]), turn.get("input", "")
    said = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return _called(text, action, said)


def _answer_in(arguments: str) -> str:
    """The answer in the arguments of a call of ``answer``, a tool that was not offered."""
    try:
        given = loaded(arguments)
    except ValueError:
        return arguments
    if isinstance(given, Mapping):
        texts = [given.get(name) for name in ("input", ANSWER)] + ([*given.values()] if len(given) == 1 else [])
        given = next((text for text in texts if isinstance(text, str)), given or "")
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _bare(name: str) -> str:
    return name.strip().strip("`*\"'.").strip()


def _tool(name: str, told: Any) -> Tool:
    """A tool from ``agent_tools``: a description, or a map with ``description`` and ``parameters``."""
    if name.casefold() == ANSWER:
        raise GenerationError(f"generation.agent_tools: no tool can be called {name}: that is the action that ends")
    if isinstance(told, str):
        return Tool(name, told, _PLAIN, is_plain=True)
    if isinstance(told, Mapping) and isinstance(told.get("parameters"), Mapping):
        return Tool(name, str(told.get("description") or ""), dict(told["parameters"]), is_plain=False)
    raise GenerationError(
        f"generation.agent_tools.{name} is a description, or a map with `description` and `parameters`, a JSON schema"
    )


def _as_text(observation: Any) -> str:
    if isinstance(observation, str):
        return observation
    if isinstance(observation, list) and all(isinstance(entry, str) for entry in observation):
        return "\n\n".join(observation)
    return json.dumps(observation, ensure_ascii=False)
