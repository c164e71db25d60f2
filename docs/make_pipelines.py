"""Writes pipelines/README.md: each shipped pipeline's own words, and its tree. Run it after a pipeline has changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.pipeline.model import BranchStep, LoopStep, Step, ToolStep, quoted_state
from workbench.pipeline.reader import read_pipeline

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "pipelines" / "README.md"
HEAD = """\
# Pipelines

What each of them shows stands in its first lines, repeated here with its tree; the numbers are the step paths that
breakpoints, events and panes use. `ragwb NAME` opens one, `ragwb run NAME` runs it to its end on embedded defaults.
`docs/make_pipelines.py` writes this page.
"""


def described(file: Path) -> list[str]:
    """The comment that a pipeline begins with, line by line."""
    lines = file.read_text(encoding="utf-8").splitlines()
    end = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    return [line.removeprefix("#").strip() for line in lines[:end]]


def tree(steps: Sequence[Step], indent: str = "") -> Iterator[str]:
    for step in steps:
        if isinstance(step, ToolStep):
            yield f"{indent}{step.path}  {step.name}"
        elif isinstance(step, LoopStep):
            yield f"{indent}{step.path}  loop, at most {step.times} times"
            yield from tree(step.steps, f"{indent}│  ")
        elif isinstance(step, BranchStep):
            yield f"{indent}{step.path}  branch"
            yield from tree(step.router, f"{indent}│  ? ")
            for state, body in step.branches.items():
                yield f"{indent}│  {quoted_state(state)}:{'' if body else ' (nothing)'}"
                yield from tree(body, f"{indent}│  │  ")


def page() -> str:
    parts = [HEAD]
    for file in sorted((ROOT / "pipelines").glob("*.yaml")):
        steps = read_pipeline(file).pipeline.steps
        parts.append("\n".join([f"## {file.stem}", "", *described(file), "", "```text", *tree(steps), "```", ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    README.write_text(page(), encoding="utf-8")
