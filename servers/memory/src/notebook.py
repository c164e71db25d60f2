"""What a user has asked and was told, as Markdown that people and the retriever read: one file a day."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

GLOBAL, PROJECT = "MEMORY.md", "project"


def global_memory(folder: Path) -> str:
    """What is always to be known of the user; empty until somebody writes it, for nothing is made up."""
    file = folder / GLOBAL
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def write_down(folder: Path, questions: Sequence[str], answers: Sequence[str], now: datetime) -> Path:
    """Add exchanges to the day's file; those that another process adds meanwhile stay whole."""
    (folder / PROJECT).mkdir(exist_ok=True)
    file = folder / PROJECT / f"{now:%Y-%m-%d}.md"
    text = "".join(
        f"## {now:%Y-%m-%d %H:%M:%S}\n\n- user: {_one_paragraph(question)}\n- assistant: {_one_paragraph(answer)}\n\n"
        for question, answer in zip(questions, answers, strict=True)
    )
    with _locked(file) as descriptor:
        os.write(descriptor, text.encode("utf-8"))
    return file


@contextmanager
def _locked(file: Path) -> Iterator[int]:
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _one_paragraph(text: str) -> str:
    """Headings are what entries begin with: none must come from what somebody said."""
    return "\n  ".join(line.rstrip() for line in text.strip().splitlines())
