"""Messages to the user: on stderr, safe to show, secrets masked before they come here."""

from __future__ import annotations

import contextlib
import sys

from workbench.engine.visible import visible
from workbench.pipeline.problems import PipelineError


def say(message: str) -> None:
    """One message; nothing where stderr is closed or its reader is gone: a run goes on without being told of."""
    with contextlib.suppress(OSError, AttributeError, ValueError):
        print(visible(message), file=sys.stderr, flush=True)


def say_problems(error: PipelineError) -> None:
    for problem in error.problems:
        say(str(problem))
