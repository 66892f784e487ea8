"""The command line of a trainer that follows: faults are sentences, not tracebacks."""

import argparse
import contextlib
import socket
import sqlite3

import pytest
from tessera_client import TesseraError

from trainer.errors import InputError
from trainer.follow import command, refresh
from trainer.follow.flags import add_follow
from trainer.follow.gateway import Away, Gateway
from trainer.follow.metrics import Metrics
from trainer.follow.report import Beat
from trainer.follow.store import Store


def flags(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_follow(parser.add_subparsers(), command.run)
    return parser.parse_args(["follow", *words])


@pytest.mark.parametrize("name", ["Bad Name!", "base", "", "-x", "x" * 65])
def test_a_name_that_the_service_refuses_is_refused_before_anything_is_trained(name):
    with pytest.raises(SystemExit):
        flags(f"--name={name}")


@pytest.mark.parametrize("words", ["--held-out 0", "--held-out 1", "--share 0",
                                   "--examples-max 40", "--gate-examples 20"])
def test_flags_with_which_no_version_would_be_pushed_are_refused(words, tmp_path):
    with pytest.raises(InputError, match="--(held-out|share|examples-min|gate-least): expected"):
        command.run(flags("--state", str(tmp_path), *words.split()))


def test_a_state_that_is_no_folder_or_no_store_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "junk").mkdir()
    (tmp_path / "junk" / "follow.sqlite").write_bytes(b"junk" * 1000)
    for name in ("file", "file/below", "junk"):
        with pytest.raises(InputError, match=f"--state {tmp_path / name}: expected a folder"):
            Store(tmp_path / name)


def test_a_port_of_metrics_that_is_taken_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for port in (taken.getsockname()[1], 99_999):
            with pytest.raises(InputError, match=f"--metrics {port}: expected a port"):
                Metrics(None, port, tmp_path)


def test_facts_that_are_a_file_are_refused_and_an_absent_folder_is_said(tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="--facts"):
        command._source(flags("--facts", str(tmp_path / "file")))
    command._source(flags("--facts", str(tmp_path / "none")))
    assert f"--facts {tmp_path / 'none'} is not there yet" in capsys.readouterr().out


def test_a_disk_that_is_full_ends_the_command_with_the_path(tmp_path, monkeypatch):
    def full(args):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(command, "yield_cores", lambda _: None)
    monkeypatch.setattr(command, "_source", full)
    with pytest.raises(InputError, match=f"{tmp_path}.*disk is full"):
        command.run(flags("--state", str(tmp_path), "--address", "127.0.0.1:1"))


@pytest.mark.parametrize("code", ["ADAPTER_STATE", "ADAPTER_NOT_FOUND"])
def test_a_rollback_that_another_made_first_is_none_that_failed(code):
    class Adapters:
        def roll_back(self, name, **_):
            raise TesseraError(code, "digest: got one that does not serve so")

    gateway = Gateway(argparse.Namespace(adapters=Adapters()), "main", "ann")
    gateway.roll_back("digest")


def test_a_service_that_is_away_is_not_asked_without_a_pause(monkeypatch):
    slept: list[float] = []

    class Gone:
        def once(self):
            if len(slept) == 4:
                raise KeyboardInterrupt
            raise Away("nobody answers")

    monkeypatch.setattr(command.time, "sleep", slept.append)
    with pytest.raises(KeyboardInterrupt):
        command._rounds(Gone(), None, flags("--every", "0"))
    assert min(slept) >= command.PAUSE_SECONDS[0]


def test_a_training_says_each_minute_how_far_it_is_and_that_it_starves():
    now, used, said = [0.0], [0.0], []
    beat = Beat(said.append, lambda: now[0], lambda: used[0])
    now[0] += 1000
    beat.begin()
    for step, (passed, share) in enumerate([(10, 1), (30, 1), (20, 1), (61, 0.08), (900, 0.003)],
                                           1):
        now[0] += passed
        used[0] += share * passed
        beat.tell(f"step {step}")
    assert said == ["step 3", "step 4; it got 8.0% of a core: other work comes first",
                    "step 5; it got 0.3% of a core: other work comes first"]


def test_a_model_that_the_service_does_not_serve_is_found_out_before_anything_is_trained(
        tmp_path, monkeypatch):
    store = Store(tmp_path)
    for digest in ("a" * 32, None, "b" * 32):
        monkeypatch.setattr("trainer.finetune.digest_of", lambda *_, digest=digest: digest)
        command._name_base(store, "models/demo")
        assert store.key("base models/demo") == ("b" * 32 if digest == "b" * 32 else "a" * 32)
    store.close()


@pytest.mark.parametrize("served", ["b" * 32, None])
def test_a_refresh_of_other_weights_or_beside_no_service_is_refused(monkeypatch, served):
    class Served(Gateway):
        def base_model(self):
            if served is None:
                raise Away("nobody answers")
            return served

    monkeypatch.setattr(refresh, "Gateway", Served)
    monkeypatch.setattr(refresh, "digest_of", lambda *_: "a" * 32)
    monkeypatch.setattr(refresh, "connect", lambda _: contextlib.nullcontext())
    args = argparse.Namespace(model="models/other", name="main", address="127.0.0.1:1")
    with pytest.raises(InputError, match="--model models/other|a service that answers"):
        refresh._served(args)
