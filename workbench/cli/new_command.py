"""``ragwb new DIR``: a project folder to start from, made of a template."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
from pathlib import Path

from workbench.cli.exits import Exit
from workbench.cli.printing import print_text
from workbench.cli.report import say
from workbench.cli.trust import programs
from workbench.cli.trust_store import read_trust, write_trust
from workbench.pipeline.prepare import prepare
from workbench.pipeline.project import shipped_folder

_NAME = re.compile(r"[^\W_][\w.-]{0,99}")
_STANDS_FOR_THE_NAME = "NEW_PROJECT"


class CannotMake(Exception):
    """The folder can't be made; ``str()`` says why and what to do."""


def new(options: argparse.Namespace) -> int:
    folder: Path = options.folder
    try:
        _check(folder)
        _make(shipped_folder() / "templates" / options.template, folder)
    except CannotMake as error:
        say(str(error))
        return Exit.WRONG
    except OSError as error:
        say(f"{folder}: can't be made: {error.strerror or error}; nothing is left of it")
        return Exit.WRONG
    (pipeline,) = (folder / "pipelines").glob("*.yaml")
    _trust(pipeline)
    step = f"cd {shlex.quote(str(folder))} && " if folder.resolve() != Path.cwd() else ""
    print_text(f"{folder}: made from the template `{options.template}`\n\n  {step}ragwb pipelines/{pipeline.name}")
    return Exit.WELL


def _check(folder: Path) -> None:
    """Raises ``CannotMake`` for a name that would be trouble, and where something is already."""
    name = folder.resolve().name
    if not _NAME.fullmatch(name):
        raise CannotMake(
            f"{folder}: the name {name!r} is not taken: it must begin with a letter or a digit and hold only letters, "
            "digits, `-`, `_` and `.`"
        )
    if folder.exists() and not folder.is_dir():
        raise CannotMake(f"{folder}: there is a file of this name; give another one")
    if folder.is_dir() and any(folder.iterdir()):
        raise CannotMake(f"{folder}: the folder is not empty, and nothing in it is touched; give the name of a new one")
    if not folder.resolve().parent.is_dir():
        raise CannotMake(f"{folder}: the folder {folder.parent} does not exist; make it first, or give another place")


def _make(template: Path, folder: Path) -> None:
    """Copy the template; all of it is there afterwards, or nothing. Raises ``OSError``."""
    was_there = folder.exists()
    growing = (folder if was_there else folder.parent) / f".{folder.resolve().name}.{os.getpid()}"
    moved: list[Path] = []
    try:
        unwanted = shutil.ignore_patterns("__pycache__", ".pytest_cache", "output", "sessions")
        shutil.copytree(template, growing, ignore=unwanted, copy_function=shutil.copyfile)
        _name(growing, folder.resolve().name)
        if not was_there:
            growing.rename(folder)
            return
        for entry in list(growing.iterdir()):
            moved.append(entry.rename(folder / entry.name))
        growing.rmdir()
    except BaseException:
        for path in (growing, *moved):
            shutil.rmtree(path, ignore_errors=True)
            path.unlink(missing_ok=True)
        raise


def _name(folder: Path, name: str) -> None:
    """Put the project's name where the template leaves room for it."""
    for file in folder.rglob("*"):
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            if _STANDS_FOR_THE_NAME in text:
                file.write_text(text.replace(_STANDS_FOR_THE_NAME, name), encoding="utf-8")


def _trust(pipeline: Path) -> None:
    """Who makes a project writes its servers, and is not asked about them."""
    prepared = prepare(pipeline, checks=False)
    try:
        write_trust(prepared.project, read_trust(prepared.project).with_programs(programs(prepared), is_own=True))
    except OSError as error:
        say(f"{prepared.project}: will be asked about before its first run: {error}")
