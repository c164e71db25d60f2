"""``--question``: what is typed takes the place of the questions in the benchmark server's file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

PARAMETER = "benchmark.benchmark.questions"


class AskedQuestion(argparse.Action):
    """Another form of ``--set``: all questions together are one parameter."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        sets = list(getattr(namespace, self.dest) or ())
        asked = [*getattr(namespace, "questions", ()), str(values)]
        namespace.questions = asked
        others = [one for one in sets if not one.startswith(f"{PARAMETER}=")]
        setattr(namespace, self.dest, [*others, f"{PARAMETER}={json.dumps(asked, ensure_ascii=False)}"])
