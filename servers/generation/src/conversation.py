"""Conversations from what a pipeline has: prompts, messages, pictures."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Mapping, Sequence
from typing import Any

from answer import GenerationError
from backend import Messages

from workbench.mcp.kit import find_file
from workbench.mcp.paths import project
from workbench.mcp.shown_files import may_be_shown

_ROLES = ("user", "assistant", "system")
_ADDRESSES = ("http://", "https://", "data:")


def conversation(content: Any, system_prompt: str) -> Messages:
    """The prompt as the user's message, after the system's if there is one."""
    system = [{"role": "system", "content": system_prompt}] if system_prompt.strip() else []
    return [*system, {"role": "user", "content": content}]


def prompt_text(prompt: Any, label: str) -> str:
    """The stripped text of a prompt: text, ``{"text"}``, ``{"content": str}`` or ``{"content": {"text"}}``.

    Raises ``GenerationError`` for anything else.
    """
    content = prompt
    if isinstance(content, dict):
        content = content.get("content", content.get("text"))
    if isinstance(content, dict):
        content = content.get("text")
    if not isinstance(content, str):
        raise GenerationError(
            f"item {label}: a prompt must be text or a message {{role, content: {{type: text, text}}}}; "
            f"found {str(prompt)[:80]}"
        )
    return content.strip()


def dialogue(messages: Sequence[Mapping[str, Any]], system_prompt: str) -> Messages:
    """The turns that say something, after the system prompt. Raises ``GenerationError`` if there are none."""
    said = [
        {"role": message["role"], "content": str(message["content"])}
        for message in messages
        if message.get("role") in _ROLES and str(message.get("content") or "").strip()
    ]
    if not said:
        raise GenerationError("messages: there is no message with a role (user, assistant, system) and a text")
    system = [{"role": "system", "content": system_prompt}] if system_prompt.strip() else []
    return [*system, *said]


def with_images(text: str, images: Sequence[str], tag: str | None, label: str) -> list[dict[str, Any]]:
    """A message's parts: the images, then the text; with a tag, each image where the tag stands in the text.

    An image that is not there is left out: see ``missing_images``. Raises ``GenerationError`` where tags and images
    differ in number, and for a file that is no image, or none of the project's.
    """
    parts = [_image(image, label) for image in images or ()]
    if not tag:
        return [*filter(None, parts), _text(text)]
    pieces = text.split(tag)
    if len(pieces) - 1 != len(parts):
        raise GenerationError(
            f"item {label}: its prompt has {tag} {len(pieces) - 1} times, and it has {len(parts)} images"
        )
    woven = [_text(pieces[0])]
    for part, piece in zip(parts, pieces[1:], strict=True):
        woven += [*filter(None, [part]), _text(piece)]
    return [part for part in woven if part.get("text") != ""]


def missing_images(images: Sequence[str]) -> list[str]:
    """Those that are neither an address nor a file."""
    return [image for image in images or () if not image.startswith(_ADDRESSES) and not find_file(image).is_file()]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _image(image: str, label: str) -> dict[str, Any] | None:
    """An address as it is, a file as a data address; None where there is no such file. Raises ``GenerationError``."""
    if image.startswith(_ADDRESSES):
        return {"type": "image_url", "image_url": {"url": image}}
    path = find_file(image)
    if not path.is_file():
        return None
    if not may_be_shown(path):
        raise GenerationError(f"item {label}: {image}: an image must lie in the project folder, {project()}")
    kind = mimetypes.guess_type(path.name, strict=False)[0] or ""
    if not kind.startswith("image/"):
        raise GenerationError(f"item {label}: {image}: by its name this is no image ({kind or 'of no known kind'})")
    data = base64.b64encode(path.read_bytes()).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}
