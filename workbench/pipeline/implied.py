"""The step that the dialect adds to a pipeline with a memory server: questions and answers are saved after the run."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from workbench.pipeline.checks import Checked
from workbench.pipeline.declaration import ServerDeclaration
from workbench.pipeline.model import FromVariable, InputSource, Literal, Pipeline, ToolStep
from workbench.pipeline.parameters import ParameterSet

SAVE = "save_memory"
_READS = ("q_ls", "ans_ls")
_USER, _NOBODY = "user_id", "default"


def with_memory_saved(
    pipeline: Pipeline, checked: Checked, declarations: Mapping[str, ServerDeclaration], parameters: ParameterSet
) -> Pipeline:
    """The pipeline with a last step that saves, where it uses a memory server, has questions and answers, and saves
    none itself. That step stands at the line of its server.
    """
    if any(step.tool == SAVE for step in pipeline.tool_steps()):
        return pipeline
    used = (alias for alias in pipeline.used_aliases() if alias in pipeline.servers)
    alias = next((a for a in used if a in declarations and SAVE in declarations[a].tools), None)
    given = {output.target for binding in checked.bindings.values() for output in binding.outputs}
    if alias is None or not given.issuperset(_READS):
        return pipeline
    position = pipeline.servers[alias].position
    inputs: dict[str, InputSource] = {name: FromVariable(name) for name in _READS}
    if _USER not in parameters.of(alias):
        inputs[_USER] = Literal(_NOBODY)
    path = str(len(pipeline.steps) + 1)
    step = ToolStep(path, position, position.line, alias, SAVE, inputs, is_implied=True)
    return replace(pipeline, steps=(*pipeline.steps, step))
