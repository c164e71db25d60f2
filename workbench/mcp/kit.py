"""What servers are written with: ``ToolServer``, a FastMCP server that declares what tools take and give."""

from __future__ import annotations

import functools
import inspect
import json
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import yaml
from fastmcp import FastMCP
from fastmcp.exceptions import FastMCPError, PromptError, ToolError
from fastmcp.prompts import Message, Prompt, PromptResult
from fastmcp.server.dependencies import get_context
from fastmcp.tools import Tool, ToolResult
from fastmcp.utilities.types import get_cached_typeadapter
from mcp_types import PromptMessage
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from workbench.mcp.description import describe, write_description
from workbench.mcp.half_pairs import whole as whole_text
from workbench.mcp.mishaps import telling_where
from workbench.mcp.paths import find_file, output_path

__all__ = [
    "MarkedResult",
    "Message",
    "PromptMessage",
    "ToolServer",
    "call_item_lists",
    "call_items",
    "check_lengths",
    "find_file",
    "item_numbers",
    "output_path",
    "report",
]

T = TypeVar("T")
_META = "ragwb"


class MarkedResult(ToolResult):
    """A tool's outputs with marks on them: items of the call that failed while others did not, and warnings.

    ``failed`` has places in the call's lists (from 0) and the reason of each. Lists of outputs keep an entry there,
    whatever it is: ``MarkedResult({"ans_ls": ["Oslo", None]}, failed={1: "the prompt is too long"})``.
    """

    def __init__(
        self, outputs: Mapping[str, Any], *, failed: Mapping[int, str] | None = None, warnings: Sequence[str] = ()
    ) -> None:
        said = {"failed": {str(place): reason for place, reason in (failed or {}).items()}, "warnings": list(warnings)}
        marks = {name: value for name, value in said.items() if value}
        super().__init__(structured_content=dict(outputs), meta={_META: marks} if marks else None)


class ToolServer(FastMCP[Any]):
    """A FastMCP server whose tools and prompts are annotated with ``output="q_ls,top_k->ret_psg"``.

    Further keywords of ``tool`` and ``prompt``: ``outputs_from="benchmark.key_map"`` (the outputs are the
    keys of that part of a parameter), ``whole=("table",)`` (outputs that are never item lists) and
    ``stateful=True``; of ``prompt`` also ``more_inputs="variables"`` (a step may give inputs of any name; those that
    are no argument come as a map in that one). All others are FastMCP's. ``logger`` writes to stderr, from the level
    that the environment's ``log_level`` names.
    """

    def __init__(self, name: str | None = None, instructions: str | None = None, **options: Any) -> None:
        super().__init__(name, instructions, **options)
        self.logger = make_logger(self.name)
        super().tool(self.build)

    def tool(
        self,
        name_or_fn: Any = None,
        *,
        output: str | None = None,
        outputs_from: str | None = None,
        whole: Sequence[str] = (),
        stateful: bool = False,
        pure: bool = False,
        **options: Any,
    ) -> Any:
        """Register a tool: ``@app.tool``, ``@app.tool(output=...)`` or ``app.tool(method, output=...)``."""
        _add_meta(options, output=output, outputs_from=outputs_from, whole=list(whole), stateful=stateful, pure=pure)
        if stateful or pure:
            options.setdefault("annotations", {"readOnlyHint": pure, "idempotentHint": pure})
        if callable(name_or_fn):
            return super().tool(telling_where(name_or_fn), **options)
        if isinstance(name_or_fn, str):
            options["name"] = name_or_fn
        return lambda function: FastMCP.tool(self, telling_where(function), **options)

    def prompt(
        self,
        name_or_fn: Any = None,
        *,
        output: str | None = None,
        outputs_from: str | None = None,
        whole: Sequence[str] = (),
        stateful: bool = False,
        more_inputs: str | None = None,
        pure: bool = False,
        **options: Any,
    ) -> Any:
        """Register a prompt, as ``tool`` does a tool.

        It may return text, or a list of texts, ``Message``s, ``PromptMessage``s and ``{"role", "content"}``.
        """
        said = {"outputs_from": outputs_from, "whole": list(whole), "stateful": stateful, "pure": pure}
        _add_meta(options, output=output, more_inputs=more_inputs, **said)
        if callable(name_or_fn):
            return super().prompt(_giving_messages(name_or_fn), **options)
        if isinstance(name_or_fn, str):
            options["name"] = name_or_fn
        return lambda function: FastMCP.prompt(self, _giving_messages(function), **options)

    async def build(self, parameter_file: str) -> None:
        """Write server.yaml beside the parameter file: path, parameter, tools and prompts of this server."""
        tools = {tool.name: _signature(tool) for tool in await self.list_tools() if tool.name != "build"}
        prompts = {prompt.name: _signature(prompt) for prompt in await self.list_prompts()}
        file = Path(parameter_file)
        target = write_description(file, describe(file, tools, prompts))
        self.logger.info("wrote %s", target)

    def load_config(self, file_path: str) -> dict[str, Any]:
        """A YAML file as a mapping; an empty one is an empty mapping."""
        content = yaml.safe_load(Path(file_path).read_text(encoding="utf-8"))
        return content or {}

    async def render_prompt(self, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> PromptResult:
        """FastMCP's, with the arguments that the client had to send as JSON decoded again."""
        if not options.get("run_middleware", True):
            prompt = await self.get_prompt(name, version=options.get("version"))
            arguments = _gathered(prompt, _decoded(prompt, arguments))
        try:
            return _sendable(await super().render_prompt(name, arguments, **options))
        except (FastMCPError, UnicodeEncodeError) as error:
            raise _sendable_error(error, PromptError) from error

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> Any:
        """FastMCP's, with an error for what can't be sent: the line would never be written, and the client waits."""
        try:
            return _sendable(await super().call_tool(name, arguments, **options))
        except (FastMCPError, UnicodeEncodeError) as error:
            raise _sendable_error(error, ToolError) from error

    def run(self, transport: Any = None, show_banner: bool | None = False, **options: Any) -> None:
        """Serve until the client closes the connection."""
        super().run(transport, show_banner=show_banner, **options)


def call_items() -> tuple[int, ...] | None:
    """The numbers of the items that the running call is about; ``None`` if it is about no items."""
    items = _request_meta().get("items")
    return tuple(items) if isinstance(items, list) else None


def item_numbers(count: int) -> Sequence[int]:
    """The numbers in the run of the items of a call whose lists have ``count`` entries; places where it has no items.

    An item in a branch is told apart by its number alone: its place in the lists is another one.
    """
    items = call_items()
    return items if items is not None and len(items) == count else range(count)


def check_lengths(**lists: Sequence[Any]) -> None:
    """Lists of one call belong together item by item. Raises ``ToolError`` for unequal ones, with their lengths."""
    if len({len(values) for values in lists.values()}) > 1:
        sizes = ", ".join(f"{name} has {len(values)}" for name, values in lists.items())
        raise ToolError(f"one entry per item is needed in each list, but {sizes}")


def call_item_lists() -> tuple[str, ...] | None:
    """Which arguments of a prompt with ``more_inputs`` have one entry per item; ``None`` if the client does not say."""
    names = _request_meta().get("item_lists")
    return tuple(names) if isinstance(names, list) else None


async def report(progress: float, total: float | None = None, message: str | None = None) -> None:
    """Tell the client how far the running call is; ``message`` may be the next piece of an answer."""
    await get_context().report_progress(progress, total, whole_text(message) if message else message)


def _sendable(result: T) -> T:
    """The result. Raises ``UnicodeEncodeError`` for half surrogate pairs; FastMCP looks at structured content alone."""
    said = [getattr(result, "meta", None), getattr(result, "content", None), getattr(result, "messages", None)]
    try:
        to_json(said)
    except PydanticSerializationError:
        json.dumps(to_jsonable_python(said), ensure_ascii=False).encode()
    return result


def _sendable_error(error: Exception, kind: type[FastMCPError]) -> Exception:
    if isinstance(error, UnicodeEncodeError):
        return kind(f"its result can't be sent: it holds half a surrogate pair, {error.object[error.start]!a}")
    words = str(error)
    return error if whole_text(words) == words else kind(whole_text(words))


def _request_meta() -> dict[str, Any]:
    try:
        request = get_context().request_context
    except RuntimeError:  # called outside a request, as tests do
        return {}
    return (request.meta if request is not None else None) or {}


def _add_meta(options: dict[str, Any], **said: Any) -> None:
    """Put what the dialect needs to know under ``meta["ragwb"]``, where a client finds it."""
    ours = {name: value for name, value in said.items() if value or (name == "output" and value is not None)}
    if ours:
        options["meta"] = {**(options.get("meta") or {}), _META: ours}


def _signature(component: Tool | Prompt) -> tuple[list[str], str | None]:
    """Argument names, in the order of the function, and the annotation."""
    annotation = ((component.meta or {}).get(_META) or {}).get("output")
    if isinstance(component, Prompt):
        return [argument.name for argument in component.arguments or ()], annotation
    return list(component.parameters.get("properties") or ()), annotation


def _giving_messages(function: Callable[..., Any]) -> Callable[..., Any]:
    """The prompt function with its result as FastMCP takes it."""
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def later(*args: Any, **kwargs: Any) -> Any:
            return _messages(await function(*args, **kwargs))

        return later

    @functools.wraps(function)
    def now(*args: Any, **kwargs: Any) -> Any:
        return _messages(function(*args, **kwargs))

    return now


def _messages(result: Any) -> Any:
    return [_message(entry) for entry in result] if isinstance(result, list | tuple) else result


def _message(entry: Any) -> Any:
    if isinstance(entry, dict) and "content" in entry:
        message = entry if isinstance(entry["content"], dict) else {**entry, "content": _text(entry["content"])}
        entry = PromptMessage.model_validate({"role": "user", **message})
    return Message(entry.content, role=entry.role) if isinstance(entry, PromptMessage) else entry


def _text(content: Any) -> dict[str, str]:
    return {
        "type": "text",
        "text": content if isinstance(content, str) else json.dumps(content, ensure_ascii=False),
    }


def _gathered(prompt: Prompt | None, arguments: dict[str, Any] | None) -> dict[str, Any] | None:
    """The arguments, those of other names as a map in the one that takes them."""
    meta = (prompt.meta or {}) if prompt is not None else {}
    into = (meta.get(_META) or {}).get("more_inputs")
    if into is None or prompt is None or not arguments:
        return arguments
    known = {argument.name for argument in prompt.arguments or ()}
    plain = {name: value for name, value in arguments.items() if name in known}
    further = {name: value for name, value in arguments.items() if name not in known}
    if not further:
        return plain
    if "encoded" not in _request_meta():  # another client, which has made text of lists without a word
        further = {name: _fitting(value, list[Any]) for name, value in further.items()}
    given = plain.get(into)
    return {**plain, into: {**(given if isinstance(given, dict) else {}), **further}}


def _decoded(prompt: Prompt | None, arguments: dict[str, Any] | None) -> dict[str, Any] | None:
    """The arguments as they were before the client made text of them, where the annotation allows that.

    The client names those it encoded: FastMCP would leave JSON in a ``str | list`` undecoded, and in an
    argument without annotation.
    """
    encoded = _request_meta().get("encoded")
    function = getattr(prompt, "fn", None)
    if not arguments or not isinstance(encoded, list) or function is None:
        return arguments
    hints = get_type_hints(inspect.unwrap(function), include_extras=True)
    return {
        name: _fitting(value, hints.get(name, Any)) if name in encoded else value for name, value in arguments.items()
    }


def _fitting(text: str, annotation: Any) -> Any:
    """The value in a JSON text if it fits the annotation, else the text."""
    try:
        value = json.loads(text)
        get_cached_typeadapter(annotation).validate_python(value)
    except (ValueError, TypeError):
        return text
    return value


def make_logger(name: str, level: str | None = None) -> logging.Logger:
    """A logger that writes to stderr, from ``level`` or else the environment's ``log_level`` on."""
    logger = logging.getLogger(name)
    wanted = (level or os.environ.get("log_level") or "warn").upper()  # noqa: SIM112
    logger.setLevel(logging.getLevelNamesMapping().get(wanted, logging.WARNING))
    logger.propagate = False
    if not logger.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        logger.addHandler(handler)
    return logger
