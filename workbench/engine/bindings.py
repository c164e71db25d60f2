"""The bindings of a session: from the servers' files at first, from the running servers once they answer."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.engine.inputs import StepError
from workbench.engine.ports import Tools
from workbench.pipeline.binding import Binding
from workbench.pipeline.checks import Checked
from workbench.pipeline.declaration import ServerDeclaration
from workbench.pipeline.model import ToolStep
from workbench.pipeline.prepare import Prepared
from workbench.pipeline.problems import PipelineError


class Bindings:
    """Every step's binding, kept up to date with what the servers say."""

    def __init__(self, prepared: Prepared, tools: Tools) -> None:
        self._prepared = prepared
        self._tools = tools
        self._live: dict[str, ServerDeclaration] = {}
        self._checked: Checked = prepared.checked

    @property
    def known(self) -> Mapping[str, Binding]:
        """Bindings by step path; a step is missing whose server has not yet told what it offers."""
        return self._checked.bindings

    def given(self) -> frozenset[str]:
        """Every variable that some step gives."""
        bound = {o.target for b in self.known.values() for o in b.outputs if not o.is_parameter}
        written = {target for step in self._prepared.pipeline.tool_steps() for target in step.outputs.values()}
        return frozenset(bound | written)

    async def learn(self, alias: str) -> None:
        """Wait for a server and take its word. Raises ``ServerStartFailed``."""
        declaration = await self._tools.declaration(alias)
        if self._live.get(alias) is not declaration:
            self._live[alias] = declaration
            self._checked = self._prepared.checked_with(self._live)

    def check(self) -> None:
        """Raises ``PipelineError`` where what the servers say and what the pipeline says do not go together."""
        if self._checked.errors:
            raise PipelineError(self._checked.errors)

    async def of(self, step: ToolStep) -> Binding:
        """The binding of a step, once its server is up. Raises ``ServerStartFailed``, ``StepError``."""
        await self.learn(step.alias)
        mistakes = [
            p for p in self._checked.errors if p.position and step.position.line <= p.position.line <= step.last_line
        ]
        if mistakes:
            raise StepError("\n".join(map(str, mistakes)))
        binding = self.known.get(step.path)
        if binding is None:
            raise StepError(f"server {step.alias} offers no tool or prompt {step.tool}")
        return binding
