"""The program: a pipeline's step tree as blocks that a cursor can stand in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from workbench.pipeline.model import BranchStep, LoopStep, Pipeline, Step, ToolStep, quoted_state, walk

BlockKind = Literal["root", "loop", "router", "branch"]
ROOT = ""


class Block(Struct, frozen=True):
    """Steps that run one after the other: the pipeline itself, a loop's body, a router's steps, or one branch."""

    path: str
    kind: BlockKind
    steps: tuple[Step, ...]
    owner: LoopStep | BranchStep | None = None
    state: str | None = None


class Program(Struct, frozen=True):
    """All blocks by path (``""`` is the pipeline, ``4`` the loop at step 4, ``4.router``, ``4.continue``)."""

    pipeline: Pipeline
    blocks: Mapping[str, Block]
    steps: Mapping[str, Step]
    given: frozenset[str] = frozenset()
    """Every variable that some step gives."""

    @classmethod
    def of(cls, pipeline: Pipeline, given: frozenset[str] = frozenset()) -> Program:
        blocks = {ROOT: Block(ROOT, "root", pipeline.steps)}
        for step in walk(pipeline.steps):
            if isinstance(step, LoopStep):
                blocks[step.path] = Block(step.path, "loop", step.steps, step)
            elif isinstance(step, BranchStep):
                path = router_path(step)
                blocks[path] = Block(path, "router", step.router, step)
                for state, body in step.branches.items():
                    path = branch_path(step, state)
                    blocks[path] = Block(path, "branch", body, step, state)
        return cls(pipeline, blocks, {step.path: step for step in walk(pipeline.steps)}, given)

    def counts_items(self, name: str) -> bool:
        """Whether the list of this name sets the number of items (see the dialect: items)."""
        if self.pipeline.items is not None:
            return name == self.pipeline.items
        return name == "q_ls" or "q_ls" not in self.given

    def is_router(self, step: Step) -> bool:
        block = self.blocks.get(step.path.rpartition(".")[0])
        return isinstance(step, ToolStep) and block is not None and block.kind == "router" and block.steps[-1] is step


def router_path(step: BranchStep) -> str:
    return f"{step.path}.router"


def branch_path(step: BranchStep, state: str) -> str:
    return f"{step.path}.{quoted_state(state)}"
