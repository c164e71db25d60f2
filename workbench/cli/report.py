"""Messages to the user: on stderr, safe to show, secrets masked before they come here."""

from __future__ import annotations

import sys

from workbench.engine.visible import visible
from workbench.pipeline.problems import PipelineError


def say(message: str) -> None:
    print(visible(message), file=sys.stderr, flush=True)


def say_problems(error: PipelineError) -> None:
    for problem in error.problems:
        say(str(problem))
