"""An encoder-decoder that is trained here is written as an imported one is, and searched alike."""

import json
import sys
from itertools import product

import numpy as np
import pytest
import torch

from trainer.__main__ import main
from trainer.beam import beam_search
from trainer.data import SidIndex
from trainer.samples import IGNORED, Row, padded
from trainer.settings import Shape
from trainer.tests.tiger_models import Served
from trainer.tiger.training import build_t5, divided
from trainer.trie import build_trie

START, END, PAD = 2, 1, 0


def test_rows_are_divided_at_the_start_token():
    rows = [Row([7, 8, START, 5, 6], [False] * 3 + [True] * 2),
            Row([9, 9, 9, START, 4], [False] * 4 + [True]), Row([7, START, 3, 5], [False] * 2
                                                                + [True] * 2)]
    parts = divided(*padded(rows, PAD), START, PAD)
    assert parts["encoder"].tolist() == [[7, 8, PAD], [9, 9, 9], [7, PAD, PAD]]
    assert parts["mask"].tolist() == [[1, 1, 0], [1, 1, 1], [1, 0, 0]]
    assert parts["decoder"].tolist() == [[START, 5], [START, 4], [START, 3]]
    assert parts["targets"].tolist() == [[5, 6], [4, IGNORED], [3, 5]]


def test_a_beam_finds_what_scores_of_whole_semantic_ids_find():
    torch.manual_seed(1)
    model = build_t5(Shape(2, 16, 2, 2, 8, 24), 12, 32, START, END, PAD).eval()
    codes = {f"{a}{b}": (a, b) for a, b in product(range(3), range(4)) if (a, b) != (1, 1)}
    trie = build_trie(SidIndex(codes, 2, ["<a_{code}>", "<b_{code}>"], False))
    ids = [torch.tensor([3, 4, 5]), torch.tensor([6, 7, 8, 9])]
    prompts = torch.tensor([[3, 7, 5, 6, START], [4, 9, 4, 9, START]])
    leaves, scores = beam_search(model, prompts, trie, ids, 20)
    for row, prompt in enumerate(prompts.tolist()):
        expected = {}
        for item, (a, b) in codes.items():
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([prompt[:-1]]),
                               decoder_input_ids=torch.tensor([[START, 3 + a]])).logits[0]
            expected[item] = sum(logits.log_softmax(-1)[place, token].item()
                                 for place, token in enumerate((3 + a, 6 + b)))
        found = {trie.leaf_items[leaf][0]: score for leaf, score
                 in zip(leaves[row].tolist(), scores[row].tolist()) if leaf >= 0}
        assert list(found) == sorted(expected, key=lambda item: -expected[item])
        assert [found[item] for item in found] == pytest.approx(
            [expected[item] for item in found], abs=1e-5)


def train(monkeypatch, folder, *words):
    monkeypatch.setattr(sys, "argv", ["trainer", "train", "--sequences", str(folder / "s.json"),
                                      "--index", str(folder / "index.json"), "--out",
                                      str(folder / "out"), "--family", "t5", *map(str, words)])
    return main()


@pytest.fixture(name="data")
def made(tmp_path):
    """Items in a circle: the one behind the last is the answer."""
    codes = {str(item): [item // 4, item % 4] for item in range(12)}
    (tmp_path / "index.json").write_text(json.dumps(codes))
    rng = np.random.default_rng(0)
    users = {f"u{user}": [str((first + step) % 12) for step in range(8)]
             for user, first in enumerate(rng.integers(12, size=60))}
    (tmp_path / "s.json").write_text(json.dumps(users))
    return tmp_path


SMALL = ["--layers", 1, "--hidden", 32, "--heads", 2, "--head-dim", 16, "--intermediate", 64,
         "--threads", 1, "--beam", 12, "--batch-size", 64, "--dropout", 0.05, "--no-autocast"]


def test_a_t5_that_is_trained_here_is_served_as_an_imported_one(data, monkeypatch, capsys):
    assert train(monkeypatch, data, *SMALL, "--epochs", 20, "--lr", 0.006, "--max-items", 5,
                 "--validate-every", 20) == 0
    out = data / "out"
    record = json.loads((out / "training.json").read_text())
    assert record["test"]["model"]["recall@5"] > 0.9
    served = Served(out)
    assert served.config["model_type"] == "t5" and served.config["tie_word_embeddings"] is True
    assert served.prompt["segments"][-1] == {"text": "<start>"}
    sids = {row["item_id"]: row["sid"] for row in served.items}
    tokens = served.prompt_tokens([sids[str(item)] for item in range(6)])
    assert len(tokens) == 5 * 3 + 1 == served.prompt["maxPromptTokens"]
    logits = served.logits([sids["4"], sids["5"], sids["6"]], sids["7"])
    for level, code in enumerate(sids["7"]):
        row = logits[level][served.level_tokens(level, 3 + level)]
        assert int(row.argmax()) == code


def test_other_flags_of_a_t5_are_refused(data, monkeypatch, capsys):
    template = {"version": 1, "name": "x", "levels": ["<a_{code}>", "<b_{code}>"],
                "segments": [{"slot": "history", "maxItems": 5}], "maxPromptTokens": 20}
    (data / "prompt.json").write_text(json.dumps(template))
    for words, message in ((["--prompt", data / "prompt.json"], "a text that ends with <start>"),
                           (["--from", data], "--family: expected another than t5 beside --from"),
                           (["--no-tie-embeddings"], "--tie-embeddings: expected tied")):
        assert train(monkeypatch, data, *SMALL, *words) == 2
        assert message in capsys.readouterr().err
