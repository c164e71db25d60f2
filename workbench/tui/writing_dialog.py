"""Questions that are answered with a text: a model's answer, and JSON where a form can't be shown."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from workbench.engine.ports import Asked, Reply
from workbench.mcp.forms import Wrong, read_json
from workbench.tui.edit_dialog import EDITABLE_CHARACTERS
from workbench.tui.editor import Editor
from workbench.tui.question_dialog import Asking, QuestionDialog
from workbench.tui.text import visible

_SCHEMA_CHARACTERS = 20_000


class WritingDialog(QuestionDialog):
    """The question above, a box to write in below."""

    QUESTION_PART = 3

    def compose_answer(self) -> ComposeResult:
        editor = Editor(visible(self.question.text), soft_wrap=True, tab_behavior="indent", compact=True)
        editor.cursor_blink = False
        yield editor

    def on_mount(self) -> None:
        self.add_class("-written")
        self.set_focus(self.query_one(Editor))

    @on(TextArea.Changed)
    def _keep(self) -> None:
        self.question.text = self.query_one(Editor).text


class JsonDialog(WritingDialog):
    """A form whose schema is none: it is shown as it is, and what the server wants is written as JSON."""

    def question_text(self) -> str:
        schema = self._asked.request.get("requestedSchema")
        shown = json.dumps(schema, indent=2, ensure_ascii=False, default=str)[:_SCHEMA_CHARACTERS]
        return f"{self._asked.message}\n\nWhat it wants can't be shown as a form: write a JSON map.\n{shown}"

    def action_accept(self) -> None:
        try:
            value = read_json(self.query_one(Editor).text)
            if not isinstance(value, dict):
                raise Wrong('must be a map, as {"name": "value"}')
        except Wrong as wrong:
            self.complain(str(wrong))
        else:
            self.settle(Reply("accept", value))


class SamplingDialog(WritingDialog):
    """A server asks for a model's answer; nothing goes to it that the user has not seen.

    ``ask_model`` gives the answer of the pipeline's own model, where it has one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+g", "ask_model", show=False, priority=True)]

    def __init__(self, asking: Asking, ask_model: Callable[[], Awaitable[Reply]] | None) -> None:
        super().__init__(asking)
        self._ask_model = ask_model
        self._is_asking = False
        self._whole: tuple[str, str] | None = None
        """What the model answered, and what the box shows of it: left as it is, the first is sent."""

    @property
    def is_busy(self) -> bool:
        return self._is_asking

    def keys(self) -> str:
        by_model = "^G the model answers · " if self._ask_model is not None else ""
        return f"{by_model}^S sends · ^R refuses · ^L later · Esc cancels"

    def question_text(self) -> str:
        return "\n".join(sampling_lines(self._asked))

    @work(exclusive=True)
    async def action_ask_model(self) -> None:
        if self._ask_model is None or self._is_asking:
            return
        self._is_asking = True
        self.complain("the pipeline's model answers …")
        try:
            reply = await self._ask_model()
        except Exception as error:
            reply = Reply("decline", reason=str(error))
        finally:
            self._is_asking = False
        self._show(reply)

    def _show(self, reply: Reply) -> None:
        if reply.action != "accept":
            self.complain(reply.reason)
            return
        text, editor = str(reply.content), self.query_one(Editor)
        editor.text = visible(self._mask(text))[:EDITABLE_CHARACTERS]
        editor.read_only = len(text) > EDITABLE_CHARACTERS
        self._whole = (text, editor.text)
        more = f"these are the first {EDITABLE_CHARACTERS:,} of {len(text):,} characters: too many to edit here"
        self.complain(more if editor.read_only else "")

    def action_accept(self) -> None:
        text = self.query_one(Editor).text
        if self._is_asking:
            return
        if not text.strip():
            self.complain("there is no answer yet: write one" + (", or let the model" if self._ask_model else ""))
            return
        if self._whole is not None and text == self._whole[1]:
            text = self._whole[0]
        self.settle(Reply("accept", text))


def sampling_lines(asked: Asked) -> Iterator[str]:
    """A sampling request as it is read: what limits the answer, the system prompt, then who says what."""
    request = asked.request
    limits = {"maxTokens": "at most {} tokens", "temperature": "temperature {}", "stopSequences": "stops at {}"}
    yield " · ".join(
        ["asks for a model's answer", *(text.format(request[k]) for k, text in limits.items() if k in request)]
    )
    if isinstance(request.get("systemPrompt"), str):
        yield f"system: {request['systemPrompt']}"
    messages = request.get("messages")
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, Mapping):
            yield f"{message.get('role', 'user')}: {_content(message.get('content'))}"


def _content(content: Any) -> str:
    blocks = content if isinstance(content, list) else [content]
    return "\n".join(_block(block) for block in blocks)


def _block(block: Any) -> str:
    if isinstance(block, Mapping) and isinstance(block.get("text"), str):
        return str(block["text"])
    kind = block.get("type", "content") if isinstance(block, Mapping) else type(block).__name__
    about = f" {block['mimeType']}" if isinstance(block, Mapping) and "mimeType" in block else ""
    return f"[{kind}{about}]"
