"""The user at the terminal: messages on stderr, safe to show, secrets masked before they come here."""

from __future__ import annotations

import contextlib
import sys

from workbench.engine.visible import visible
from workbench.pipeline.problems import PipelineError


def has_terminal() -> bool:
    """Whether a screen can be shown: what is typed comes from a terminal, and what is shown (on stderr) goes to one."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def not_one() -> str:
    """Which streams are no terminal, where only some are not."""
    streams = {"stdin": sys.stdin, "stdout": sys.stdout, "stderr": sys.stderr}
    missing = [name for name, stream in streams.items() if stream is None or not stream.isatty()]
    return (
        f" ({' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} none)" if len(missing) < len(streams) else ""
    )


def say(message: str) -> None:
    """One message; nothing where stderr is closed or its reader is gone: a run goes on without being told of."""
    with contextlib.suppress(OSError, AttributeError, ValueError):
        print(visible(message), file=sys.stderr, flush=True)


def say_problems(error: PipelineError) -> None:
    for problem in error.problems:
        say(str(problem))
