"""Two processes train as one does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_two_processes_have_the_loss_curve_of_one(tmp_path):
    rng = np.random.default_rng(1)
    index = {str(i): [int(c) for c in rng.integers(6, size=2)] for i in range(30)}
    (tmp_path / "index.json").write_text(json.dumps(index))
    sequences = {str(u): [str(i) for i in rng.integers(30, size=rng.integers(3, 9))]
                 for u in range(61)}
    (tmp_path / "s.json").write_text(json.dumps(sequences))
    words = ["-m", "trainer", "train", "--sequences", str(tmp_path / "s.json"),
             "--index", str(tmp_path / "index.json"), "--layers", "2", "--hidden", "24",
             "--heads", "2", "--kv-heads", "1", "--head-dim", "12", "--intermediate", "32",
             "--epochs", "3", "--batch-size", "16", "--validate-every", "1", "--dropout", "0",
             "--threads", "1", "--no-autocast", "--beam", "10"]
    alone, together = tmp_path / "alone", tmp_path / "together"
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    for prefix, out in (([], alone), (launch, together)):
        subprocess.run([sys.executable, *prefix, *words, "--out", str(out)], check=True,
                       cwd=ROOT, env=environment, capture_output=True)
    curves = [json.loads((out / "training.json").read_text())["curve"] for out in (alone, together)]
    assert [row["epoch"] for row in curves[1]] == [1, 2, 3]
    for one, two in zip(*curves, strict=True):
        assert two["loss"] == pytest.approx(one["loss"], rel=1e-5)
    test = [json.loads((out / "training.json").read_text())["test"] for out in (alone, together)]
    assert set(test[0]) == {"model", "popularity", "item-KNN", "recent-KNN"}
    assert test[0]["popularity"] == test[1]["popularity"]
