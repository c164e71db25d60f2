"""What a server answers, as the engine takes it: declarations, tool results, prompt messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from workbench.engine.ports import CallResult
from workbench.mcp.framing import decode, members
from workbench.pipeline.declaration import Argument, ServerDeclaration, ToolDeclaration

_WRAPPED = "x-fastmcp-wrap-result"
_PREFIX = re.compile(r"^Error (?:calling tool|rendering prompt) (['\"]).*?\1: ", re.DOTALL)

_MISFITS = re.compile(r"\A\d+ validation errors? for call\[[^\]]*\]\n")
_MISFIT = re.compile(
    r"^(?P<name>\S[^\n]*)\n  (?P<said>[^\n]+?) \[type=(?P<kind>\w+), input_value=(?P<value>.*?), input_type=\w+\]"
    r"(?:\n    For further information visit \S+)?$",
    re.MULTILINE,
)


class ToolReportedError(Exception):
    """The result of a tool says that it failed; ``str()`` is the tool's own words."""


def declare(alias: str, tools: Iterable[Mapping[str, Any]], prompts: Iterable[Mapping[str, Any]]) -> ServerDeclaration:
    """A declaration from the entries of ``tools/list`` and ``prompts/list``; of one name the first counts."""
    declared = [*map(_tool, tools), *map(_prompt, prompts)]
    by_name: dict[str, ToolDeclaration] = {}
    for tool in declared:
        by_name.setdefault(tool.name, tool)
    return ServerDeclaration(alias=alias, tools=by_name)


def wraps_results(tool: Mapping[str, Any]) -> bool:
    """Whether the entry of ``tools/list`` says that results come as ``{"result": value}``."""
    return bool((tool.get("outputSchema") or {}).get(_WRAPPED))


def _tool(entry: Mapping[str, Any]) -> ToolDeclaration:
    schema = entry.get("inputSchema") or {}
    required = schema.get("required") or ()
    arguments = (
        Argument(name, required=name in required, default=about.get("default") if isinstance(about, dict) else None)
        for name, about in (schema.get("properties") or {}).items()
    )
    ours, hints = _ours(entry), entry.get("annotations") or {}
    return ToolDeclaration(
        name=entry["name"],
        kind="tool",
        arguments=tuple(arguments),
        annotation=ours.get("output", hints.get("output")),
        outputs_from=ours.get("outputs_from"),
        whole=tuple(ours.get("whole") or ()),
        stateful=bool(ours.get("stateful")),
        pure=bool(ours.get("pure")),
        description=entry.get("description") or "",
    )


def _prompt(entry: Mapping[str, Any]) -> ToolDeclaration:
    ours = _ours(entry)
    return ToolDeclaration(
        name=entry["name"],
        kind="prompt",
        arguments=tuple(
            Argument(argument["name"], required=bool(argument.get("required")))
            for argument in entry.get("arguments") or ()
        ),
        annotation=ours.get("output"),
        outputs_from=ours.get("outputs_from"),
        whole=tuple(ours.get("whole") or ()),
        stateful=bool(ours.get("stateful")),
        more_inputs=ours.get("more_inputs"),
        pure=bool(ours.get("pure")),
        description=entry.get("description") or "",
    )


def _ours(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    found = (entry.get("_meta") or {}).get("ragwb")
    return found if isinstance(found, dict) else {}


def tool_result(raw: msgspec.Raw, *, wrapped: bool) -> CallResult:
    """The value of a ``tools/call`` result. Raises ``ToolReportedError``.

    It is the structured content, else the text; a text that is a JSON object counts as structured. What is neither
    (images, sound, resources and links to them) stays as MCP has it, a map with ``type``, ``mimeType`` and ``data`` or
    ``uri``: alone it is the value, beside other content it is in the list ``content`` of the value.
    """
    parts = members(raw)
    if parts.get("isError") == msgspec.Raw(b"true"):
        raise ToolReportedError(own_words(_text(parts) or "the tool gave no reason"))
    meta = decode(parts["_meta"]) if "_meta" in parts else {}
    return replace(_value(parts, meta, wrapped=wrapped), **_marks(meta))


def _marks(meta: Mapping[str, Any]) -> dict[str, Any]:
    """What a server of the kit says about its result: the items that failed, and warnings."""
    said = meta.get("ragwb")
    if not isinstance(said, dict):
        return {}
    failed = {int(place): str(reason) for place, reason in (said.get("failed") or {}).items()}
    return {"failed": failed, "warnings": tuple(map(str, said.get("warnings") or ()))}


def _value(parts: Mapping[str, msgspec.Raw], meta: Mapping[str, Any], *, wrapped: bool) -> CallResult:
    structured = _structured(parts)
    media = _media(parts)
    if structured is not None:
        wrapped = wrapped or bool((meta.get("fastmcp") or {}).get("wrap_result"))
        if media:
            return CallResult({"content": media, **structured})
        unwrap = wrapped and structured.keys() == {"result"}
        return CallResult(structured["result"] if unwrap else structured)
    if media:
        blocks = _blocks(parts)
        return CallResult(blocks[0] if len(blocks) == 1 else {"content": blocks})
    text = _text(parts)
    value = _object(text)
    return CallResult(text, is_structured=False) if value is None else CallResult(value)


def prompt_result(raw: msgspec.Raw) -> CallResult:
    """The messages of a ``prompts/get`` result, as plain dicts."""
    parts = members(raw)
    return CallResult(decode(parts["messages"]) if "messages" in parts else [])


def own_words(message: str) -> str:
    """An error without what FastMCP puts in front of it; of arguments that do not fit, a line each."""
    words = _PREFIX.sub("", message, count=1)
    if _MISFITS.match(words) is None:
        return words
    return "\n".join(map(_misfit, _MISFIT.finditer(words))) or words


def _misfit(found: re.Match[str]) -> str:
    """An argument, and what pydantic says of it."""
    value = "null" if found["value"] == "None" else found["value"]
    came = "" if found["kind"].startswith("missing") else f"; found {value}"
    return f"`{found['name']}`: {found['said']}{came}"


def _structured(parts: Mapping[str, msgspec.Raw]) -> dict[str, Any] | None:
    """The structured content. Its nulls may be NaN in the text: MCP's library writes them so."""
    raw = parts.get("structuredContent")
    if raw is None:
        return None
    content = bytes(parts.get("content", b""))
    if b"null" in bytes(raw) and (b"NaN" in content or b"Infinity" in content):
        exact = _object(_text(parts))
        if exact is not None:
            return exact
    value = decode(raw)
    return value if isinstance(value, dict) else None


class _Kind(msgspec.Struct):
    """Of a block of content only what it is: a text of megabytes is passed over, not decoded."""

    type: str = ""


_kinds = msgspec.json.Decoder(list[_Kind])


def _media(parts: Mapping[str, msgspec.Raw]) -> list[dict[str, Any]]:
    """The blocks that are no text."""
    try:
        if all(block.type == "text" for block in _kinds.decode(parts.get("content", b"[]"))):
            return []
    except msgspec.MsgspecError:
        pass
    return [block for block in _blocks(parts) if block.get("type") != "text"]


def _blocks(parts: Mapping[str, msgspec.Raw]) -> list[dict[str, Any]]:
    blocks = decode(parts["content"]) if "content" in parts else []
    return [block for block in blocks if isinstance(block, dict)]


def _text(parts: Mapping[str, msgspec.Raw]) -> str | None:
    """The texts of all blocks, line by line; None where there is none."""
    texts = [block.get("text") for block in _blocks(parts) if block.get("type") == "text"]
    found = [text for text in texts if isinstance(text, str)]
    return "\n".join(found) if found else None


def _object(text: str | None) -> dict[str, Any] | None:
    if text is None or not text.lstrip().startswith("{"):
        return None
    try:
        value = decode(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
