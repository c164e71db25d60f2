"""The value at the cursor on its way out: into a pager, into a file."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import Any

from textual.app import App

from workbench.engine.values import Message
from workbench.tui.dialogs import Confirm, LineDialog
from workbench.tui.outside import show_in_pager
from workbench.tui.previews import full_text


async def read_outside(app: App[Any], value: Any) -> None:
    """Raises ``NoProgram``."""
    show_in_pager(app, await asyncio.to_thread(full_text, value))


async def save_to_file(app: App[Any], name: str, value: Any) -> Path | None:
    """Ask for a path and write the value there, as it is; the file, or None where the user thought better of it."""
    is_text = isinstance(value, str | Message)
    path = re.sub(r"[^\w.-]+", "_", name).strip("_") + (".txt" if is_text else ".json")
    return await save_text(app, name, path, await asyncio.to_thread(full_text, value))


async def save_text(app: App[Any], name: str, path: str, text: str, hint: str = "") -> Path | None:
    """Ask for a path, ``path`` being offered, and write the text there; the file, or None as above."""
    saved: list[Path] = []

    async def save(path: str) -> None:
        file, is_there = await asyncio.to_thread(_looked_up, path)
        if is_there and not await app.push_screen_wait(Confirm(f"{file} is there already. Overwrite it?")):
            raise ValueError(f"{file} is left as it is")
        try:
            await asyncio.to_thread(_write, file, text)
        except OSError as error:
            raise ValueError(f"{file} can't be written: {error.strerror}") from None
        saved.append(file)

    hint = f"{hint}; " * bool(hint) + f"from {os.getcwd()}; folders are made"
    await app.push_screen_wait(LineDialog(f"Save {name} to", path, save, example="value.json", hint=hint))
    return saved[0] if saved else None


def _looked_up(path: str) -> tuple[Path, bool]:
    file = Path(path).expanduser()
    if not path or file.is_dir():
        raise ValueError("give the path of a file")
    return file, file.exists()


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    ends = file.suffix == ".json" and not text.endswith("\n")
    file.write_text(text + "\n" * ends, encoding="utf-8", errors="surrogatepass")
