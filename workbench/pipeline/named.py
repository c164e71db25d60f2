"""A pipeline named by its file, or by the bare name of one that lies at hand."""

from __future__ import annotations

from pathlib import Path

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
