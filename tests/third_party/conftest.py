"""Servers that others have written, installed once for all tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.mcp.conftest import bench

__all__ = ["bench"]

CONFIG = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
"""The user's own, before the tests had one of theirs: it says where packages come from."""


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference server of the protocol's authors, from npm."""
    folder = tmp_path_factory.mktemp("node")
    command = [_tool("npm"), "install", "--no-audit", "--no-fund", "--silent"]
    subprocess.run([*command, "@modelcontextprotocol/server-everything"], cwd=folder, check=True, timeout=240)
    return folder / "node_modules" / ".bin" / "mcp-server-everything"


@pytest.fixture(scope="session")
def uvx() -> str:
    return _tool("uvx")


@pytest.fixture(scope="session", params=["2", "3"])
def other_fastmcp(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A virtual environment with an older FastMCP than ragwb's, and that one's major version."""
    folder, uv = tmp_path_factory.mktemp(f"fastmcp{request.param}") / ".venv", _tool("uv")
    env = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"} | {"XDG_CONFIG_HOME": CONFIG}
    wanted = f"fastmcp>={request.param},<{int(request.param) + 1}"
    commands = (["venv", str(folder)], ["pip", "install", "--python", str(folder), wanted])
    for command in commands:  # not here, where uv would heed this project's own constraints
        subprocess.run([uv, *command, "--quiet"], check=True, timeout=240, env=env, cwd=folder.parent)
    return folder, request.param
