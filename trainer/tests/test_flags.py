import sys

import pytest
import torch

from trainer.__main__ import main
from trainer.checkpoint import load_state, save_state
from trainer.errors import InputError

TRAIN = ["trainer", "train", "--sequences", "s.json", "--index", "i.json"]


@pytest.mark.parametrize("words", [
    ["--dropout", "1.5"], ["--label-smoothing", "2"], ["--warmup", "5"], ["--drop-items", "3"],
    ["--shuffled-share", "2"], ["--lr", "-1"], ["--layers", "0"], ["--epochs", "nan"],
    ["--seed", "-1"], ["--seed", str(1 << 63)],
])
def test_a_flag_out_of_its_bounds_is_named_before_anything_is_written(
        words, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", [*TRAIN, "--out", str(out), *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert f"argument {words[0]}: " in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("words", [["--heads", "5", "--kv-heads", "2"], ["--head-dim", "7"]])
def test_flags_that_do_not_fit_are_refused_before_anything_is_written(
        words, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", [*TRAIN, "--out", str(out), *words])
    assert main() == 2
    assert "expected" in capsys.readouterr().err
    assert not out.exists()


def test_a_state_of_other_arguments_is_not_overwritten(tmp_path):
    path = tmp_path / "training-state.pt"
    assert load_state(path, "these") is None
    save_state(path, {"fingerprint": "these", "weights": torch.ones(2)})
    assert load_state(path, "these")["weights"].tolist() == [1, 1]
    with pytest.raises(InputError, match="expected the state of a training with these"):
        load_state(path, "others")


def test_a_damaged_state_is_refused(tmp_path):
    path = tmp_path / "training-state.pt"
    save_state(path, {"fingerprint": "these"})
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="expected the state of a training, or no such file"):
        load_state(path, "these")


@pytest.mark.parametrize("name", ["nonsense", "cuda:97"])
def test_a_device_that_is_not_there_is_refused_before_anything_is_written(
        name, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", [*TRAIN, "--out", str(out), "--device", name])
    assert main() == 2
    said = f"--device: expected a device that PyTorch has here, got '{name}"
    assert said in capsys.readouterr().err
    assert not out.exists()
