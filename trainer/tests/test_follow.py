"""Rounds of a trainer that follows, with kills at every step, outages and a second follower."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from trainer.errors import InputError
from trainer.follow.cycle import Follower
from trainer.follow.gate import Losses
from trainer.follow.gateway import Served
from trainer.follow.sources import Batch
from trainer.follow.store import Fact, Store

from .follow_fakes import BEGIN_MS, SETTINGS, Chaos, Clock, FakeService, Stream, Trial


@pytest.mark.parametrize("seed", range(2))
def test_fifty_cycles_with_kills_and_outages_learn_nothing_twice_and_serve_nothing_unchecked(
        tmp_path, seed):
    print(f"seed {seed}")
    clock = Clock()
    service, stream = FakeService(clock, seed), Stream(clock, seed)
    chaos = Chaos(seed, kill=0.012, away=0.012)
    trial = Trial(tmp_path, service, stream, chaos)
    ended = 0
    for _ in range(2000):
        stream.grow(30)
        clock.pause(40)
        trial.round()
        ended = trial.store.db.execute(
            "SELECT count(*) FROM cycles WHERE state IN ('active', 'dropped', 'refused')"
        ).fetchone()[0]
        if ended >= 50:
            break
    trial.check()
    assert ended >= 50 and chaos.kills > 10 and chaos.aways > 10
    assert service.served <= trial.passed
    assert {"active", "dropped", "refused"} <= set(trial.ends)


def test_of_two_followers_one_pushes_and_the_other_takes_over_when_it_is_gone(tmp_path):
    clock = Clock()
    service, stream = FakeService(clock, 1), Stream(clock, 1)
    trials = [Trial(tmp_path / name, service, stream, Chaos(2, away=0.01)) for name in "ab"]
    for number in range(70):
        stream.grow(30)
        clock.pause(40)
        for trial in trials[number >= 30:]:
            trial.round()
    first, second = (trial.store.holder("host") for trial in trials)
    lease = SETTINGS.lease_seconds
    for (then, before), (now, after) in zip(service.pushers, service.pushers[1:], strict=False):
        assert before == after or now - then >= lease
    assert {holder for _, holder in service.pushers} == {first, second}
    assert "stands by" in trials[1].ends and trials[1].ends[-1] != "stands by"
    for trial in trials:
        trial.check()
        assert not [d for d in service.served if d in trial.learned]
    assert service.served <= trials[0].passed | trials[1].passed


def test_a_version_that_a_person_pushed_is_respected_and_one_gone_back_to_is_gone_on_from(tmp_path):
    clock = Clock()
    service, stream = FakeService(clock, 5), Stream(clock, 5)
    trial = Trial(tmp_path, service, stream, Chaos(0))
    while service.active == [] or len(service.active) < 2:
        stream.grow(40)
        clock.pause(40)
        trial.round()
    before = service.active[0]
    face = service.face("")
    service.lease = ("", 0.0)
    face.roll_back(service.active[-1])
    stream.grow(40)
    trial.round()
    cycles = trial.store.db.execute("SELECT parent FROM cycles ORDER BY id DESC").fetchall()
    assert cycles[0][0] == before
    service.list.insert(0, Served("f" * 64, "active"))
    for digest in service.active:
        service.set(digest, "retired")
    service.active.append("f" * 64)
    stream.grow(40)
    outcome = trial.follower.once()
    assert outcome.verdict == "stands by" and "person" in outcome.reason


def test_nothing_new_is_no_cycle_and_a_store_has_one_holder(tmp_path):
    clock = Clock()
    service, stream = FakeService(clock, 1), Stream(clock, 1)
    trial = Trial(tmp_path, service, stream, Chaos(0))
    stream.grow(5)
    outcome = trial.follower.once()
    assert (outcome.verdict, outcome.cycle) == ("nothing new", None)
    with pytest.raises(InputError, match="--state"):
        Store(tmp_path)


def test_a_clock_that_is_late_and_damaged_files_are_alarms_once(tmp_path):
    store, clock = Store(tmp_path), Clock()
    facts = [Fact("u", "1", BEGIN_MS + 400_000 * (at > 0), "click") for at in range(5)]
    batches = [Batch(facts, [], 1, damaged=["a.parquet"]), Batch([], [], 1)]
    source = argparse.Namespace(name="s", read=lambda cursor, since_ms: batches.pop(0))
    service = FakeService(clock, 1).face("ann")
    follower = Follower(store, source, service, None, SETTINGS, clock, clock.pause)
    alarms = follower.once().alarms
    assert alarms.keys() == {"clock", "file a.parquet"} and "4 of 5" in alarms["clock"]
    assert follower.once().alarms == {}
    store.close()


def test_a_served_version_that_is_worse_than_the_base_model_is_rolled_back_to_it(tmp_path):
    clock = Clock()
    service, stream = FakeService(clock, 5), Stream(clock, 5)
    trial = Trial(tmp_path, service, stream, Chaos(0))
    while not service.active:
        stream.grow(40)
        clock.pause(40)
        trial.round()

    def weigh(_parent, _candidate, samples):
        users = [sample.example.user for sample in samples]
        base = np.random.default_rng(1).normal(3, 1, len(users))
        return Losses(users, base, base + 0.5, base + 0.1)

    trial.follower.learner.weigh = weigh
    stream.grow(40)
    outcome = trial.follower.once()
    assert service.active == [] and "drift" in outcome.reason


def test_a_trial_that_is_longer_than_a_lease_is_not_ended_by_another_follower(tmp_path):
    clock = Clock()
    service, stream = FakeService(clock, 1), Stream(clock, 1)
    first, second = (Trial(tmp_path / name, service, stream, Chaos(0)) for name in "ab")
    stream.grow(400)
    while not service.active:
        first.round()
    lease = first.follower.settings.lease_seconds
    first.follower.settings = replace(first.follower.settings, canary_seconds=4 * lease)
    looks: list[str] = []

    def pause(seconds: float) -> None:
        clock.pause(seconds)
        looks.append(second.follower.once().verdict)

    first.follower.pause = pause
    for _ in range(4):
        stream.grow(100)
        cycle = first.follower.once().cycle
        if cycle is not None and len(looks) * 3 >= 3 * lease:
            break
        looks.clear()
    assert cycle is not None and "rolled back" not in cycle.notes.get("reason", "")
    assert set(looks) == {"stands by"} and len(looks) * 3 >= 3 * lease


def test_a_version_that_is_its_parent_to_the_last_bit_is_refused(tmp_path):
    clock = Clock()
    service, stream = FakeService(clock, 5), Stream(clock, 5)
    trial = Trial(tmp_path, service, stream, Chaos(0))
    while not service.active:
        stream.grow(40)
        clock.pause(40)
        trial.round()

    def learn_nothing(parent, _samples, _seed, out, _labelled=()):
        shutil.copytree(parent, out)
        return {"largest_norm": 1.0}

    trial.follower.learner.train = learn_nothing
    stream.grow(40)
    outcome = trial.follower.once()
    assert outcome.verdict == "refused" and "no number of it differs" in outcome.reason


def test_nothing_is_trained_before_held_out_users_can_open_the_gate(tmp_path):
    clock = Clock()
    service, stream = FakeService(clock, 1), Stream(clock, 1)
    trial = Trial(tmp_path, service, stream, Chaos(0))
    settings = trial.follower.settings
    trial.follower.settings = replace(settings, sampling=replace(settings.sampling, gate_least=60))
    stream.grow(50)
    outcome = trial.follower.once()
    assert (outcome.verdict, outcome.cycle) == ("waits", None) and "60 of them" in outcome.reason
    while outcome.cycle is None:
        stream.grow(50)
        clock.pause(40)
        outcome = trial.follower.once()
    assert outcome.cycle.notes["gate"]["held_out"] >= 60


def test_a_follower_that_takes_over_without_the_factors_that_serve_says_so(tmp_path):
    clock = Clock()
    service, stream = FakeService(clock, 1), Stream(clock, 1)
    first, second = (Trial(tmp_path / name, service, stream, Chaos(0)) for name in "ab")
    while not service.active:
        stream.grow(60)
        clock.pause(40)
        first.round()
    clock.pause(first.follower.settings.lease_seconds)
    outcome = second.follower.once()
    assert service.active[0][:12] in outcome.alarms["lineage"]
    assert "begins from the base model" in outcome.alarms["lineage"]


def test_behaviours_and_folders_are_bounded(tmp_path):
    clock = Clock()
    service, stream = FakeService(clock, 5), Stream(clock, 5)
    trial = Trial(tmp_path, service, stream, Chaos(0))
    trial.follower.settings = replace(trial.follower.settings, rows_max=300)
    for _ in range(40):
        stream.grow(60)
        clock.pause(40)
        trial.round()
    count = trial.store.db.execute("SELECT count(*) FROM behaviours").fetchone()[0]
    assert count <= 300
    assert len(list((tmp_path / "versions").iterdir())) <= 6


CHILD = """
import sys
from pathlib import Path
from trainer.follow.store import Fact, Store
store = Store(Path(sys.argv[1]))
begin = store.cursor("s") or 0
print("ready", flush=True)
for number in range(begin, 10**9):
    facts = [Fact(f"u{number % 7}", str(one), number, "click") for one in range(20)]
    store.add(facts, [], "s", number + 1)
    if number % 50 == 0:
        print(number, flush=True)
"""


def test_a_process_killed_by_minus_nine_keeps_batches_and_cursor_together(tmp_path):
    for _ in range(3):
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)],
                                 stdout=subprocess.PIPE, text=True,
                                 cwd=Path(__file__).resolve().parents[2])
        assert child.stdout is not None
        for _ in range(4):
            child.stdout.readline()
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        store = Store(tmp_path)
        count, highest = store.db.execute("SELECT count(*), max(time_ms) FROM behaviours"
                                          ).fetchone()
        assert store.cursor("s") == highest + 1 and count == 20 * (highest + 1)
        store.close()
