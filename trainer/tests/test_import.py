"""An encoder-decoder of Hugging Face is served as it was trained, or refused by its field."""

import json
from itertools import islice

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models
from transformers import AutoTokenizer, T5Config, T5ForConditionalGeneration

from trainer.tests.tiger_models import Served, run

CODES = (5, 4, 3)
PIECES = 9
SMALL = {"d_model": 16, "d_kv": 6, "d_ff": 20, "num_layers": 2, "num_decoder_layers": 3,
         "num_heads": 2, "dropout_rate": 0.0, "decoder_start_token_id": 0}


def semantic_ids(count, seed=0):
    rng = np.random.default_rng(seed)
    return {str(item): [int(rng.integers(size)) for size in CODES] for item in range(count)}


def write_t5(folder, sids, **settings):
    """A random model and the files that T5's tokenizer leaves: codes are added in sorted order
    behind its pieces, as LETTER-TIGER and torch-rechub add them."""
    tokens = {item: [f"<{'abc'[level]}_{code}>" for level, code in enumerate(sid)]
              for item, sid in sids.items()}
    added = sorted({token for sid in tokens.values() for token in sid})
    torch.manual_seed(3)
    config = T5Config(**{**SMALL, "vocab_size": PIECES + len(added), **settings})
    model = T5ForConditionalGeneration(config).eval()
    for name, weight in model.named_parameters():
        torch.nn.init.normal_(weight, 1.0 if name.endswith("norm.weight") else 0.0, 0.4)
    model.save_pretrained(folder)
    places = {token: PIECES + place for place, token in enumerate(added)}
    (folder / "added_tokens.json").write_text(json.dumps(places))
    (folder / "own.index.json").write_text(json.dumps(tokens))
    return model, places


@torch.no_grad()
def original_logits(model, places, history, sid):
    of = [[places[f"<{'abc'[level]}_{code}>"] for level, code in enumerate(one)]
          for one in [*history, sid]]
    encoder = [token for one in of[:-1] for token in one] + [1]
    return model(input_ids=torch.tensor([encoder]),
                 decoder_input_ids=torch.tensor([[0, *of[-1]]])).logits[0]


def edit(path, **members):
    document = json.loads(path.read_text())
    document.update(members)
    path.write_text(json.dumps({name: value for name, value in document.items()
                                if value is not ...}))


@pytest.mark.parametrize("settings", [
    {}, {"tie_word_embeddings": False, "feed_forward_proj": "gated-gelu"},
    {"relative_attention_num_buckets": 6, "relative_attention_max_distance": 11}])
def test_logits_of_whole_semantic_ids_are_those_of_the_model(tmp_path, monkeypatch, settings):
    sids = semantic_ids(30)
    model, places = write_t5(tmp_path / "t5", sids, **settings)
    assert run(monkeypatch, tmp_path / "t5", tmp_path / "out") == 0
    served = Served(tmp_path / "out")
    listed = list(sids.values())
    for length in (1, 7, 20):
        history, sid = listed[:length], listed[length]
        expected = original_logits(model, places, history, sid)
        assert (served.logits(history, sid) - expected).abs().max() < 1e-5
    assert len(served.prompt_tokens(listed)) == served.prompt["maxPromptTokens"]
    assert served.prompt["answer"]["terminal"] == ["</s>"]
    assert {row["item_id"]: row["sid"] for row in served.items} == sids


def test_a_head_that_is_tied_or_scaled_by_another_rule_becomes_one_of_its_own(
        tmp_path, monkeypatch):
    sids = semantic_ids(10)
    write_t5(tmp_path / "t5", sids)
    tensors = load_file(tmp_path / "t5" / "model.safetensors")
    generator = torch.Generator().manual_seed(1)
    other = torch.randn(tensors["shared.weight"].shape, generator=generator)
    listed = list(sids.values())
    for number, (head, scaled) in enumerate(((other, True), (other, False), (None, False))):
        folder = tmp_path / f"t5-{number}"
        folder.mkdir()
        for path in (tmp_path / "t5").iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        save_file({**tensors, **({} if head is None else {"lm_head.weight": head})},
                  folder / "model.safetensors", {"format": "pt"})
        edit(folder / "config.json", scale_decoder_outputs=scaled)
        model = T5ForConditionalGeneration.from_pretrained(folder).eval()
        places = json.loads((folder / "added_tokens.json").read_text())
        out = tmp_path / f"out-{number}"
        assert run(monkeypatch, folder, out) == 0
        served = Served(out)
        assert served.config["tie_word_embeddings"] is False
        expected = original_logits(model, places, listed[:4], listed[4])
        assert (served.logits(listed[:4], listed[4]) - expected).abs().max() < 1e-5


def test_a_torch_file_of_tensors_is_read_and_one_of_objects_refused(tmp_path, monkeypatch, capsys):
    sids = semantic_ids(10)
    model, places = write_t5(tmp_path / "t5", sids)
    (tmp_path / "t5" / "model.safetensors").unlink()
    torch.save(model, tmp_path / "t5" / "pytorch_model.bin")
    assert run(monkeypatch, tmp_path / "t5", tmp_path / "out") == 2
    assert "weights_only" in capsys.readouterr().err and not (tmp_path / "out").exists()
    torch.save(model.state_dict(), tmp_path / "t5" / "pytorch_model.bin")
    assert run(monkeypatch, tmp_path / "t5", tmp_path / "out") == 0
    listed = list(sids.values())
    expected = original_logits(model, places, listed[:4], listed[4])
    assert (Served(tmp_path / "out").logits(listed[:4], listed[4]) - expected).abs().max() < 1e-5


def test_codes_as_numbers_have_their_tokens_by_base(tmp_path, monkeypatch, capsys):
    torch.manual_seed(3)
    config = T5Config(**{**SMALL, "vocab_size": 2 + 4 + 3 * 5 + 8})
    T5ForConditionalGeneration(config).save_pretrained(tmp_path / "t5")
    (tmp_path / "index.json").write_text(json.dumps({"x": [0, 3, 2], "y": [4, 0, 1]}))
    base = ["--token-base", 6, 11, 16]
    words = ["--index", tmp_path / "index.json", *base, "--codes", 5, "--no-answer-end",
             "--no-encoder-end", "--separator-token", 2, "--user-bins", 8, "--user-base", 21,
             "--max-items", 3]
    assert run(monkeypatch, tmp_path / "t5", tmp_path / "out", *words) == 0
    served = Served(tmp_path / "out")
    assert served.prompt_tokens([[0, 3, 2], [4, 0, 1]], user=29) == [26, 6, 14, 18, 2, 10, 11, 17,
                                                                     2, 0]
    assert served.level_tokens(1, 5) == [11, 12, 13, 14, 15]
    assert "codes: 5 5 5  (--codes)" in capsys.readouterr().out
    assert run(monkeypatch, tmp_path / "t5", tmp_path / "more", *words, "--token-base", 6, 11) == 2
    assert "--token-base: expected 3 numbers" in capsys.readouterr().err


def test_tokens_are_found_in_any_tokenizer_or_by_their_order(tmp_path, monkeypatch, capsys):
    sids = semantic_ids(30)
    model, places = write_t5(tmp_path / "t5", sids)
    (tmp_path / "t5" / "added_tokens.json").unlink()
    assert run(monkeypatch, tmp_path / "t5", tmp_path / "none") == 2
    assert "a token of a tokenizer, which the folder lacks" in capsys.readouterr().err
    assert run(monkeypatch, tmp_path / "t5", tmp_path / "out", "--added-base", PIECES) == 0
    tokenizer = Tokenizer(models.Unigram([(f"piece{place}", -1.0) for place in range(PIECES)], 2))
    tokenizer.add_tokens(sorted(places))
    tokenizer.save(str(tmp_path / "t5" / "tokenizer.json"))
    assert run(monkeypatch, tmp_path / "t5", tmp_path / "more") == 0
    listed = list(sids.values())
    expected = original_logits(model, places, listed[:4], listed[4])
    for folder in (tmp_path / "out", tmp_path / "more"):
        got = Served(folder).logits(listed[:4], listed[4])
        assert (got - expected).abs().max() < 1e-5


def test_what_the_command_writes_is_loaded_by_transformers(tmp_path, monkeypatch):
    sids = semantic_ids(30)
    write_t5(tmp_path / "t5", sids, n_positions=40)
    (tmp_path / "items.tsv").write_text("item\ttitle\tbrand\n3\tOil\tAcme\n")
    assert run(monkeypatch, tmp_path / "t5", tmp_path / "out", "--items",
               tmp_path / "items.tsv") == 0
    served = Served(tmp_path / "out")
    assert served.config["n_positions"] == 20 * 3 + 2 + 3 + 1
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    text = served.item_text(sids["3"]) + "</s><start>"
    assert tokenizer(text, add_special_tokens=False).input_ids == served.tokenizer.encode(text).ids
    row = next(row for row in served.items if row["item_id"] == "3")
    assert row == {"item_id": "3", "sid": sids["3"], "title": "Oil",
                   "attributes": {"brand": "Acme"}}
    record = json.loads((tmp_path / "out" / "import.json").read_text())
    assert {"name": "norm", "value": "full",
            "source": "one head over the vocabulary"} in record["settings"]


@pytest.mark.parametrize(("members", "generation", "start"), [
    ({"decoder_start_token_id": None}, {"decoder_start_token_id": 4}, 4),
    ({"decoder_start_token_id": None, "pad_token_id": 3}, {}, 3)])
def test_the_start_token_is_told_by_another_file_or_is_that_of_padding(
        tmp_path, monkeypatch, members, generation, start):
    write_t5(tmp_path / "t5", semantic_ids(5))
    edit(tmp_path / "t5" / "config.json", **members)
    (tmp_path / "t5" / "generation_config.json").write_text(json.dumps(generation))
    assert run(monkeypatch, tmp_path / "t5", tmp_path / "out") == 0
    assert Served(tmp_path / "out").config["decoder_start_token_id"] == start


def without_decoder(folder):
    tensors = load_file(folder / "model.safetensors")
    save_file({name: tensor for name, tensor in tensors.items() if "decoder" not in name},
              folder / "model.safetensors")


def with_tensor(**changed):
    def change(folder):
        tensors = load_file(folder / "model.safetensors")
        for name, make in changed.items():
            tensors[name] = make(tensors)
        save_file(tensors, folder / "model.safetensors")

    return change


def config_of(**members):
    return lambda folder: edit(folder / "config.json", **members)


BIAS = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
REFUSED = {
    "encoder alone": (without_decoder, "decoder.block.0: expected a decoder"),
    "by its name": (config_of(architectures=["T5EncoderModel"]), "config.json: architectures"),
    "umt5": (config_of(model_type="umt5"), "model_type: expected \"t5\", a bias by distance"),
    "mt5": (config_of(model_type="mt5"), "model_type: expected \"t5\", T5's vocabulary"),
    "switch": (config_of(model_type="switch_transformers"), "not experts, got"),
    "bart": (config_of(model_type="bart"), "model_type: expected \"t5\", got 'bart'"),
    "buckets": (config_of(relative_attention_num_buckets=31), "an even number of 4 or more"),
    "distance": (config_of(relative_attention_max_distance=16), "more than 16, half of the"),
    "activation": (config_of(feed_forward_proj="tanh", dense_act_fn="tanh"),
                   "feed_forward_proj: expected one of"),
    "another activation": (config_of(dense_act_fn="silu"), "dense_act_fn: expected 'relu'"),
    "heads": (config_of(num_heads=4), "q.weight: expected shape [24, 16]"),
    "rows": (config_of(vocab_size=4), "vocab_size: expected"),
    "buckets of the decoder": (with_tensor(**{BIAS: lambda _: torch.zeros(8, 2)}),
                               f"{BIAS}: expected shape [32, 2]"),
    "a bias": (with_tensor(**{"encoder.block.0.layer.0.SelfAttention.q.bias":
                              lambda _: torch.zeros(12)}),
               "q.bias: expected a tensor that T5ForConditionalGeneration has"),
    "not finite": (with_tensor(**{BIAS: lambda found: found[BIAS] * float("nan")}),
                   f"{BIAS}: expected finite numbers"),
    "two tables": (with_tensor(**{"decoder.embed_tokens.weight":
                                  lambda found: found["shared.weight"] + 1}),
                   "decoder.embed_tokens.weight: expected the table shared.weight"),
    "cut off": (lambda folder: (folder / "model.safetensors").write_bytes(b"12345678{"),
                "expected a whole safetensors file"),
    "no weights": (lambda folder: (folder / "model.safetensors").unlink(),
                   "expected model.safetensors or pytorch_model.bin"),
    "an id too high": (lambda folder: edit(folder / "added_tokens.json", **{"<a_99>": 4000}),
                       "token '<a_99>': expected an id below"),
    "no such token": (lambda folder: edit(folder / "added_tokens.json", **{"<a_1>": ...}),
                      "level 0: expected a token of added_tokens.json (or --added-base"),
    "positions": (lambda folder: edit(folder / "config.json", n_positions="x"),
                  "config.json: n_positions: expected a count of 1 or more, got 'x'"),
    "width": (lambda folder: edit(folder / "config.json", d_model="x",
                                  scale_decoder_outputs=False, tie_word_embeddings=False),
              "config.json: d_model: expected a count of 1 or more, got 'x'"),
    "scaled width": (lambda folder: (edit(folder / "config.json", d_model="x",
                                          scale_decoder_outputs=True),
                                     with_tensor(**{"lm_head.weight": lambda found:
                                                    found["shared.weight"] + 1})(folder)),
                     "config.json: d_model: expected a count of 1 or more, got 'x'"),
    "architectures": (lambda folder: edit(folder / "config.json", architectures=5),
                      "config.json: architectures: expected an array of names, got 5"),
    "model type": (lambda folder: edit(folder / "config.json", model_type=["t5"]),
                   "config.json: model_type: expected \"t5\", got ['t5']"),
    "no index": (lambda folder: (folder / "own.index.json").unlink(), "--index: expected"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_t5_is_refused_by_file_and_field_and_nothing_is_written(
        tmp_path, monkeypatch, capsys, name):
    change, message = REFUSED[name]
    write_t5(tmp_path / "t5", semantic_ids(30))
    change(tmp_path / "t5")
    assert run(monkeypatch, tmp_path / "t5", tmp_path / "out") == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in islice(tmp_path.iterdir(), 3)] == ["t5"]


def test_a_folder_that_is_there_is_not_written_over(tmp_path, monkeypatch, capsys):
    write_t5(tmp_path / "t5", semantic_ids(5))
    assert run(monkeypatch, tmp_path / "t5", tmp_path / "t5") == 2
    assert "--out: expected a name that is free" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "said"), [
    (["--item-ids", "ids.json"], "--item-ids: expected no such flag for a Hugging Face folder"),
    (["--config", "config.yaml"], "--config: expected no such flag for a Hugging Face folder"),
    (["--codes", 5], "--codes: expected --token-base beside it, got [5]"),
    (["--user-base", 5], "--user-base: expected --user-bins beside it, got 5"),
    (["--max-distance", 5], "--max-distance: expected 128, as "),
    (["--feed-forward", "silu"], "--feed-forward: expected 'relu', as "),
])
def test_flags_that_say_nothing_of_a_folder_are_refused(tmp_path, monkeypatch, capsys, words, said):
    write_t5(tmp_path / "t5", semantic_ids(10))
    assert run(monkeypatch, tmp_path / "t5", tmp_path / "out", *words) == 2
    assert said in capsys.readouterr().err and not (tmp_path / "out").exists()
