"""A training from a checkpoint keeps its vocabulary, and serves what both have."""

import json
import sys

import numpy as np
import pytest
from tokenizers import Tokenizer
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    LlamaConfig,
    MistralConfig,
    Qwen2Config,
)

from trainer.__main__ import main
from trainer.data import read_index
from trainer.errors import InputError
from trainer.item_states import Reader
from trainer.prompts import read_prompt_folder
from trainer.sequences import read_users


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
         "--intermediate", 16, "--epochs", 1, "--threads", 1, "--beam", 5]


def test_a_checkpoints_vocabulary_is_extended_by_the_codes_that_it_lacks(data, monkeypatch):
    base, out = data / "base", data / "out"
    common = ["--sequences", data / "s.json", *SHAPE]
    assert run(monkeypatch, *common, "--index", data / "first.json", "--out", base,
               "--max-items", 12) == 0
    assert run(monkeypatch, *common, "--index", data / "second.json", "--out", out,
               "--from", base) == 0
    kept = json.loads((out / "prompt.json").read_text())
    assert kept["levels"] == ["<a_{code}>", "<b_{code}>", "<c_{code}>"]
    assert kept["segments"][1]["maxItems"] == 12
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


def test_a_folder_of_another_training_is_refused_untouched(data, monkeypatch, capsys):
    out = data / "out"
    words = ["--sequences", data / "s.json", "--index", data / "first.json", "--out", out, *SHAPE]
    assert run(monkeypatch, *words) == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for others in (["--family", "t5"], ["--max-items", 3]):
        assert run(monkeypatch, *words, *others) == 2
        assert "the state of a training with these arguments" in capsys.readouterr().err
        assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("epochs", [2, 3])
def test_weights_that_are_no_numbers_are_never_kept(epochs, data, monkeypatch, capsys):
    words = ["--sequences", data / "s.json", "--index", data / "first.json", *SHAPE]
    out = data / "out"
    assert run(monkeypatch, *words, "--out", out, "--lr", 1e30, "--epochs", epochs) == 2
    printed = capsys.readouterr()
    assert "--lr: expected a rate by which the loss stays a number, got 'loss nan in" in printed.err
    assert "kept" not in printed.out and not (out / "model.safetensors").exists()


def test_minutes_that_reading_used_up_are_said(data, monkeypatch, capsys):
    assert run(monkeypatch, "--sequences", data / "s.json", "--index", data / "first.json", *SHAPE,
               "--out", data / "out", "--minutes", 1e-6) == 1
    assert "no time was left to train: this is no model" in capsys.readouterr().out


PAGES = {"home": "home", "search": "search"}
SEGMENTS = [
    {"text": "<|bos|>For "},
    {"slot": "profile", "key": "age", "before": "<|age_", "after": "|>",
     "values": {"old": "old", "young": "young"}},
    {"slot": "history", "actions": ["view"], "maxItems": 3, "before": "<|viewed|>"},
    {"slot": "history", "actions": ["click"], "maxItems": 4, "actionTexts": {"*": "<|click|>"},
     "timeGaps": [{"atLeastSeconds": 50, "text": "<|later|>"}]},
    {"slot": "scene", "key": "page", "before": "<|", "after": "|>", "values": PAGES}]
TEMPLATE = {"version": 1, "name": "full", "levels": ["<|s_{code}|>", "<t_{code}>"],
            "segments": SEGMENTS, "maxPromptTokens": 40, "trimStep": 2}


@pytest.fixture(name="told")
def with_actions(data):
    rng = np.random.default_rng(3)
    lines = []
    for user in range(12):
        count = int(rng.integers(4, 12))
        lines.append({"user": user, "history": [str(i) for i in rng.integers(20, size=count)],
                      "times": np.cumsum(rng.integers(1, 100, size=count)).tolist(),
                      "actions": [str(a) for a in rng.choice(["view", "click"], count)],
                      "scenes": [{"page": str(p)} for p in rng.choice(list(PAGES), count)],
                      "profile": {"age": str(rng.choice(["old", "young"]))}})
    (data / "s.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (data / "prompt.json").write_text(json.dumps(TEMPLATE))
    return ["--sequences", data / "s.jsonl", "--index", data / "first.json", *SHAPE]


def test_a_template_is_trained_by_served_and_kept(told, data, monkeypatch):
    out, again = data / "out", data / "again"
    words = [*told, "--answers", "click"]
    assert run(monkeypatch, *words, "--prompt", data / "prompt.json", "--out", out) == 0
    assert json.loads((out / "prompt.json").read_text()) == TEMPLATE
    writer = read_prompt_folder(out)
    ids = writer.tokenizer.token_to_id
    words_of_it = ["<|age_old|>", "<|viewed|>", "<|click|>", "<|later|>", "<|search|>", "<|s_0|>"]
    assert None not in [ids(text) for text in words_of_it]
    # The reading of a served folder gives the prompts that were trained on.
    index = read_index(data / "first.json")
    user = read_users(data / "s.jsonl", index)["3"]
    prompt = writer.prompt(user.profile, {"page": "search"}, user.behaviours).tokens
    age = ids(f"<|age_{user.profile['age']}|>")
    first = [ids("<|bos|>"), *writer.tokenizer.encode("For ").ids, age]
    assert prompt[:len(first)] == first and prompt[-1] == ids("<|search|>")
    record = json.loads((out / "training.json").read_text())
    assert record["arguments"]["prompt"] == "prompt.json"
    assert record["test"]["model"]
    # A checkpoint goes on by its own template, and makes no tokens of its words anew.
    assert run(monkeypatch, *words, "--from", out, "--out", again) == 0
    assert json.loads((again / "prompt.json").read_text()) == TEMPLATE
    assert read_prompt_folder(again).prompt(
        user.profile, {"page": "search"}, user.behaviours).tokens == prompt


@pytest.mark.parametrize(("change", "said"), [
    ({"levels": [{"base": 5}]}, "levels[0]: expected a pattern with {code}"),
    ({"answer": {"terminal": ["<|eos|>"]}}, "answer.terminal: expected none"),
    ({"segments": [{"text": "a"}]}, "segments: expected one history or more"),
    ({"maxPromptTokens": None}, "maxPromptTokens: expected an integer"),
    ({"maxPromptTokens": 1 << 20}, "maxPromptTokens: expected a number"),
    ({"segments": [*SEGMENTS, {"slot": "scene", "key": "hour"}]},
     "s.jsonl: scene: expected a hour in some scene"),
    ({"segments": [*SEGMENTS, {"slot": "profile", "key": "age", "values": {"old": "o"}}]},
     "profile.age: expected one of old"),
    ({"segments": [{"text": "a"}, {"slot": "history", "texts": ["title"]}]},
     "segments[1].texts: expected one of the keys"),
])
def test_what_a_template_has_and_training_cannot_do_is_refused(change, said, told, data,
                                                               monkeypatch, capsys):
    (data / "prompt.json").write_text(json.dumps({**TEMPLATE, **change}))
    assert run(monkeypatch, *told, "--prompt", data / "prompt.json", "--out", data / "out") == 2
    assert said in capsys.readouterr().err
    assert not (data / "out" / "model.safetensors").exists()


def test_sequences_without_what_a_template_goes_by_are_refused(told, data, monkeypatch, capsys):
    words = [*told, "--prompt", data / "prompt.json", "--out", data / "out"]
    words[1] = data / "s.json"
    assert run(monkeypatch, *words) == 2
    assert "s.json: user '0': expected actions" in capsys.readouterr().err
    assert run(monkeypatch, *told, "--prompt", data / "prompt.json", "--out", data / "out",
               "--max-items", 4) == 2
    assert "--max-items: expected none" in capsys.readouterr().err
    codes = {str(i): [f"<a_{i % 5}>", f"<b_{i % 3}>"] for i in range(20)}
    (data / "named.json").write_text(json.dumps(codes))
    words = [*told, "--prompt", data / "prompt.json", "--out", data / "out"]
    words[3] = data / "named.json"
    assert run(monkeypatch, *words) == 2
    assert "levels[0]: expected <a_{code}> as the index has it" in capsys.readouterr().err


def test_a_checkpoint_with_too_few_positions_is_refused(data, monkeypatch, capsys):
    base = data / "base"
    common = ["--sequences", data / "s.json", *SHAPE]
    assert run(monkeypatch, *common, "--index", data / "first.json", "--out", base) == 0
    (base / "prompt.json").unlink()
    assert run(monkeypatch, *common, "--index", data / "second.json", "--out", data / "out",
               "--from", base, "--max-items", 50) == 2
    assert "--from: expected a model of 154 positions or more" in capsys.readouterr().err
    assert run(monkeypatch, *common, "--index", data / "second.json", "--out", data / "out2",
               "--from", data) == 2
    assert "--from: expected a folder with tokenizer.json" in capsys.readouterr().err


@pytest.mark.parametrize("config", [Qwen2Config, LlamaConfig, MistralConfig])
def test_every_family_that_is_served_is_trained_to_the_end(config, data, monkeypatch):
    base, out = data / "base", data / "out"
    common = ["--sequences", data / "s.json", "--index", data / "first.json", *SHAPE]
    assert run(monkeypatch, *common, "--out", base) == 0
    rows = Tokenizer.from_file(str(base / "tokenizer.json")).get_vocab_size()
    save(config(vocab_size=rows, hidden_size=16, intermediate_size=16, num_hidden_layers=1,
                num_attention_heads=2, num_key_value_heads=1), base)
    assert run(monkeypatch, *common, "--from", base, "--out", out) == 0
    assert json.loads((out / "training.json").read_text())["test"]["model"]
    name = json.loads((out / "config.json").read_text())["model_type"]
    assert name == config.model_type


def test_a_hybrid_is_trained_gone_on_from_and_fine_tuned(data, monkeypatch, capsys):
    common = ["--sequences", data / "s.json", "--index", data / "first.json", *SHAPE,
              "--family", "qwen3_5"]
    common[common.index("--layers") + 1] = 5
    out, again = data / "out", data / "again"
    assert run(monkeypatch, *common, "--out", out) == 0
    config = json.loads((out / "config.json").read_text())
    assert config["architectures"] == ["Qwen3_5ForCausalLM"]
    assert config["layer_types"] == ["full_attention", *["linear_attention"] * 3, "full_attention"]
    assert run(monkeypatch, *common, "--from", out, "--out", again) == 0
    assert json.loads((again / "training.json").read_text())["test"]["model"]
    rows = [{"user_id": "a", "item_id": str(i), "time_ms": 1000 * i} for i in range(8)]
    (data / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["finetune", "--model", out, "--behaviours", data / "b.jsonl", "--out", data / "lora",
             "--rank", 2, "--epochs", 1, "--threads", 1, "--validate", 0]
    monkeypatch.setattr(sys, "argv", ["trainer", *map(str, words)])
    assert main() == 0
    targets = json.loads((data / "lora" / "adapter_config.json").read_text())["target_modules"]
    assert {"in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a", "out_proj"} < set(targets)
    assert run(monkeypatch, *common, "--head-dim", 12, "--out", data / "odd") == 2
    assert "--head-dim: expected a multiple of 8" in capsys.readouterr().err
    with pytest.raises(InputError, match="layers are all of attention"):
        Reader(AutoModelForCausalLM.from_pretrained(out))


def test_a_family_that_is_not_served_is_refused_before_it_is_trained(data, monkeypatch, capsys):
    base = data / "base"
    common = ["--sequences", data / "s.json", "--index", data / "first.json", *SHAPE]
    assert run(monkeypatch, *common, "--out", base) == 0
    save(GPT2Config(vocab_size=99, n_embd=16, n_layer=1, n_head=2), base)
    assert run(monkeypatch, *common, "--from", base, "--out", data / "out") == 2
    assert "--from: expected a model that is served" in capsys.readouterr().err


def save(config, folder):
    """Another model with the tokenizer and template of a folder."""
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
