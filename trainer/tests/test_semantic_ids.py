"""Codes follow the stated rule, semantic IDs their capacity, and texts become vectors alike."""

import json
import re
import shutil
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from trainer.__main__ import main
from trainer.checkpoint import load_state
from trainer.data import read_index
from trainer.errors import InputError
from trainer.semantic_ids import rqkmeans
from trainer.semantic_ids.codebooks import Codebooks, Layer, copy_codebooks, read_codebooks
from trainer.semantic_ids.kmeans import balanced, kmeans
from trainer.semantic_ids.placement import place
from trainer.semantic_ids.rqvae import sinkhorn
from trainer.semantic_ids.settings import QuantiserPlan, codes_for
from trainer.semantic_ids.text_embedding import (PART_SHARE, TextEmbedding, fit,
                                                 read_text_embedding)
from trainer.semantic_ids.words import parts, words

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


def test_a_training_that_diverges_is_refused_and_can_begin_anew(tmp_path, monkeypatch, capsys):
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(80, 6)).astype(F32))
    plan = ["--embeddings", tmp_path / "v.npy", "--out", tmp_path / "o", "--method", "rqvae",
            "--epochs", 8, "--hidden", 16, "--latent", 6]
    assert run_sids(monkeypatch, *plan, "--lr", "1e30") == 2
    assert "--lr: expected a rate at which loss and codebooks stay" in capsys.readouterr().err
    assert not list((tmp_path / "o").iterdir())
    assert run_sids(monkeypatch, *plan) == 0


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


@pytest.mark.parametrize("method", ["rqkmeans", "rqvae"])
@pytest.mark.parametrize(("texts", "said"), [
    (["the same title"] * 5, "5 items: 2 codes a level"),
    ([f"ad {i} of a small shop" for i in range(60)], "60 items: 16 codes a level"),
    ([f"kind {i % 12}" for i in range(90)], "warning: 0.13 of the items"),
])
def test_a_small_shop_gets_semantic_ids(method, texts, said, tmp_path, monkeypatch, capsys):
    items = tmp_path / "items.json"
    items.write_text(json.dumps({str(i): text for i, text in enumerate(texts)}))
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", ["trainer", "sids", "--items", str(items), "--out", str(out),
                                      "--method", method, "--epochs", "2"])
    assert main() == 0
    assert said in capsys.readouterr().out
    assert len(set(read_index(out / "index.json").codes.values())) == len(texts)
    assert json.loads((out / "report.json").read_text())["relative_error"] < 1e3


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


def some_texts(count=240, seed=0):
    rng = np.random.default_rng(seed)
    kinds = ["soap", "cream", "brush", "comb", "perfume", "mask"]
    makers = [f"maker{i}" for i in range(12)]
    colours = ["red", "green", "blue", "black", "white"]
    return [f"{rng.choice(makers)} {rng.choice(kinds)} {rng.choice(colours)} {rng.integers(40)} ml"
            for _ in range(count)]


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


def run_sids(monkeypatch, *flags):
    monkeypatch.setattr(sys, "argv", ["trainer", "sids", "--levels", "3", "--codes", "8",
                                      "--dimension", "12", *map(str, flags)])
    return main()


@pytest.mark.parametrize("method", [["rqkmeans"], ["rqvae", "--epochs", "4", "--hidden", "16",
                                                   "--latent", "6"]])
def test_texts_become_an_index_that_the_trainer_reads(method, tmp_path, monkeypatch):
    items = tmp_path / "items.json"
    items.write_text(json.dumps({f"ad-{i}": text for i, text in enumerate(some_texts())}))
    out = tmp_path / "out"
    assert run_sids(monkeypatch, "--items", items, "--out", out, "--method", *method) == 0
    index = read_index(out / "index.json")
    assert (len(index.codes), index.depth) == (240, 3)
    assert len(set(index.codes.values())) == 240
    report = json.loads((out / "report.json").read_text())
    assert report["unique_share"]["placed"] == 1.0
    assert 0 < report["unique_share"]["nearest"] <= 1
    assert [level["codes"] for level in report["levels"]] == [8, 8, 8]
    prefixes = report["neighbours_with_prefix"]
    assert 3 / 8 < prefixes[0] and prefixes == sorted(prefixes, reverse=True)
    books = read_codebooks(out)
    vectors = read_text_embedding(out).embed(some_texts())
    assert place(books, vectors, books.encode(vectors)[0]) == list(index.codes.values())


def test_a_run_that_stopped_goes_on_to_the_same_codebooks(tmp_path, monkeypatch):
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(200, 6)).astype(F32))
    plan = ["--embeddings", tmp_path / "v.npy", "--seed", "5"]
    assert run_sids(monkeypatch, *plan, "--out", tmp_path / "whole") == 0
    real, done = rqkmeans.kmeans, []

    def stops(*args):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(1)
        return real(*args)

    monkeypatch.setattr(rqkmeans, "kmeans", stops)
    assert run_sids(monkeypatch, *plan, "--out", tmp_path / "parts") == 130
    monkeypatch.setattr(rqkmeans, "kmeans", real)
    assert run_sids(monkeypatch, *plan, "--out", tmp_path / "parts") == 0
    assert not (tmp_path / "parts" / "sids-state.pt").exists()
    for name in ("codebooks.safetensors", "index.json"):
        assert ((tmp_path / "parts" / name).read_bytes()
                == (tmp_path / "whole" / name).read_bytes())


@pytest.mark.parametrize(("array", "said"), [
    (np.zeros(4), "expected vectors (items, dimension)"),
    (np.zeros((3, 4), np.int64), "expected floating-point numbers, got 'int64'"),
    (np.array([[0, 1.0], [np.nan, 0]]), "row 1: expected finite numbers"),
    (np.zeros((1, 4)), "of two items or more"),
])
def test_bad_embeddings_are_refused_with_their_place(array, said, tmp_path, monkeypatch, capsys):
    np.save(tmp_path / "v.npy", array)
    assert run_sids(monkeypatch, "--embeddings", tmp_path / "v.npy", "--out", tmp_path / "o") == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"PK\x03\x04", "two"])
def test_a_file_that_is_no_array_is_refused(content, tmp_path, monkeypatch, capsys):
    if content == "two":
        np.savez(tmp_path / "v.npz", one=np.ones(2), other=np.ones(2))
        content = (tmp_path / "v.npz").read_bytes()
    (tmp_path / "v.npy").write_bytes(content)
    assert run_sids(monkeypatch, "--embeddings", tmp_path / "v.npy", "--out", tmp_path / "o") == 2
    assert re.search("v.npy: expected (an|one) array", capsys.readouterr().err)


def made_by(tmp_path, **members):
    path = tmp_path / "v.json"
    path.write_text(json.dumps({"version": 1, "kind": "encoder", "model_digest": "ab" * 32,
                                "compute_type": "f32", **members}))
    return path


def test_codebooks_say_which_encoder_made_their_vectors(tmp_path, monkeypatch):
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(40, 6)).astype(F32))
    plan = ["--embeddings", tmp_path / "v.npy", "--out", tmp_path / "sids"]
    # As a release wrote them that did not name the tokenizer.
    assert run_sids(monkeypatch, *plan, "--encoder", made_by(tmp_path)) == 0
    expected = json.loads(made_by(tmp_path).read_text())
    assert json.loads((tmp_path / "sids" / "text.json").read_text()) == expected
    whole = {"tokens_digest": "cd" * 32}
    assert run_sids(monkeypatch, *plan, "--encoder", made_by(tmp_path, more=1, **whole)) == 0
    expected = json.loads(made_by(tmp_path, **whole).read_text())
    assert json.loads((tmp_path / "sids" / "text.json").read_text()) == expected
    model = tmp_path / "model"
    model.mkdir()
    copy_codebooks(tmp_path / "sids", model)
    assert json.loads((model / "text.json").read_text()) == expected
    # Vectors of nobody knows what: neither folder goes on naming the encoder of the run before.
    assert run_sids(monkeypatch, *plan) == 0
    copy_codebooks(tmp_path / "sids", model)
    assert not (tmp_path / "sids" / "text.json").exists()
    assert not (model / "text.json").exists()


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def some_items(path, count, seed=0):
    path.write_text(json.dumps({f"ad-{i}": text for i, text in
                                enumerate(some_texts(count, seed))}))
    return path


def test_a_run_that_fails_leaves_the_folder_as_it_was(tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    assert run_sids(monkeypatch, "--items", some_items(tmp_path / "a.json", 60), "--out", out) == 0
    before = contents(out)
    other = some_items(tmp_path / "b.json", 30, seed=1)
    few = ["--codes", 2, "--levels", 2]
    assert run_sids(monkeypatch, "--items", other, *few, "--out", out, "--no-resume") == 2
    assert "expected room" in capsys.readouterr().err
    (out / "sids-state.pt").unlink()
    assert contents(out) == before
    np.save(tmp_path / "v.npy", np.ones((60, 6), F32))
    plan = ["--embeddings", tmp_path / "v.npy", "--items", other, "--encoder", made_by(tmp_path)]
    assert run_sids(monkeypatch, *plan, "--out", out) == 2
    assert contents(out) == before


def test_a_run_that_is_killed_leaves_a_whole_folder_or_one_that_is_refused(tmp_path, monkeypatch):
    items = {seed: some_items(tmp_path / f"{seed}.json", 60, seed) for seed in (1, 2)}
    whole, quick = {}, ["--rounds", 2, "--threads", 1]
    for seed, path in items.items():
        plan = ["--items", path, *quick, "--out", tmp_path / f"whole-{seed}"]
        assert run_sids(monkeypatch, *plan) == 0
        whole[seed] = contents(tmp_path / f"whole-{seed}")
    out = tmp_path / "out"
    real, refused = Path.replace, 0
    for moved in range(12):
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(tmp_path / "whole-1", out)
        left = [moved]

        def stops(path, target, left=left):
            if path.name.endswith("state.pt.partial"):
                return real(path, target)
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return real(path, target)

        monkeypatch.setattr(Path, "replace", stops)
        run_sids(monkeypatch, "--items", items[2], *quick, "--out", out)
        monkeypatch.setattr(Path, "replace", real)
        names = {"codebooks.safetensors", "index.json", "text.json", "text.safetensors"}
        found = contents(out)
        is_whole = any(all(found.get(name) == files[name] for name in names)
                       for files in whole.values())
        if not is_whole:
            refused += 1
            with pytest.raises(InputError, match="expected codebooks that `sids` wrote"):
                copy_codebooks(out, tmp_path)
    assert refused


def test_codebooks_of_another_dimension_than_texts_have_are_refused(tmp_path, monkeypatch):
    out = tmp_path / "out"
    assert run_sids(monkeypatch, "--items", some_items(tmp_path / "a.json", 60), "--out", out) == 0
    random_books(np.random.default_rng(0), 9).write(out)
    for reads in (read_codebooks, lambda folder: copy_codebooks(folder, tmp_path)):
        with pytest.raises(InputError, match="vectors of 12 numbers, .* by text.saf.*, got 9"):
            reads(out)


@pytest.mark.parametrize(("members", "said"), [
    ({"kind": "tfidf-svd"}, "expected version 1 and kind encoder"),
    ({"model_digest": "ab"}, "v.json: model_digest: expected a SHA-256"),
    ({"tokens_digest": None}, "v.json: tokens_digest: expected a SHA-256"),
    ({"compute_type": 4}, "v.json: compute_type: expected f32, bf16, w8a8 or w8a8-static, got 4"),
])
def test_a_bad_description_of_an_encoder_is_refused(members, said, tmp_path, monkeypatch, capsys):
    np.save(tmp_path / "v.npy", np.ones((4, 6), F32))
    flags = ["--embeddings", tmp_path / "v.npy", "--out", tmp_path / "o"]
    assert run_sids(monkeypatch, *flags, "--encoder", made_by(tmp_path, **members)) == 2
    assert said in capsys.readouterr().err


def test_texts_of_items_are_those_that_sids_takes(tmp_path, monkeypatch):
    items = tmp_path / "items.tsv"
    items.write_text("item\ttitle\tbrand\na\tHand cream\tLada\nb\t\t\nc\t口红\tÖstra\n")
    out = tmp_path / "texts.json"
    monkeypatch.setattr(sys, "argv", ["trainer", "texts", "--items", str(items), "--columns",
                                      "title", "brand", "--out", str(out)])
    assert main() == 0
    assert json.loads(out.read_text()) == ["Hand cream Lada", "", "口红 Östra"]


@pytest.mark.parametrize("command", ["texts", "sids"])
def test_a_column_that_no_item_has_is_refused(command, tmp_path, monkeypatch, capsys):
    items = tmp_path / "items.tsv"
    items.write_text("item\ttitle\tbrand\na\tHand cream\tLada\nb\tHand soap\t\n")
    monkeypatch.setattr(sys, "argv", ["trainer", command, "--items", str(items), "--columns",
                                      "title", "nope", "--out", str(tmp_path / "out")])
    assert main() == 2
    said = capsys.readouterr().err
    assert "--columns: expected a column that an item of" in said and "got 'nope'" in said


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
