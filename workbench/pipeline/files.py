"""The texts of files, read whole; what can't be read is refused in the words of a message."""

from __future__ import annotations

from pathlib import Path

from workbench.pipeline import yaml_nodes as nodes
from workbench.pipeline.named import instead_of
from workbench.pipeline.problems import PipelineError, Problem


def read_text(file: Path) -> str:
    """The text of a file, without a byte order mark. Raises ``PipelineError`` where it can't be read."""
    try:
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise _refused(file, "this is a pipe or a device; ragwb reads regular files only")
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise _refused(file, f"no such file{instead_of(file)}") from None
    except IsADirectoryError:
        found = sorted(p.name for p in file.glob("*.y*ml"))
        hint = f"; pipelines in it: {', '.join(found[:8])}" if found else ""
        raise _refused(file, f"this is a folder, not a pipeline file{hint}") from None
    except UnicodeDecodeError as error:
        raise _refused(file, f"not a text file in UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise _refused(file, f"can't be read: {error.strerror or error}") from None


def composed(file: Path, text: str) -> nodes.Node | None:
    """The root node of a file's text; None where it is empty. Raises ``PipelineError``."""
    try:
        return nodes.compose(text)
    except nodes.YamlError as error:
        raise PipelineError([Problem(file, error.position, str(error))]) from None


def repeated_keys(file: Path, root: nodes.Node) -> list[Problem]:
    """A mistake for each key that its map has already."""
    return [repeated_key(file, key, first) for key, first in nodes.repeated_inside(root)]


def repeated_key(file: Path, key: nodes.Node, first: nodes.Node, noun: str = "key") -> Problem:
    line = nodes.position(first).line
    return Problem(file, nodes.position(key), f"the {noun} `{key.value}` is already on line {line}")


def _refused(file: Path, message: str) -> PipelineError:
    return PipelineError([Problem(file, None, message)])
