"""Codes follow the stated rule, semantic IDs their capacity, and texts become vectors alike."""

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from trainer.checkpoint import load_state
from trainer.errors import InputError
from trainer.semantic_ids import rqkmeans
from trainer.semantic_ids.codebooks import Codebooks, Layer, read_codebooks
from trainer.semantic_ids.kmeans import balanced, kmeans
from trainer.semantic_ids.placement import place
from trainer.semantic_ids.rqvae import sinkhorn
from trainer.semantic_ids.settings import QuantiserPlan, codes_for
from trainer.semantic_ids.text_embedding import (PART_SHARE, TextEmbedding, fit,
                                                 read_text_embedding)
from trainer.semantic_ids.words import parts, words
from trainer.tests.sids_folders import some_texts

F32 = np.float32


def scalar_sum(terms):
    """The rule's sum, one float32 operation after another."""
    lanes = [F32(0)] * 16
    for place_, term in enumerate(terms):
        lanes[place_ % 16] = F32(lanes[place_ % 16] + term)
    for half in (8, 4, 2, 1):
        lanes = [F32(lanes[j] + lanes[j + half]) for j in range(half)]
    return lanes[0]


def scalar_codes(books, vector):
    """Codes of one vector by loops alone."""
    row = [F32(x) for x in vector]
    for number, layer in enumerate(books.encoder):
        row = [F32(scalar_sum([F32(w * x) for w, x in zip(weights, row)]) + bias)
               for weights, bias in zip(layer.weight, layer.bias)]
        if number + 1 < len(books.encoder):
            row = [max(x, F32(0)) for x in row]
    codes = []
    for book in books.levels:
        best = None
        for code, centre in enumerate(book):
            apart = [F32(x - c) for x, c in zip(row, centre)]
            distance = scalar_sum([F32(x * x) for x in apart])
            if best is None or distance < best[0]:
                best = (distance, code)
        codes.append(best[1])
        row = [F32(x - c) for x, c in zip(row, book[best[1]])]
    return codes


def random_books(rng, dimension, codes=7, levels=3, grid=None, capacity=1, encoder=()):
    shape = (codes, dimension)
    levels = [rng.normal(size=shape) if grid is None else rng.integers(-grid, grid + 1, shape)
              for _ in range(levels)]
    return Codebooks([book.astype(F32) for book in levels], capacity, list(encoder))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dimension", [1, 15, 16, 37])
def test_codes_are_those_of_the_rule_with_ties_to_the_lower_code(seed, dimension):
    rng = np.random.default_rng([seed, dimension])
    grid = 1 if seed % 2 else None
    books = random_books(rng, dimension, grid=grid)
    vectors = (rng.normal(size=(25, dimension)) if grid is None
               else rng.integers(-2, 3, (25, dimension))).astype(F32)
    codes, _ = books.encode(vectors)
    assert codes.tolist() == [scalar_codes(books, v) for v in vectors], f"seed {seed}"


def test_an_encoder_goes_before_the_codes_by_the_same_rule():
    rng = np.random.default_rng(5)
    layers = [Layer(rng.normal(size=shape).astype(F32), rng.normal(size=shape[0]).astype(F32))
              for shape in ((24, 19), (11, 24))]
    books = random_books(rng, 11, encoder=layers)
    vectors = rng.normal(size=(30, 19)).astype(F32)
    assert books.encode(vectors)[0].tolist() == [scalar_codes(books, v) for v in vectors]


def test_vectors_between_two_codes_are_decided_by_the_rule_alone():
    rng = np.random.default_rng(9)
    books = random_books(rng, 21, codes=40, levels=1)
    pairs = rng.integers(40, size=(200, 2))
    vectors = ((books.levels[0][pairs[:, 0]] + books.levels[0][pairs[:, 1]]) / 2).astype(F32)
    assert books.encode(vectors)[0].tolist() == [scalar_codes(books, v) for v in vectors]


def test_codebooks_are_the_same_after_saving(tmp_path):
    rng = np.random.default_rng(1)
    layer = Layer(rng.normal(size=(9, 9)).astype(F32), rng.normal(size=9).astype(F32))
    books = random_books(rng, 9, capacity=3, encoder=[layer])
    digest = books.write(tmp_path)
    read = read_codebooks(tmp_path)
    assert read.write(tmp_path) == digest
    assert (read.capacity, read.dimension) == (3, 9)
    vectors = rng.normal(size=(50, 9)).astype(F32)
    assert (read.encode(vectors)[0] == books.encode(vectors)[0]).all()
    (tmp_path / "codebooks.safetensors").write_bytes(b"{}")
    with pytest.raises(InputError, match="expected codebooks that `sids` wrote"):
        read_codebooks(tmp_path)


@pytest.mark.parametrize(("tensors", "said"), [
    ({"level.1": np.array([[1, np.nan]], F32)}, "level.1: expected finite numbers"),
    ({"encoder.0.bias": np.array([np.inf, 0], F32)}, "encoder.0.bias: expected finite numbers"),
    ({"level.2": np.ones(2, F32)}, "level.2: expected F32 of 2 dimensions, got 'float32 .2.'"),
    ({"level.3": np.ones((1, 2), F32)}, "level.2: expected F32 of 2 dimensions, got None"),
    ({"encoder.0.weight": np.ones((2, 2))}, "encoder.0.weight: expected F32 of 2 dimensions"),
])
def test_codebooks_that_no_training_made_are_refused_by_tensor(tmp_path, tensors, said):
    sound = {name: np.ones((1, 2), F32) for name in ("level.0", "level.1")}
    sound |= {"encoder.0.weight": np.ones((2, 2), F32), "encoder.0.bias": np.ones(2, F32)}
    described = {"tessera-codebooks": json.dumps({"version": 1, "capacity": 1})}
    path = tmp_path / "codebooks.safetensors"
    save_file(sound, path, described)
    assert read_codebooks(tmp_path).dimension == 2
    save_file({**sound, **tensors}, path, described)
    with pytest.raises(InputError, match=said):
        read_codebooks(tmp_path)


@pytest.mark.parametrize("capacity", [1, 3])
def test_a_full_sid_passes_an_item_on_to_the_next_in_order(capacity):
    rng = np.random.default_rng(capacity)
    books = random_books(rng, 4, codes=3, levels=2, capacity=capacity)
    vectors = np.repeat(rng.normal(size=(3, 4)).astype(F32), 3 * capacity, 0)
    codes, _ = books.encode(vectors)
    placed = place(books, vectors, codes)
    taken = {}
    for vector, sid in zip(vectors, placed):
        first = next(way for way in books.ways(vector) if taken.get(way, 0) < capacity)
        assert sid == first
        taken[sid] = taken.get(sid, 0) + 1
    assert max(taken.values()) == capacity
    assert [tuple(row) for row in codes.tolist()] == [next(books.ways(v)) for v in vectors]
    with pytest.raises(InputError, match="vector .*: expected room"):
        place(books, np.repeat(vectors, 2, 0), np.repeat(codes, 2, 0))


def test_ways_change_the_last_level_first_and_name_each_sid_once():
    books = random_books(np.random.default_rng(2), 5, codes=4, levels=3)
    ways = list(books.ways(np.zeros(5, F32)))
    assert len(set(ways)) == 64
    assert len({way[:2] for way in islice(ways, 4)}) == 1


def test_k_means_leaves_no_code_without_points_and_no_code_crowded():
    rng = np.random.default_rng(3)
    points = torch.from_numpy(np.concatenate([rng.normal(size=(300, 6)) * 0.01,
                                              rng.normal(size=(20, 6)) + 5]).astype(F32))
    centres = kmeans(points, 16, 0.0, rng, lambda *_: None)
    found = torch.cdist(points, centres).argmin(1)
    assert torch.bincount(found, minlength=16).min() > 0
    counts = torch.bincount(balanced(torch.cdist(points, centres), 20), minlength=16)
    assert counts.tolist() == [20] * 16


@pytest.mark.parametrize("distinct", [1, 2, 5, 12])
@pytest.mark.parametrize("seed", range(3))
def test_k_means_of_fewer_distinct_points_than_codes_finds_each_of_them(distinct, seed):
    rng = np.random.default_rng(seed)
    points = torch.from_numpy(rng.normal(size=(distinct, 4)).astype(F32)[
        rng.integers(distinct, size=60)])
    centres = kmeans(points, 16, 0.0, rng, lambda *_: None)
    assert torch.isfinite(centres).all()
    assert float(torch.cdist(points, centres).min(1).values.max()) < 1e-3


@pytest.mark.parametrize(("items", "codes"), [(2, 2), (60, 16), (300, 128), (5000, 256)])
def test_few_items_have_few_codes(items, codes):
    assert codes_for(items, levels=4, capacity=1) == codes
    assert codes_for(items, levels=1, capacity=1) ** 1 >= min(items, 256)


def test_sinkhorn_spreads_points_that_lie_beside_one_code():
    distances = torch.rand(64, 8) + torch.arange(8.0)
    assert torch.bincount(sinkhorn(distances), minlength=8).max() <= 16


def test_refining_never_makes_the_error_of_nearest_codes_larger():
    rng = np.random.default_rng(4)
    points = torch.from_numpy(rng.normal(size=(400, 8)).astype(F32))
    levels = [points[:6].clone(), points[6:12] * 0.5, points[12:18] * 0.2]
    _, before = rqkmeans._codes(levels, points)
    _, after = rqkmeans._codes(rqkmeans.refine(levels, points, 15), points)
    assert after.pow(2).sum() < 0.9 * before.pow(2).sum()


@pytest.mark.parametrize(("text", "found"), [
    ("L'Oréal Paris, 2.5 OZ", ["l", "oréal", "paris", "2", "5", "oz"]),
    ("ﬁne-toothed COMB", ["fine", "toothed", "comb"]),
    ("口红 no.5 口", ["口红", "no", "5", "口"]),
    ("保湿面膜10片", ["保湿", "湿面", "面膜", "10", "片"]),
    ("Крем для рук", ["крем", "для", "рук"]),
    ("हिन्दी", ["हिन्दी"]),
    ("ครีม", ["คร", "รี", "ีม"]),
    (" -- ", []),
])
def test_words_of_many_scripts(text, found):
    assert words(text) == found


def test_vectors_of_texts_are_the_truncated_svd_of_their_weights(tmp_path):
    texts = some_texts()
    embedding = fit(texts, 8, seed=3)
    dense = np.zeros((len(texts), len(embedding.words)))
    for row, (at, weights) in enumerate(embedding.rows(texts, PART_SHARE)):
        dense[row, at] = weights
    assert np.allclose((dense**2).sum(1), 1)
    _, values, right = np.linalg.svd(dense, full_matrices=False)
    captured = ((dense @ embedding.components.astype(np.float64)) ** 2).sum()
    assert captured > 0.995 * (values[:8] ** 2).sum()
    vectors = embedding.embed([*texts, "口 -- Ж"])
    assert np.allclose((vectors[:-1].astype(np.float64) ** 2).sum(1), 1)
    assert not vectors[-1].any()
    embedding.write(tmp_path)
    assert (read_text_embedding(tmp_path).embed(texts) == vectors[:-1]).all()


def test_a_brand_that_no_text_has_lies_beside_what_is_written_alike():
    embedding = fit([*some_texts(), "Terraria", "terra red"], 24, seed=3)
    assert "terraria" not in embedding.words and "~^ma" in embedding.words
    vectors = embedding.embed(["Terrarium", "Terraria", "maple", "soap"]).astype(float)
    assert (vectors**2).sum(1) == pytest.approx(1, abs=1e-6)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[3]


@pytest.mark.parametrize(("word", "found"), [
    ("oréal", ["~^or", "~oré", "~réa", "~éal", "~al$"]),
    ("l", ["~^l$"]),
    ("口红", []),
])
def test_parts_of_a_word_are_its_runs_of_three(word, found):
    assert parts(word) == found


def test_a_text_counts_the_root_of_how_often_a_word_is_in_it():
    embedding = TextEmbedding(["a", "b"], np.array([1.0, 2.0]), np.eye(2, dtype=F32))
    expected = np.array([2.0, 2.0]) / np.sqrt(8)
    assert embedding.embed(["a b, a: a (a) c"])[0].tolist() == expected.astype(F32).tolist()


def test_the_error_is_that_of_faiss_or_less():
    faiss = pytest.importorskip("faiss")
    rng = np.random.default_rng(0)
    means = rng.normal(size=(40, 24))
    vectors = (means[rng.integers(40, size=3000)] + rng.normal(size=(3000, 24))).astype(F32)
    theirs = faiss.ResidualQuantizer(24, 3, 6)
    theirs.train(vectors)
    rebuilt = theirs.decode(theirs.compute_codes(vectors))
    plan = QuantiserPlan(levels=3, codes=64)
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        levels = rqkmeans.train(vectors, plan, Path(folder) / "state.pt", "mark")
        assert load_state(Path(folder) / "state.pt", "mark") is not None
    _, rest = Codebooks(levels).encode(vectors)
    assert (rest**2).sum() <= 1.02 * ((vectors - rebuilt) ** 2).sum()
