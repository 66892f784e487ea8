"""Files and folders that cannot be written: one line with the path, and nothing half written."""

import resource
import sys

import pytest
import torch

from trainer.__main__ import main
from trainer.checkpoint import save_state, whole_folder, write_atomically
from trainer.errors import InputError
from trainer.heads import Head, Ranking

ROOM = 4096


@pytest.fixture(name="full")
def limited():
    """A disk with little room, as far as a file can tell."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_an_os_error_with_the_path_and_leaves_nothing(tmp_path, full):
    large = torch.rand(8 * ROOM)
    ranking = Ranking("r", [Head("click", [(large[None], torch.zeros(1))])])

    def folder():
        with whole_folder(tmp_path / "heads") as partial:
            ranking.save(partial)

    for name, write in (("bytes", lambda: write_atomically(tmp_path / "bytes", bytes(8 * ROOM))),
                        ("state", lambda: save_state(tmp_path / "state", {"weights": large})),
                        ("heads", folder)):
        with pytest.raises(OSError) as caught:
            write()
        assert caught.value.filename == str(tmp_path / name)
        assert name == "heads" or caught.value.strerror == "File too large"
    assert not list(tmp_path.iterdir())


def test_a_device_or_a_folder_is_not_replaced_by_a_file(tmp_path):
    for path in ("/dev/full", tmp_path):
        with pytest.raises(InputError, match="a file, or a name that is free"):
            write_atomically(type(tmp_path)(path), b"x")


@pytest.mark.parametrize("command", ["sequences", "texts"])
def test_a_path_that_cannot_be_written_is_named_in_one_line(command, tmp_path, monkeypatch, capsys):
    log = tmp_path / "log.tsv"
    log.write_text("user\titem\ttime\ttitle\nu\ta\t1\tx\nu\tb\t2\ty\n")
    source = "--items" if command == "texts" else "--behaviours"
    for out in (tmp_path / "none" / "out", log / "out"):
        monkeypatch.setattr(sys, "argv", ["trainer", command, source, str(log), "--out", str(out)])
        assert main() == 1
        said = capsys.readouterr().err
        assert said.startswith(f"error: {out}: expected what can be read and written")


def test_where_no_adapter_can_be_written_none_is_trained(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    for command in (["finetune", "--behaviours", "b.jsonl"], ["rank", "--exposures", "e.tsv"]):
        monkeypatch.setattr(sys, "argv", ["trainer", *command, "--model", "none", "--out",
                                          str(tmp_path / "file" / "out")])
        assert main() == 2
        assert "--out: expected a folder that can be made" in capsys.readouterr().err
