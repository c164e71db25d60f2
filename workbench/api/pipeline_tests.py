"""Runs pipelines for tests: what the fixture ``ragwb_pipeline`` gives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from workbench.api.background import BackgroundLoop
from workbench.api.finished_run import Run
from workbench.api.lent_servers import ServerPool
from workbench.api.sessions import Sets, assignments, opened, text_of
from workbench.api.wiring import Wiring
from workbench.engine.events import Event
from workbench.engine.ports import ServerStartFailed
from workbench.engine.visible import visible
from workbench.pipeline.named import named_pipeline
from workbench.pipeline.prepare import Prepared, prepare
from workbench.pipeline.problems import PipelineError


class SharedServers:
    """What all tests of a session have in common: a loop in the background, and the servers on it."""

    def __init__(self, output: Path) -> None:
        self.loop = BackgroundLoop()
        self.env = {"RAGWB_OUTPUT": str(output)}
        self.pool = ServerPool(self.env)

    def close(self) -> None:
        self.loop.run(self.pool.close())
        self.loop.close()


class PipelineRunner(Struct, frozen=True):
    """Runs pipelines to their end. A path is looked for in the current folder, then in ``root``.

    Memory files go to ``folder``. No session is kept, and nobody is asked whether servers may start: who writes a test
    has decided.
    """

    shared: SharedServers
    root: Path
    folder: Path

    async def __call__(
        self,
        pipeline: str | Path,
        *,
        sets: Sets = (),
        param_file: str | Path | None = None,
        mcp_config: str | Path | None = None,
        fresh: bool = False,
    ) -> Run:
        """Run a pipeline; returns what it left, also where a step failed.

        ``sets``, ``param_file`` and ``mcp_config`` are what ``workbench.open`` takes. With ``fresh`` it gets servers of
        its own; without, those of an earlier run if nothing that they depend on has changed: what they keep in their
        memory is then still there. Raises ``PipelineError``, ``ServerStartFailed``.
        """
        prepared = self._prepared(pipeline, sets, param_file, mcp_config)
        return await self.shared.loop.awaited(self._run(prepared, fresh))

    def run(
        self,
        pipeline: str | Path,
        *,
        sets: Sets = (),
        param_file: str | Path | None = None,
        mcp_config: str | Path | None = None,
        fresh: bool = False,
    ) -> Run:
        """The same for a test that is no coroutine."""
        prepared = self._prepared(pipeline, sets, param_file, mcp_config)
        return self.shared.loop.run(self._run(prepared, fresh))

    def check(self, pipeline: str | Path, *, sets: Sets = ()) -> list[str]:
        """Every mistake and every warning that ``ragwb check`` would tell; nothing is started."""
        try:
            return [str(warning) for warning in self._prepared(pipeline, sets, None, None).warnings]
        except PipelineError as error:
            return [str(problem) for problem in error.problems]

    async def _run(self, prepared: Prepared, fresh: bool) -> Run:
        lent = None if fresh else self.shared.pool.lent(prepared)
        wiring = Wiring(prepared, tools=lent, keeps_session=False, folder=self.folder, env=self.shared.env)
        events: list[Event] = []
        with _safe_to_print():
            async with opened(wiring, events.append) as debugger:
                stop = await debugger.run("continue")
        return Run(debugger, stop, events)

    def _prepared(
        self, pipeline: str | Path, sets: Sets, param_file: str | Path | None, mcp_config: str | Path | None
    ) -> Prepared:
        file = self._file(Path(pipeline))
        sets = assignments(sets)
        with _safe_to_print():
            return prepare(file, sets=sets, param_file=text_of(param_file), mcp_config=text_of(mcp_config))

    def _file(self, given: Path) -> Path:
        below = self.root / given
        return below if not given.exists() and below.is_file() else named_pipeline(given)[0]


@contextmanager
def _safe_to_print() -> Iterator[None]:
    """pytest prints what an error says as it is; what files and servers say may hold control sequences."""
    try:
        yield
    except PipelineError as error:
        raise PipelineError(
            [replace(problem, message=visible(problem.message)) for problem in error.problems]
        ) from None
    except ServerStartFailed as error:
        raise ServerStartFailed(visible(str(error)), alias=error.alias) from None
