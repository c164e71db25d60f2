"""A pipeline named by its file, or by the bare name of one that lies at hand."""

from __future__ import annotations

from pathlib import Path

from workbench.pipeline.problems import close_names, did_you_mean, nearest
from workbench.pipeline.project import shipped_folder


def shipped_pipelines() -> list[Path]:
    """The pipelines that ragwb brings along."""
    return sorted((shipped_folder() / "pipelines").glob("*.yaml"))


def named_pipeline(given: Path) -> tuple[Path, str]:
    """The file that is meant: ``rag``, if there is no such file, is ``pipelines/rag.yaml`` of this folder, else the
    one that ragwb ships; and what is to be said of that. What leads to no pipeline is given back as it is.
    """
    if given.exists() or given.name != str(given) or given.suffix not in ("", ".yaml"):
        return given, ""
    here, shipped = (folder / "pipelines" / f"{given.stem}.yaml" for folder in (Path(), shipped_folder()))
    if here.is_file():
        return here, f"{given}: taken as {here}"
    if shipped.is_file():
        return shipped, f"{given}: no file of this folder; taken as the pipeline that ragwb ships ({shipped})"
    return given, ""


def instead_of(missing: Path) -> str:
    """What may be meant by the name of a file that is not there, as the end of a message."""
    folder = missing.parent
    beside = [file for pattern in ("*.y*ml", "pipelines/*.y*ml") for file in folder.glob(pattern)]
    here = {file.stem: str(file) for file in reversed(beside)}
    names = {file.stem: file.stem for file in shipped_pipelines()} if missing.name == str(missing) else {}
    known = {**names, **here}
    if close := close_names(missing.stem, known):
        return did_you_mean(known[name] for name in close)
    return nearest(missing.name, here.values(), noun="files here") if here else ""
