"""A new base model out of an old one: factors are merged once, into the base they belong to."""

import argparse
import contextlib
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from trainer.errors import InputError
from trainer.follow import refresh
from trainer.follow.flags import add_refresh
from trainer.follow.gateway import Gateway, LiveItem, Served, digest_of
from trainer.follow.store import Fact, Store

DEMO = Path(__file__).resolve().parents[2] / "models" / "demo"
NAME = "model.layers.0.mlp.down_proj.weight"


def service_of(base: str, versions: list[Served]):
    rows = map(json.loads, (DEMO / "catalogue.jsonl").read_text().splitlines())
    items = {row["item_id"]: LiveItem(tuple(row["sid"])) for row in rows}

    class Face(Gateway):
        def base_model(self):
            return base

        def versions(self):
            return versions

        def items(self):
            return items

    return Face


def state_with_a_version(folder: Path) -> str:
    """A store whose one version served, of the base `a`; returns its digest."""
    store = Store(folder)
    rng = np.random.default_rng(3)
    store.add([Fact(f"u{number % 12}", str(rng.integers(1, 600)), 1000 * number, "click")
               for number in range(60)], [], "s", 1)
    torch.manual_seed(3)
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(DEMO), LoraConfig(
        task_type="CAUSAL_LM", r=2, target_modules=["down_proj"], init_lora_weights=False))
    model.save_pretrained(folder / "versions" / "000001", save_embedding_layers=False)
    digest = digest_of(folder / "versions" / "000001")
    cycle = store.begin({"base": "a", "parent": "", "after": 0, "upto": 0, "shown_after": 0,
                         "shown_upto": 0, "seed": 1, "begun_ms": 0, "learned_until_ms": 0},
                        {}, [], [])
    store.advance(cycle, "active", digest)
    store.set_key("served", {"digest": digest, "upto": 0, "learned_until_ms": 0})
    store.close()
    return digest


def refreshed(folder: Path, out: str, monkeypatch, face, model: Path = DEMO) -> torch.Tensor:
    """Weights of one matrix, trained by next to nothing."""
    monkeypatch.setattr(refresh, "Gateway", face)
    monkeypatch.setattr(refresh, "yield_cores", lambda _: None)
    monkeypatch.setattr(refresh, "digest_of", lambda *_: None)
    monkeypatch.setattr(refresh, "connect", lambda _: contextlib.nullcontext())
    parser = argparse.ArgumentParser()
    add_refresh(parser.add_subparsers(), refresh.run)
    args = parser.parse_args(["refresh", "--state", str(folder), "--model", str(model), "--out",
                              str(folder / out), "--lr", "1e-12", "--epochs", "1",
                              "--gate-least", "1", "--held-out", "0.3"])
    monkeypatch.setattr(refresh, "judge", lambda *_: argparse.Namespace(figures={}, reason=""))
    assert refresh.run(args) == 0
    return load_file(folder / out / "model.safetensors")[NAME].float()


def test_a_second_refresh_does_not_merge_the_factors_again(tmp_path, monkeypatch):
    digest = state_with_a_version(tmp_path)
    base = load_file(DEMO / "model.safetensors")[NAME].float()
    once = refreshed(tmp_path, "new2", monkeypatch, service_of("a", [Served(digest, "active")]))
    assert (once - base).norm() > 0.1
    ended = service_of("b", [Served(digest, "retired")])
    twice = refreshed(tmp_path, "new3", monkeypatch, ended, tmp_path / "new2")
    assert (twice - once).norm() < 1e-3 * (once - base).norm()


@pytest.mark.parametrize("base, digest", [("b", None), ("a", "f" * 64)])
def test_factors_of_another_base_or_of_nobody_here_are_refused(tmp_path, monkeypatch, base, digest):
    own = state_with_a_version(tmp_path)
    face = service_of(base, [Served(digest or own, "active")])
    with pytest.raises(InputError, match="--state .*: expected .*factors of"):
        refreshed(tmp_path, "new", monkeypatch, face)
