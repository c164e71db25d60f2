"""``ragwb serve``: one retriever for several pipelines, over HTTP."""

from __future__ import annotations

import argparse
import os
import sys
from typing import NoReturn

from workbench.pipeline.project import shipped_folder


def add_serve_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The options of ``ragwb serve``."""
    serving = commands.add_parser("serve", help="serve a retriever to several pipelines, over HTTP")
    serving.add_argument("file", metavar="PARAMETERS", help="a pipeline's parameter file")
    serving.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: this machine alone)")
    serving.add_argument("--port", type=int, default=64501, help="its port (default: 64501)")


def serve(options: argparse.Namespace) -> NoReturn:
    """Become the retriever's own HTTP server, until it is interrupted; it ends with 2 for wrong parameters."""
    script = shipped_folder() / "servers" / "retriever" / "src" / "serving.py"
    sys.stdout.flush()
    command = [sys.executable, str(script), options.file, "--host", options.host, "--port", str(options.port)]
    os.execv(sys.executable, command)
