"""A training from a checkpoint keeps its vocabulary, and serves what both have."""

import json
import sys

import numpy as np
import pytest
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

from trainer.__main__ import main


def run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["trainer", "train", *map(str, words)])
    return main()


@pytest.fixture(name="data")
def made(tmp_path):
    rng = np.random.default_rng(0)
    for name, depth in (("first", 2), ("second", 3)):
        codes = {str(i): [int(c) for c in rng.integers(5, size=depth)] for i in range(20)}
        (tmp_path / f"{name}.json").write_text(json.dumps(codes))
    users = {str(u): [str(i) for i in rng.integers(20, size=6)] for u in range(12)}
    (tmp_path / "s.json").write_text(json.dumps(users))
    return tmp_path


SHAPE = ["--layers", 1, "--hidden", 16, "--heads", 2, "--kv-heads", 1, "--head-dim", 8,
         "--intermediate", 16, "--epochs", 1, "--threads", 1, "--beam", 5, "--max-items", 5]


def test_a_checkpoints_vocabulary_is_extended_by_the_codes_that_it_lacks(data, monkeypatch):
    base, out = data / "base", data / "out"
    common = ["--sequences", data / "s.json", *SHAPE]
    assert run(monkeypatch, *common, "--index", data / "first.json", "--out", base,
               "--max-items", 12) == 0
    assert run(monkeypatch, *common, "--index", data / "second.json", "--out", out,
               "--from", base) == 0
    before, after = (Tokenizer.from_file(str(folder / "tokenizer.json")) for folder in (base, out))
    for text, place in before.get_vocab().items():
        assert after.token_to_id(text) == place
    places = [after.token_to_id(f"<c_{code}>") for code in range(5)]
    assert min(places) == before.get_vocab_size() and None not in places
    model = AutoModelForCausalLM.from_pretrained(out)
    assert model.config.vocab_size == after.get_vocab_size()
    assert model.config.architectures == ["Qwen3ForCausalLM"]
    record = json.loads((out / "training.json").read_text())
    assert record["arguments"]["start_from"] == "base"


@pytest.mark.parametrize(("segment", "place"), [
    ({"slot": "profile", "key": "interest", "default": "tea"}, 2),
    ({"slot": "scene", "key": "page"}, 2), ({"text": "ads for"}, 2),
    ({"slot": "history", "separator": ";"}, 2),
])
def test_a_checkpoint_whose_prompts_have_more_is_refused(segment, place, data, monkeypatch, capsys):
    base = data / "base"
    common = ["--sequences", data / "s.json", "--index", data / "first.json", *SHAPE]
    base.mkdir()
    history = {"slot": "history", "maxItems": 5}
    segments = [{"text": "<|bos|>"}, history, segment]
    (base / "prompt.json").write_text(json.dumps({"segments": segments}))
    assert run(monkeypatch, *common, "--out", data / "out", "--from", base) == 2
    said = f"prompt.json: segments[{place}]: expected <|bos|> and one history"
    assert said in capsys.readouterr().err
    (base / "prompt.json").write_text(json.dumps({"segments": [{**history, "actions": {}}]}))
    assert run(monkeypatch, *common, "--out", data / "out", "--from", base) == 2
    assert "segments[0]: expected <|bos|> and one history" in capsys.readouterr().err


def test_a_checkpoint_with_too_few_positions_is_refused(data, monkeypatch, capsys):
    base = data / "base"
    common = ["--sequences", data / "s.json", *SHAPE]
    assert run(monkeypatch, *common, "--index", data / "first.json", "--out", base) == 0
    assert run(monkeypatch, *common, "--index", data / "second.json", "--out", data / "out",
               "--from", base, "--max-items", 50) == 2
    assert "--from: expected a model of 154 positions or more" in capsys.readouterr().err
    assert run(monkeypatch, *common, "--index", data / "second.json", "--out", data / "out2",
               "--from", data) == 2
    assert "--from: expected a folder with tokenizer.json" in capsys.readouterr().err
