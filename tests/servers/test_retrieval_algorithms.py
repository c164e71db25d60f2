"""The retriever's algorithms against the libraries' own values, and what must hold whatever the input."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filters import matches, read_filter
from hits import Hit, maximal_marginal_relevance, reciprocal_rank_fusion, weighted_fusion
from hypothesis import given
from hypothesis import strategies as st
from keywords import BM25S, RankBM25, best
from passages import Corpus, Stamp
from quality import ranking_quality
from word_cutting import words

from workbench.cases.keywords import tokenize

corpora = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), min_size=1, max_size=12)
rankings = st.lists(st.integers(0, 20), unique=True, max_size=10)


def hits(positions: Sequence[int]) -> list[Hit]:
    return [Hit(str(n), f"text {n}", 1.0 / (rank + 1), n) for rank, n in enumerate(positions)]


@given(passages=corpora, query=st.lists(st.sampled_from("abcdefg"), max_size=4))
def test_both_libraries_give_the_same_scores(passages: list[list[str]], query: list[str]) -> None:
    small, large = RankBM25.of_tokens(passages).scores(query), BM25S.of_tokens(passages).scores(query)
    assert np.allclose(small, large, rtol=0, atol=1e-6)
    assert all((score > 0) == bool(set(query) & set(passage)) for score, passage in zip(small, passages, strict=True))


def test_scores_are_okapis_where_idf_is_the_same() -> None:
    """rank_bm25's own class gives the same term weights; only the idf is Lucene's, which is never below zero."""
    from rank_bm25 import BM25Okapi

    passages = [["salt", "mill"], ["north", "light", "light"], ["ferry"], ["mill", "salt", "salt", "salt"], ["fair"]]
    okapi = BM25Okapi(passages)
    okapi.idf["light"] = np.log(1 + (5 - 1 + 0.5) / (1 + 0.5))
    assert RankBM25.of_tokens(passages).scores(["light"]) == pytest.approx(okapi.get_scores(["light"]), abs=1e-12)


@pytest.mark.parametrize("ranker", [RankBM25, BM25S])
def test_a_ranker_is_the_same_after_it_was_saved(ranker: Any, tmp_path: Path) -> None:
    passages = [["salt", "mill"], [], ["mill", "盐"]]
    made = ranker.of_tokens(passages)
    made.save(tmp_path)
    kept = ranker.load(tmp_path)
    for query in (["mill"], ["盐", "salt", "salt"], ["none"], []):
        assert kept.scores(query).tolist() == made.scores(query).tolist()


@given(scores=st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=20), top_k=st.integers(1, 8))
def test_the_best_are_those_of_a_full_sort(scores: list[float], top_k: int) -> None:
    full = sorted((n for n, score in enumerate(scores) if score > 0), key=lambda n: (-scores[n], n))
    assert best(np.array(scores), top_k) == full[:top_k]


@given(text=st.text(alphabet="abC _-é盐 1٣ﬁ.", max_size=30))
def test_the_quick_way_cuts_as_the_study_of_runs_does(text: str) -> None:
    assert words(text) == tokenize(text)


@given(first=rankings, second=rankings, weight=st.sampled_from([0.5, 1.0, 2.0]))
def test_fusion_does_not_depend_on_the_order_of_the_lists(first: list[int], second: list[int], weight: float) -> None:
    a, b, weights = hits(first), hits(second), {"a": weight, "b": 1.0}
    for one, other in [
        (reciprocal_rank_fusion({"a": a, "b": b}, weights, 60), reciprocal_rank_fusion({"b": b, "a": a}, weights, 60)),
        (weighted_fusion({"a": a, "b": b}, weights), weighted_fusion({"b": b, "a": a}, weights)),
    ]:
        assert [(hit.key, hit.score) for hit in one] == [(hit.key, hit.score) for hit in other]
        assert {hit.position for hit in one} == {*first, *second}
        assert [hit.score for hit in one] == sorted((hit.score for hit in one), reverse=True)


def test_rank_fusion_by_hand() -> None:
    fused = reciprocal_rank_fusion({"a": hits([1, 2]), "b": hits([2, 3])}, {}, 60)
    assert [(hit.position, hit.score) for hit in fused] == [
        (2, pytest.approx(1 / 62 + 1 / 61)), (1, pytest.approx(1 / 61)), (3, pytest.approx(1 / 62)),
    ]  # fmt: skip


def test_weighted_fusion_by_hand() -> None:
    a = [Hit("x", "x", 4.0, 0), Hit("y", "y", 3.0, 1), Hit("z", "z", 2.0, 2)]
    fused = weighted_fusion({"a": a, "b": [Hit("y", "y", 0.9, 1)]}, {"a": 1.0, "b": 0.25})
    assert [(hit.id, hit.score) for hit in fused] == [("x", 1.0), ("y", 0.75), ("z", 0.0)]


@given(seed=st.integers(0, 50), top_k=st.integers(1, 8), trade=st.sampled_from([0.0, 0.3, 0.7, 1.0]))
def test_mmr_is_greedy_by_its_formula(seed: int, top_k: int, trade: float) -> None:
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((6, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    relevance, likeness = random.random(6, dtype=np.float32), vectors @ vectors.T
    chosen: list[int] = []
    while len(chosen) < min(top_k, 6):
        rest = [n for n in range(6) if n not in chosen]
        gains = [trade * relevance[n] - (1 - trade) * max((likeness[n][m] for m in chosen), default=0.0) for n in rest]
        chosen.append(rest[int(np.argmax(gains))])
    assert maximal_marginal_relevance(relevance, likeness, top_k, trade) == chosen
    if trade == 1:
        assert chosen == np.argsort(-relevance, kind="stable")[:top_k].tolist()


@given(found=st.lists(rankings, min_size=1, max_size=5), seed=st.integers(0, 20))
def test_rankings_are_scored_as_trec_eval_does(found: list[list[int]], seed: int) -> None:
    trec = pytest.importorskip("pytrec_eval", reason="pip install 'ragwb[trec]'")
    golds = [[str(n) for n in range(seed % 7, 21, 5 + at)] for at in range(len(found))]
    names = [[str(n) for n in row] for row in found]
    own = ranking_quality(names, golds)["per_query"]
    qrels = {str(at): dict.fromkeys(gold, 1) for at, gold in enumerate(golds)}
    run = {
        str(at): {name: 100.0 - rank for rank, name in enumerate(row)} or {"none": 1.0} for at, row in enumerate(names)
    }
    values = trec.RelevanceEvaluator(qrels, {"recall.5", "recip_rank", "ndcg_cut.10"}).evaluate(run)
    for at in range(len(found)):
        theirs = values[str(at)]
        mine = (own["recall@5"][at], own["mrr"][at], own["ndcg@10"][at])
        assert mine == pytest.approx((theirs["recall_5"], theirs["recip_rank"], theirs["ndcg_cut_10"]), abs=1e-6)


@pytest.mark.parametrize(
    ("given_filter", "found"),
    [
        ({}, "abc"),
        ({"lang": "en"}, "ab"),
        ({"lang": ["en", "de"]}, "abc"),
        ({"lang": {"ne": "en"}}, "c"),
        ({"tags": "x"}, "ac"),
        ({"tags": {"not_in": ["y"]}}, "bc"),
        ({"year": {"gte": 1950, "lt": 2000}}, "b"),
        ({"year": {"gt": "1950"}}, ""),
        ({"nothing": {"ne": 1}}, "abc"),
        ({"nothing": 1}, ""),
    ],
)
def test_filters(given_filter: dict[str, Any], found: str) -> None:
    records = {
        "a": {"lang": "en", "year": 1900, "tags": ["x", "y"]},
        "b": {"lang": "en", "year": 1950},
        "c": {"lang": "de", "year": 2000, "tags": ["x"]},
    }
    where = read_filter(given_filter)
    assert "".join(name for name, record in records.items() if matches(record, where)) == found


@given(
    texts=st.lists(st.text(max_size=20), min_size=1, max_size=8), ends=st.sampled_from(["\n", "\r\n", "\n\n", "\n  \n"])
)
def test_a_corpus_gives_each_passage_as_it_was_written(tmp_path_factory: Any, texts: list[str], ends: str) -> None:
    path = tmp_path_factory.mktemp("corpus") / "c.jsonl"
    path.write_bytes(ends.join(json.dumps({"contents": text}) for text in texts).encode())
    corpus = Corpus(path)
    assert [corpus.text(n) for n in range(len(corpus))] == list(corpus.texts()) == texts
    other = Corpus(path)
    other.trust("known", Stamp(0, 0))
    assert other.fingerprint == corpus.fingerprint


def test_one_query_on_several_threads_finds_what_faiss_finds(tmp_path: Path) -> None:
    import faiss
    from indexes.flat_faiss import FaissIndex

    count, width = 20_003, 8
    (tmp_path / "c.jsonl").write_text('{"contents": "a"}\n' * count)
    corpus = Corpus(tmp_path / "c.jsonl")
    random = np.random.default_rng(1)
    vectors = random.standard_normal((count, width), dtype=np.float32)
    vectors[[7, 9_000, 19_999]] = vectors[3]  # equal scores in several parts
    index = FaissIndex({"index_path": str(tmp_path / "i.index")}, "m", corpus)
    index.make(vectors, "", True, corpus)
    bare = faiss.IndexFlatIP(width)
    bare.add(vectors)
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(3)
    try:
        assert index.load("")  # mapped, no more in memory
        for query in (vectors[3:4], random.standard_normal((1, width), dtype=np.float32)):
            for top_k in (1, 5, 12_000):
                [found] = index.search(query, top_k, (), "")
                scores, positions = bare.search(query, top_k)
                assert [hit.score for hit in found] == pytest.approx(scores[0].tolist(), abs=1e-6)
                assert {hit.position for hit in found} == set(positions[0].tolist()) or top_k == 1
    finally:
        faiss.omp_set_num_threads(threads)
        index.close()
    assert [hit.position for hit in found][:1] == positions[0].tolist()[:1]
