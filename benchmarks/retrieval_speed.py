"""How fast and how small retrieval is, beside the bare libraries in the same run:
`uv run python benchmarks/retrieval_speed.py [--passages 100000] [--megabytes 100] [parts]`.

1. `bm25`: index and query of BM25 beside rank-bm25 and bm25s. Above 200,000 passages rank-bm25 is left out.
2. `dense`: search among 100,000 x 384 vectors by the server, over stdio, beside plain faiss. Aim: at most 1.2.
3. `embedding`: passages/s of the server's embedder beside the bare library. Aim: at least 0.95.
4. `chunking`: MB/s beside chonkie alone, where that is installed.
5. `init`: the start of a retriever on saved indexes: time, and memory beside the index. Aims for 1,000,000 passages:
   below 1 s, below half the index.

Passages are made of words drawn by Zipf's law, seed 1. Ratios are of medians; absolute times depend on the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), *(str(ROOT / "servers" / name / "src") for name in ("retriever", "corpus"))]
PARTS = ("bm25", "dense", "embedding", "chunking", "init")
VOCABULARY, LENGTH, WIDTH = 60_000, 50, 384
ROUNDS = 7


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description="Retrieval, beside the bare libraries.")
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="part", help=", ".join(PARTS))
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--megabytes", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for part in options.parts:
            {
                "bm25": lambda: bm25(place, options.passages),
                "dense": lambda: dense(place),
                "embedding": lambda: embedding(place),
                "chunking": lambda: chunking(options.megabytes),
                "init": lambda: init(place, options.passages),
            }[part]()


def bm25(folder: Path, passages: int) -> None:
    """Each library in a process of its own, so that its memory is its own."""
    corpus = write_corpus(folder, passages)
    print(f"BM25, {passages:,} passages of {LENGTH} words")
    libraries = (
        ["ours: bm25s", "bm25s"] if passages > 200_000 else ["ours: rank_bm25", "ours: bm25s", "rank-bm25", "bm25s"]
    )
    for library in libraries:
        code = f"import retrieval_speed; retrieval_speed.bm25_of({library!r}, {str(corpus)!r})"
        subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent)


def bm25_of(ranker: str, corpus: str) -> None:
    """Index, then query by three words; what is printed of memory is the most that the process had."""
    from keywords import Keywords, best
    from passages import Corpus

    queries = [" ".join(f"w{n}" for n in row) for row in np.random.default_rng(2).zipf(1.3, (20, 3)) % VOCABULARY]
    start = time.perf_counter()
    if ranker.startswith("ours"):
        own = Keywords({"ranker": ranker.partition(": ")[2]}, None)
        own.make(Corpus(Path(corpus)))
        search: Callable[[str], Any] = lambda query: best(own.scores(query), 10)  # noqa: E731
    else:
        tokens = [text.split() for text in Corpus(Path(corpus)).texts()]
        if ranker == "rank-bm25":
            from rank_bm25 import BM25Okapi

            okapi = BM25Okapi(tokens)
            search = lambda query: np.argsort(-okapi.get_scores(query.split()))[:10]  # noqa: E731
        else:
            import bm25s

            bare = bm25s.BM25(method="lucene")
            bare.index(tokens, show_progress=False)
            search = lambda query: bare.retrieve([query.split()], k=10, show_progress=False)  # noqa: E731
    made = time.perf_counter() - start
    took = statistics.median(timed(lambda query=query: search(query)) for query in queries)
    print(f"  {ranker:16} index {made:7.1f} s   query {took * 1000:8.2f} ms   memory {peak():6,.0f} MB")


def dense(folder: Path) -> None:
    """A call of the server's tool as a pipeline makes it, over stdio, and the same search by faiss alone."""
    import faiss
    from indexes.flat_faiss import FaissIndex
    from passages import Corpus

    passages, most = 100_000, 64
    corpus = Corpus(write_corpus(folder, passages))
    vectors = unit(np.random.default_rng(3).standard_normal((passages, WIDTH), dtype=np.float32))
    queries = unit(np.random.default_rng(4).standard_normal((most, WIDTH), dtype=np.float32))
    np.save(folder / "queries.npy", queries)
    FaissIndex({"index_path": str(folder / "dense.index")}, "given", corpus).make(vectors, "", True, corpus)
    bare = faiss.IndexFlatIP(WIDTH)
    bare.add(vectors)
    asyncio.run(_dense(folder, corpus.path, queries, bare))


async def _dense(folder: Path, corpus: Path, queries: Any, bare: Any) -> None:
    from workbench.engine.ports import Call
    from workbench.mcp.hub import ServerHub
    from workbench.pipeline.project import ServerSource

    script = Path(__file__).with_name("given_vectors.py")
    env = {"GIVEN_VECTORS": str(folder / "queries.npy"), "PYTHONPATH": str(ROOT)}
    source = ServerSource("retriever", str(script), "project", script.parent, script=script, env=env)
    hub = ServerHub({"retriever": source}, lambda event: None)

    async def call(tool: str, **arguments: Any) -> None:
        await hub.call(Call("retriever", tool, "tool", arguments, 1))

    async def pause() -> float:
        # Threads of the other process' search go on spinning for a moment: neither is to pay for that.
        await asyncio.sleep(0.02)
        return time.perf_counter()

    await call(
        "retriever_init", model_name_or_path="", backend_configs={}, batch_size=64, corpus_path=str(corpus),
        backend="given", index_backend_configs={"faiss": {"index_path": str(folder / "dense.index")}},
    )  # fmt: skip
    for count in (0, 1, 16, 64):
        asked = {"query_list": [str(n) for n in range(count)], "top_k": 10}
        own, alone = [], []
        for _ in range(ROUNDS * (5 if count < 16 else 1)):
            start = await pause()
            await call("retriever_search", **asked)
            own.append(time.perf_counter() - start)
            start = await pause()
            if count:
                bare.search(queries[:count], 10)
            alone.append(time.perf_counter() - start)
        ours, plain = statistics.median(own) * 1000, statistics.median(alone) * 1000
        ratio = f", faiss {plain:.1f} ms, ratio {ours / plain:.2f}" if count else " (what a call costs by itself)"
        print(f"dense, {bare.ntotal:,} x {WIDTH}, {count} queries: ours {ours:.1f} ms{ratio}")
    await hub.close()


def embedding(folder: Path) -> None:
    """The corpus as the retriever embeds it, and the same texts by WordLlama itself."""
    from opening import open_retriever
    from passages import Corpus
    from retrieval import silent

    corpus = write_corpus(folder, 20_000)
    retriever = asyncio.run(open_retriever({"corpus_path": str(corpus), "backend": "bm25"}))
    from embedders.word_vectors import WordVectors

    retriever.embedder = WordVectors("", {}, 64)
    texts = list(Corpus(corpus).texts())
    model = retriever.embedder._model
    own = [timed(lambda: asyncio.run(retriever._embed_corpus(retriever.need_corpus(), silent))) for _ in range(3)]
    bare = [timed(lambda: model.embed(texts, norm=True, batch_size=64)) for _ in range(3)]
    ours, alone = (len(texts) / statistics.median(times) for times in (own, bare))
    print(f"embedding: ours {ours:,.0f} passages/s, wordllama {alone:,.0f}, ratio {ours / alone:.2f}")


def chunking(megabytes: int) -> None:
    """The shipped manual's text, as often as it takes."""
    from chunking import characters, recursive_spans, sentence_spans, token_spans, words

    manual = [
        file.read_text(encoding="utf-8") for file in sorted((ROOT / "pipelines/data/python_manual").glob("*.txt"))
    ]
    texts = manual * max(1, round(megabytes * 1e6 / sum(map(len, manual))))
    size = sum(map(len, texts)) / 1e6
    cuts: dict[str, Callable[..., Any]] = {
        "token": lambda text, find: token_spans(text, find, 256, 16),
        "sentence": lambda text, find: sentence_spans(text, find, 256, 16),
        "recursive": lambda text, find: recursive_spans(text, find, 256),
    }
    for counter, find in {"character": characters, "word": words}.items():
        for name, cut in cuts.items():
            took = timed(lambda cut=cut, find=find: [[text[a:b] for a, b in cut(text, find)] for text in texts])
            print(f"chunking, {size:.0f} MB, {name} by {counter}: {size / took:.1f} MB/s{beside(name, counter, texts)}")


def beside(name: str, counter: str, texts: list[str]) -> str:
    """chonkie's speed, on a tenth of the texts."""
    try:
        import chonkie
    except ImportError:
        return ""
    kinds = {"token": chonkie.TokenChunker, "sentence": chonkie.SentenceChunker, "recursive": chonkie.RecursiveChunker}
    chunker = kinds[name](counter, 256) if name == "recursive" else kinds[name](counter, 256, 16)
    some = texts[: max(1, len(texts) // 10)]
    took = timed(lambda: [chunker(text) for text in some])
    return f", chonkie {sum(map(len, some)) / 1e6 / took:.1f}"


def init(folder: Path, passages: int) -> None:
    """Saved once, then opened in a fresh process each: BM25 by bm25s, vectors by faiss and by numpy."""
    from indexes.flat_faiss import FaissIndex
    from indexes.flat_numpy import NumpyIndex
    from keywords import Keywords
    from passages import Corpus

    corpus = Corpus(write_corpus(folder, passages))
    words = folder / "bm25"
    Keywords({"ranker": "bm25s"}, words).make(corpus)
    vectors = np.random.default_rng(5).standard_normal((passages, WIDTH), dtype=np.float32)
    for name, kind in {"faiss": FaissIndex, "numpy": NumpyIndex}.items():
        kind({"index_path": str(folder / f"{name}.index")}, "wordllama", corpus).make(vectors, "", True, corpus)
    del vectors
    sizes = {name: (folder / f"{name}.index").stat().st_size for name in ("faiss", "numpy")}
    sizes["bm25"] = sum(file.stat().st_size for file in words.iterdir())
    for name, size in sizes.items():
        code = f"import retrieval_speed; retrieval_speed.init_of({name!r}, {str(folder)!r}, {str(corpus.path)!r})"
        said = subprocess.run(
            [sys.executable, "-c", code], check=True, cwd=Path(__file__).parent, capture_output=True, text=True
        ).stdout
        took, memory = map(float, said.split())
        print(
            f"init, {passages:,} passages, {name}: {took:.2f} s, {memory:,.0f} MB more memory, "
            f"index {size / 1e6:,.0f} MB, ratio {memory / (size / 1e6):.2f}"
        )


def init_of(name: str, folder: str, corpus: str) -> None:
    """Open one saved index and search it once by words; time and added memory of the opening alone are printed."""
    from opening import open_retriever

    settings: dict[str, Any] = {"corpus_path": corpus, "backend": "bm25", "backend_configs": {"bm25": {}}}
    if name == "bm25":
        settings["backend_configs"]["bm25"] = {"save_path": f"{folder}/bm25", "ranker": "bm25s"}
        import bm25s  # noqa: F401 - what is loaded once, whatever the index
    else:
        settings |= {"backend": "wordllama", "index_backend": name}
        settings["index_backend_configs"] = {name: {"index_path": f"{folder}/{name}.index"}}
        import faiss  # noqa: F401
        from embedders.word_vectors import WordVectors

        WordVectors("", {}, 64)
    before = resident()
    start = time.perf_counter()
    retriever = asyncio.run(open_retriever(settings))
    took = time.perf_counter() - start
    print(took, resident() - before)
    if name == "bm25":
        retriever.keyword_search(["w1 w2"], 5)


def write_corpus(folder: Path, passages: int) -> Path:
    """A corpus of so many passages, made once."""
    path = folder / f"corpus-{passages}.jsonl"
    if not path.exists():
        with path.open("w", encoding="utf-8") as file:
            for number, text in enumerate(made_texts(passages)):
                file.write(json.dumps({"id": str(number), "contents": text}) + "\n")
    return path


def made_texts(passages: int) -> Iterator[str]:
    """Words by Zipf's law."""
    random = np.random.default_rng(1)
    names = np.array([f"w{n}" for n in range(VOCABULARY)])
    for _ in range(0, passages, 10_000):
        rows = names[random.zipf(1.3, (min(10_000, passages), LENGTH)) % VOCABULARY]
        yield from (" ".join(row) for row in rows)


def unit(rows: Any) -> Any:
    """Rows of length 1."""
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def timed(work: Callable[[], Any]) -> float:
    """Seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def resident() -> float:
    """The memory of this process now, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
