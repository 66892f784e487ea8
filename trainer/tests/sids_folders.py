"""Items and flags of `sids`, and the folders that it writes, for tests."""

import json
import sys

import numpy as np

from trainer.__main__ import main


def some_texts(count=240, seed=0):
    rng = np.random.default_rng(seed)
    kinds = ["soap", "cream", "brush", "comb", "perfume", "mask"]
    makers = [f"maker{i}" for i in range(12)]
    colours = ["red", "green", "blue", "black", "white"]
    return [f"{rng.choice(makers)} {rng.choice(kinds)} {rng.choice(colours)} {rng.integers(40)} ml"
            for _ in range(count)]


def run_sids(monkeypatch, *flags):
    monkeypatch.setattr(sys, "argv", ["trainer", "sids", "--levels", "3", "--codes", "8",
                                      "--dimension", "12", *map(str, flags)])
    return main()


def made_by(tmp_path, **members):
    path = tmp_path / "v.json"
    path.write_text(json.dumps({"version": 1, "kind": "encoder", "model_digest": "ab" * 32,
                                "compute_type": "f32", **members}))
    return path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def some_items(path, count, seed=0):
    path.write_text(json.dumps({f"ad-{i}": text for i, text in
                                enumerate(some_texts(count, seed))}))
    return path
