"""`sids` writes folders that are whole, or refuses by file, line and flag; so do its readers."""

import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from trainer.__main__ import main
from trainer.data import read_index
from trainer.errors import InputError
from trainer.semantic_ids import rqkmeans
from trainer.semantic_ids.codebooks import Codebooks, copy_codebooks, read_codebooks
from trainer.semantic_ids.placement import place
from trainer.semantic_ids.text_embedding import read_text_embedding
from trainer.tests.sids_folders import contents, made_by, run_sids, some_items, some_texts

F32 = np.float32


def test_a_training_that_diverges_is_refused_and_can_begin_anew(tmp_path, monkeypatch, capsys):
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(80, 6)).astype(F32))
    plan = ["--embeddings", tmp_path / "v.npy", "--out", tmp_path / "o", "--method", "rqvae",
            "--epochs", 8, "--hidden", 16, "--latent", 6]
    assert run_sids(monkeypatch, *plan, "--lr", "1e30") == 2
    assert "--lr: expected a rate at which loss and codebooks stay" in capsys.readouterr().err
    assert not list((tmp_path / "o").iterdir())
    assert run_sids(monkeypatch, *plan) == 0


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
    Codebooks([np.ones((2, 9), F32)]).write(out)
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
