"""``ragwb`` alone: what is in this folder, and what can be done."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path

from workbench import __version__
from workbench.cli.exits import Exit
from workbench.cli.open_command import open_file
from workbench.cli.printing import print_text
from workbench.cli.report import has_terminal
from workbench.engine.values import count_of
from workbench.engine.visible import one_line
from workbench.pipeline.named import shipped_pipelines
from workbench.record.session_summary import summary

SHOWN, _OFFERED = 8, 100
"""How many files of a kind are listed as text, and offered on the screen."""
_READ_BYTES = 1_000_000
"""What is looked into to tell a pipeline, or the state of a run; files above this are listed only."""


State = Callable[[Path], str]
_Kind = tuple[str, str, Iterable[Path], State]


def overview() -> int:
    """Pipelines, sessions and runs of the current folder: on a terminal to choose from, else as text."""
    title = f"ragwb {__version__}, in {one_line(str(Path().absolute()))}"
    if has_terminal():
        return _choose(title)
    found = [section for kind in _kinds() if (section := _section(*kind))]
    print_text("\n\n".join([title, *(found or [_beginning()])]))
    return Exit.WELL


def _kinds() -> list[_Kind]:
    """Of each kind of file: its title, what is typed to open one, the files, and what looks into one."""
    here = Path()
    return [
        ("Pipelines", "ragwb FILE opens it, ragwb run FILE runs it", _pipelines(here), _meaning),
        ("Sessions", "ragwb resume FILE goes on", here.glob("sessions/*.ragwb"), _session_state),
        ("Saved runs", "ragwb FILE studies it", here.glob("output/memory_*.json"), _run_state),
    ]


def _choose(title: str) -> int:
    from workbench.cli.main import parser
    from workbench.cli.screen import choose

    shipped: _Kind = ("Pipelines that ragwb ships", "", shipped_pipelines(), _meaning)
    offers = [offer for kind in _kinds() for offer in _offers(*kind)] or list(_offers(*shipped))
    file = choose(title, offers)
    return open_file(parser().parse_args(["open", "--", str(file)])) if file is not None else Exit.WELL


def _offers(title: str, _: str, files: Iterable[Path], state: State) -> Iterator[tuple[str, Path, str, State]]:
    for modified, _size, file in _newest_first(files)[:_OFFERED]:
        yield title, file, _date(modified), state


def _section(title: str, hint: str, files: Iterable[Path], state: State) -> str:
    dated = _newest_first(files)
    if not dated:
        return ""
    lines = [f"{title} ({hint})"]
    width = max(len(str(file)) for *_, file in dated[:SHOWN])
    for modified, count, file in dated[:SHOWN]:
        size = _in_words(count)
        lines.append(f"  {_date(modified)}  {size:>8}  {one_line(f'{file!s:<{width}}  {state(file)}'.rstrip())}")
    if len(dated) > SHOWN:
        lines.append(f"  and {len(dated) - SHOWN} older")
    return "\n".join(lines)


def _newest_first(files: Iterable[Path]) -> list[tuple[float, int, Path]]:
    return sorted(((*_date_and_size(file), file) for file in files), reverse=True)


def _date(modified: float) -> str:
    return datetime.fromtimestamp(modified).strftime("%Y-%m-%d %H:%M")


def _beginning() -> str:
    pipelines = shipped_pipelines()
    width = max(len(file.stem) for file in pipelines)
    return "\n".join(
        [
            "Nothing of ragwb is in this folder yet. To begin:",
            "",
            "  ragwb new DIR        a project folder of your own, that runs at once",
            "  ragwb FILE           a pipeline or a saved run of yours, on the screen",
            "  ragwb doctor         what is installed, and what is missing",
            "",
            "Or a pipeline that ragwb ships, by its name (`ragwb sayhello`, or without a screen `ragwb run sayhello`):",
            "",
            *(f"  {file.stem:<{width}}  {_meaning(file)}" for file in pipelines),
        ]
    )


def _pipelines(folder: Path) -> list[Path]:
    files = [file for pattern in ("*.y*ml", "pipelines/*.y*ml") for file in folder.glob(pattern)]
    return [file for file in files if "\npipeline:" in f"\n{_text(file)}"]


def _meaning(pipeline: Path) -> str:
    """The comment with which a pipeline begins."""
    first = _text(pipeline).partition("\n")[0]
    return first.removeprefix("#").strip() if first.startswith("#") else ""


def _session_state(file: Path) -> str:
    return str(summary(file) or "can't be read")


def _run_state(file: Path) -> str:
    try:
        run = json.loads(_text(file))
        return f"{count_of(len(run), 'visit')}, the last of {run[-1]['step']}"
    except (ValueError, LookupError, TypeError):
        return ""


def _text(file: Path) -> str:
    """A file's text; empty where it is large or can't be read."""
    try:
        return file.read_text(encoding="utf-8-sig") if file.is_file() and file.stat().st_size < _READ_BYTES else ""
    except (OSError, UnicodeDecodeError):
        return ""


def _date_and_size(file: Path) -> tuple[float, int]:
    try:
        about = file.stat()
    except OSError:  # it was taken away meanwhile
        return 0.0, 0
    return about.st_mtime, about.st_size


def _in_words(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
