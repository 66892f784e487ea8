"""Models of GRID and Cornac are served with the scores that they have there."""

import functools
import json
import pickle
import sys
import types
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from trainer.encoder_decoder import DeepFeedForward
from trainer.tests.tiger_models import Served, run
from trainer.tests.tiger_modules import SIZE, Cornac, Grid, spread

LEVELS, CODES = 4, 6
SIZES = [6, 6, 6, 3]


def table(count, sizes, seed=0):
    """Semantic IDs whose last level tells items of equal codes apart, as both libraries make it."""
    rng = np.random.default_rng(seed)
    seen: dict[tuple, int] = {}
    rows = []
    while len(rows) < count:
        codes = tuple(int(rng.integers(size)) for size in sizes[:-1])
        if seen.get(codes, 0) < sizes[-1]:
            rows.append([*codes, seen.get(codes, 0)])
            seen[codes] = seen.get(codes, 0) + 1
    return rows


def same_scores(served, model, history, sid, **more):
    """Logits of each level, and the log-probability of the whole semantic ID."""
    expected = model.level_logits(history, sid, **more)
    got = served.logits(history, sid, user=more.get("user"))
    sums = [0.0, 0.0]
    for level, logits in enumerate(expected):
        mine = got[level][served.level_tokens(level, len(logits))]
        assert (mine - logits).abs().max() < 1e-5
        for place, row in enumerate((logits, mine)):
            sums[place] += torch.log_softmax(row, -1)[sid[level]].item()
    assert sums[1] == pytest.approx(sums[0], abs=1e-5)


# --- Cornac

class Tiger:
    """A recommender that is pickled whole, as `save` of Cornac pickles it."""


def cornac(tmp_path, monkeypatch, sizes=SIZES, **settings):
    """The folder of one saved recommender, its module and its table; none of its classes can be
    imported any more."""
    module = spread(Cornac(sizes, **settings), 5)
    rows = table(40, sizes)
    made = types.ModuleType("cornac_tiger")
    for kind in (Tiger, Cornac):
        monkeypatch.setattr(kind, "__module__", "cornac_tiger")
        setattr(made, kind.__name__, kind)
    monkeypatch.setitem(sys.modules, "cornac_tiger", made)
    saved = Tiger()
    saved.name, saved.model, saved.max_len, saved.level_sizes = "TIGER", module, 7, sizes
    saved.sid_table = np.array(rows)
    saved.rng = np.random.RandomState(3)
    saved.iid_map = {f"item-{row}": np.int64(row) for row in range(len(rows))}
    folder = tmp_path / "TIGER"
    folder.mkdir()
    with (folder / "TIGER-20260101-000000-000000.pkl").open("wb") as file:
        pickle.dump(saved, file, protocol=pickle.HIGHEST_PROTOCOL)
    monkeypatch.delitem(sys.modules, "cornac_tiger")
    return folder, module, rows


def test_a_recommender_that_cornac_pickled_scores_as_there(tmp_path, monkeypatch, capsys):
    folder, module, rows = cornac(tmp_path, monkeypatch)
    assert run(monkeypatch, folder, tmp_path / "out") == 0
    served = Served(tmp_path / "out")
    same_scores(served, module, rows[:1], rows[1])
    same_scores(served, module, rows[:7], rows[9], padding=2)
    assert [row["item_id"] for row in served.items[:2]] == ["item-0", "item-1"]
    assert served.items[0]["sid"] == rows[0] and len(served.items) == 40
    assert served.prompt["segments"] == [
        {"slot": "history", "separator": "", "before": "", "after": "", "maxItems": 7},
        {"text": "<start>"}]
    printed = capsys.readouterr().out
    assert "norm: level  (a head per level)" in printed and "max-items: 7  (max_len)" in printed
    assert "40 items on 40 semantic IDs\n" in printed


def test_tensors_of_cornac_come_with_a_table_and_ids_beside_them(tmp_path, monkeypatch):
    module = spread(Cornac(SIZES), 5)
    rows = table(9, SIZES)
    torch.save(module.state_dict(), tmp_path / "tiger.pt")
    np.save(tmp_path / "sids.npy", np.array(rows))
    (tmp_path / "ids.json").write_text(json.dumps([f"B{row}" for row in range(9)]))
    assert run(monkeypatch, tmp_path / "tiger.pt", tmp_path / "out", "--index",
               tmp_path / "sids.npy", "--item-ids", tmp_path / "ids.json") == 0
    served = Served(tmp_path / "out")
    same_scores(served, module, rows[:5], rows[5])
    assert {row["item_id"]: row["sid"] for row in served.items}["B8"] == rows[8]


@pytest.mark.parametrize(("words", "said"), [
    (["--token-base", 5], "--token-base: expected no such flag for Cornac, got [5]"),
    (["--separator-token", 0], "--separator-token: expected no such flag for Cornac, got 0"),
    (["--config", "config.yaml"], "--config: expected no such flag for Cornac"),
    (["--index", "index.json", "--item-ids", "ids.json"], "--item-ids: expected an --index that"),
])
def test_flags_that_say_nothing_of_cornac_are_refused(tmp_path, monkeypatch, capsys, words, said):
    folder, _, rows = cornac(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "index.json").write_text(json.dumps(dict(enumerate(rows))))
    (tmp_path / "ids.json").write_text(json.dumps(list(range(len(rows)))))
    assert run(monkeypatch, folder, tmp_path / "out", *words) == 2
    assert said in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_gated_feed_forward_is_told_by_the_tensors(tmp_path, monkeypatch):
    folder, module, rows = cornac(tmp_path, monkeypatch, feed_forward_proj="gated-gelu")
    assert run(monkeypatch, folder, tmp_path / "out") == 0
    same_scores(Served(tmp_path / "out"), module, rows[:3], rows[3])


def test_nothing_of_a_pickle_is_called(tmp_path, monkeypatch, capsys):
    class Bad:
        def __reduce__(self):
            return (open, (str(tmp_path / "opened"), "w"))

    for write in (lambda value, path: path.write_bytes(pickle.dumps(value)), torch.save):
        write({"model": Bad(), "list": [1, Bad()]}, tmp_path / "bad.pkl")
        assert run(monkeypatch, tmp_path / "bad.pkl", tmp_path / "out") == 2
        assert "expected tensors by name" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.pkl"]


# --- GRID

class Evaluator:
    """An object among the hyper-parameters, which no reader can import."""


def grid(tmp_path, config="", has_objects=True, **settings):
    """A run's folder as Hydra and Lightning leave it, its module and its table."""
    module = spread(Grid(LEVELS, CODES, **settings), 6)
    rows = table(30, [CODES] * LEVELS)
    folder = tmp_path / "run"
    (folder / "checkpoints").mkdir(parents=True)
    (folder / ".hydra").mkdir()
    (folder / ".hydra" / "config.yaml").write_text(
        f"semantic_id_path: {tmp_path / 'sids.pt'}\nsequence_length: 24\n"
        "num_hierarchies: 4\nmodel:\n  num_hierarchies: ${num_hierarchies}\n" + config)
    torch.save(torch.tensor(rows).t(), tmp_path / "sids.pt")
    objects = {"optimizer": functools.partial(torch.optim.Adam, lr=0.001),
               "evaluator": Evaluator()} if has_objects else {}
    torch.save({"state_dict": module.state_dict(), "epoch": 3, "hyper_parameters": objects,
                "pytorch-lightning_version": "2.5.0"},
               folder / "checkpoints" / "checkpoint_003_001600.ckpt")
    return folder, module, rows


@pytest.mark.parametrize("settings", [
    {"bins": 5}, {"has_separator": False}, {"has_objects": False, "is_whole": False}])
def test_a_run_of_grid_scores_as_there(tmp_path, monkeypatch, settings):
    folder, module, rows = grid(tmp_path, **settings)
    assert run(monkeypatch, folder, tmp_path / "out") == 0
    served = Served(tmp_path / "out")
    same_scores(served, module, rows[:1], rows[1], user=13)
    same_scores(served, module, rows[:5], rows[20], user=4, padding=3)
    assert [row["sid"] for row in sorted(served.items, key=lambda row: int(row["item_id"]))] == rows
    users = [segment for segment in served.prompt["segments"] if segment.get("slot") == "user"]
    assert users == ([{"slot": "user", "bins": 5, "before": "<user_", "after": ">"}]
                     if "bins" in settings else [])
    assert len(served.prompt_tokens(rows, user=0)) == served.prompt["maxPromptTokens"]


def test_the_runs_config_tells_the_norm_and_the_length(tmp_path, monkeypatch, capsys):
    folder, module, rows = grid(tmp_path, "  should_check_prefix: true\n"
                                "  huggingface_model:\n    config: &t5\n"
                                "      layer_norm_epsilon: 1e-5\n"
                                "      relative_attention_max_distance: 60\n"
                                "  decoder:\n    config: *t5\n")
    assert run(monkeypatch, folder, tmp_path / "out") == 0
    printed = capsys.readouterr().out
    assert "norm: allowed  (should_check_prefix of the run)" in printed
    assert "max-items: 5  (sequence_length, without the answer)" in printed
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["relative_attention_max_distance"] == 60
    assert config["layer_norm_epsilon"] == 1e-5
    assert config["tie_word_embeddings"] is False and config["decoder_start_token_id"] == 2


@pytest.mark.parametrize("inner", [1, 2, 3])
def test_feed_forward_blocks_of_mlp_layers_are_served(inner, tmp_path, monkeypatch, capsys):
    folder, module, rows = grid(tmp_path)
    file = folder / "checkpoints" / "checkpoint_003_001600.ckpt"
    settings = SimpleNamespace(**SIZE, feed_forward_layers=inner, feed_forward_bias=True)
    for part in (module.encoder.encoder.encoder, module.decoder.decoder):
        for block in part.block:
            block.layer[-1].DenseReluDense = spread(DeepFeedForward(settings), inner)
    places = {"wi": 0, "wo": 3 * inner, **{f"hidden.{at}": 3 * at + 3 for at in range(inner - 1)}}
    state = {}
    for name, tensor in module.state_dict().items():
        for layer, place in places.items():
            name = name.replace(f"DenseReluDense.{layer}.", f"mlp.model.{place}.")
        state[name] = tensor
    torch.save({"state_dict": state}, file)
    assert run(monkeypatch, folder, tmp_path / "out") == 0
    same_scores(Served(tmp_path / "out"), module, rows[:5], rows[20])
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config.get("feed_forward_layers", 1) == inner and config["feed_forward_bias"] is True
    alone = {name: tensor for name, tensor in state.items()
             if not name.endswith(f"mlp.model.{3 * inner}.weight")}
    torch.save({"state_dict": alone}, file)
    assert run(monkeypatch, folder, tmp_path / "more") == 2
    assert "mlp_layers: expected" in capsys.readouterr().err


def changed(rename=None, **values):
    """A change of a checkpoint's tensors: new values by name, then new names, None for none."""
    def change(folder, tensors):
        for name, make in values.items():
            tensors[name] = make(tensors.get(name))
        return {new: tensor for name, tensor in tensors.items()
                if (new := rename(name) if rename else name)}

    return change


def index_of(value):
    def change(folder, tensors):
        torch.save(value, folder.parent / "sids.pt")
        return tensors

    return change


def run_config(text):
    def change(folder, tensors):
        (folder / ".hydra" / "config.yaml").write_text(text)
        return tensors

    return change


HEAD = "decoder.decoder_mlp.3.weight"
BIAS = "decoder.decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
REFUSED = {
    "a head is missing": (changed(lambda name: None if "decoder_mlp.1." in name else name),
                          "decoder.decoder_mlp.1.weight: expected a head per level"),
    "heads with a bias": (changed(**{"decoder.decoder_mlp.0.bias": lambda _: torch.zeros(6)}),
                          "expected a head per level, without bias"),
    "a head of another size": (changed(**{HEAD: lambda head: head[:5]}),
                               f"{HEAD}: expected shape [6, 16]"),
    "rows that do not divide": (changed(**{"item_sid_embedding_table_encoder.weight":
                                           lambda rows: rows[:-1]}),
                                "table_encoder.weight: expected as many codes for each of 4"),
    "no start": (changed(lambda name: None if name == "decoder.bos_token" else name),
                 "decoder.bos_token: expected a learned vector"),
    "codes beyond the heads": (index_of(torch.tensor([[0, 1], [5, 6], [0, 0], [0, 0]])),
                               "level 1: expected a code below 6, as decoder.decoder_mlp.1"),
    "codes of another depth": (index_of(torch.zeros(3, 9)),
                               "expected 4 codes an item, as many as there are heads"),
    "a table of fractions": (index_of(torch.full((4, 9), 0.5)), "row 0 level 0: expected a code"),
    "no table": (index_of({"a": 1}), "expected a table of codes"),
    "a decoder alone": (changed(lambda name: f"backbone.{name}" if "decoder" in name else None),
                        "expected GRID's SemanticIDEncoderDecoder"),
    "no encoder": (changed(lambda name: None if "encoder.block" in name else name),
                   "encoder: expected a stack of T5's blocks"),
    "two encoders": (changed(**{"model.encoder.block.0.layer.0.layer_norm.weight":
                                lambda norm: norm + 1}), "model.encoder.block: expected the"),
    "buckets apart": (changed(**{BIAS: lambda bias: bias[:8]}),
                      "decoder: relative_attention_num_buckets: expected 32, as the encoder has"),
    "two distances": (run_config("model: {decoder: {config: "
                                 "{relative_attention_max_distance: 9}}}"),
                      "max_distance: expected None, as the encoder has"),
    "no YAML": (run_config("a: [1"), "config.yaml: expected YAML"),
    "no index": (run_config("a: 1"), "--index: expected the semantic IDs"),
    "not finite": (changed(**{HEAD: lambda head: head * float("inf")}),
                   "lm_head.weight: expected finite numbers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_run_that_does_not_fit_is_refused_and_nothing_is_written(tmp_path, monkeypatch, capsys,
                                                                   name):
    change, message = REFUSED[name]
    folder, module, _ = grid(tmp_path)
    torch.save({"state_dict": change(folder, dict(module.state_dict()))},
               folder / "checkpoints" / "checkpoint_003_001600.ckpt")
    assert run(monkeypatch, folder, tmp_path / "out") == 2
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "sids.pt"]


def test_files_of_others_are_refused_by_what_they_hold(tmp_path, monkeypatch, capsys):
    for value, message in (
            ({"encoder.block.0.w": torch.zeros(1), "other": torch.zeros(1)}, "a model of GRID"),
            ({"shared.weight": torch.zeros(1), "block.0.a": torch.zeros(1)}, "with its config"),
            (torch.zeros(3), "expected tensors by name"), ([1, 2], "expected tensors by name")):
        torch.save(value, tmp_path / "other.pt")
        assert run(monkeypatch, tmp_path / "other.pt", tmp_path / "out") == 2
        assert message in capsys.readouterr().err
    (tmp_path / "other.pt").write_bytes(b"no pickle")
    assert run(monkeypatch, tmp_path / "other.pt", tmp_path / "out") == 2
    assert "a torch file or a pickle" in capsys.readouterr().err
    assert run(monkeypatch, tmp_path / "nowhere", tmp_path / "out") == 2
    assert "FROM: expected a file or folder" in capsys.readouterr().err
