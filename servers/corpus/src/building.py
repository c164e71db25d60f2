"""Going through documents: one bad file is named and skipped, or stops the run; what became of all is told."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from documents import DocumentError, document_files, is_document, unreadable
from fastmcp.exceptions import ToolError

from workbench.mcp.kit import MarkedResult, report

Made = TypeVar("Made")

ON_BAD_FILE = ("skip", "stop")


@dataclass
class Account:
    """What became of the files."""

    root: Path
    seen: int = 0
    used: int = 0
    left_out: list[str] = field(default_factory=list)
    """Documents that gave nothing, each with the reason."""
    warnings: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    """Files that are no documents."""

    def shown(self) -> MarkedResult:
        """For the tool's result: numbers and names, and a warning for each document that is not whole."""
        account = {"seen": self.seen, "used": self.used, "left_out": self.left_out,
                   "warnings": self.warnings, "skipped": self.skipped}  # fmt: skip
        return MarkedResult({"documents": account}, warnings=[*self.left_out, *self.warnings])

    def summary(self) -> str:
        """One line, and one for each document that is not whole."""
        lines = [f"{self.seen} documents seen, {self.used} used, {len(self.skipped)} other files skipped"]
        return "\n".join([*lines, *self.left_out, *self.warnings])


def check_policy(on_bad_file: str) -> None:
    """Raises ``ToolError`` for another word than skip or stop."""
    if on_bad_file not in ON_BAD_FILE:
        raise ToolError(f"unknown corpus.on_bad_file {on_bad_file!r}; use {' or '.join(ON_BAD_FILE)}")


async def each_document(
    root: Path, on_bad_file: str, read: Callable[[Path], Made], keep: Callable[[Path, Made], Sequence[str]],
    suffixes: Sequence[str] = (),
) -> Account:  # fmt: skip
    """``read`` every document in a thread, then ``keep`` it, which returns warnings. Progress is told by file.

    Raises ``ToolError`` for a bad file where that is to stop the run, or if no document is left.
    """
    check_policy(on_bad_file)
    files, others = document_files(root)
    if suffixes:
        others = sorted([*others, *(file for file in files if file.suffix.lower() not in suffixes)])
        files = [file for file in files if file.suffix.lower() in suffixes]
        if not files:
            raise DocumentError(f"{root}: no {', '.join(suffixes)} file in it")
    # Somebody's documents all the same: to pass over them without a word would look as if they were in.
    unread = [] if suffixes else [file for file in others if is_document(file)]
    if unread and on_bad_file == "stop":
        raise DocumentError(f"{unread[0]}: {unreadable(unread[0])}")
    account = Account(
        root,
        seen=len(files) + len(unread),
        left_out=[f"{name_of(file, root)}: {unreadable(file)}" for file in unread],
        skipped=[name_of(file, root) for file in others if file not in unread],
    )
    for number, file in enumerate(files, start=1):
        try:
            made = await asyncio.to_thread(read, file)
        except DocumentError as error:
            if on_bad_file == "stop" or file == root:
                raise
            account.left_out.append(str(error).replace(str(file), name_of(file, root)))
        else:
            account.warnings += [f"{name_of(file, root)}: {warning}" for warning in keep(file, made)]
            account.used += 1
        await told(number, len(files), name_of(file, root))
    print(account.summary(), file=sys.stderr)
    if not account.used:
        raise ToolError(f"{root}: no document could be used. " + "; ".join(account.left_out))
    return account


def name_of(file: Path, root: Path) -> str:
    """A document's id: its path below the root, unique even where names are equal."""
    return file.name if file == root else file.relative_to(root).as_posix()


async def told(done: int, total: int, what: str) -> None:
    """Progress, where there is a client to hear it."""
    try:
        await report(done, total, what)
    except RuntimeError:
        print(f"{done} of {total}: {what}", file=sys.stderr)
