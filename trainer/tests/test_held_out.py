"""Logs become sequences, splits keep the future out, and baselines equal brute force."""

import json
import sys

import numpy as np
import pytest

from trainer.__main__ import main
from trainer.baselines import ItemKnn, Popularity
from trainer.data import read_timed_sequences
from trainer.errors import InputError
from trainer.held_out import Case, split, split_time
from trainer.logs import read_log


def test_a_log_becomes_sequences_in_the_order_of_time(tmp_path, monkeypatch, capsys):
    log = tmp_path / "clicks.tsv"
    log.write_text("when\tuser\titem\n30\tu\tc\n10\tu\ta\n10\tu\tb\n5\tv\tz\n\tu\tq\n")
    out = tmp_path / "s.jsonl"
    words = ["sequences", "--behaviours", str(log), "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["trainer", *words])
    assert main() == 2
    assert "line 1: expected one of the columns time, time_ms" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["trainer", *words, "--time-column", "when"])
    assert main() == 0
    printed = capsys.readouterr().out
    assert "1 behaviours have no time" in printed
    assert "1 with fewer than 2 behaviours are left out" in printed
    assert read_timed_sequences(out) == ({"u": ["a", "b", "c"]}, {"u": [10.0, 10.0, 30.0]})


@pytest.mark.parametrize(("text", "said"), [
    ("user\titem\n", "line 1: expected one of the columns time"),
    ("user\titem\ttime\nu\ta\n", "line 2: expected 3 columns, got 2"),
    ("user\titem\ttime\nu\ta\tnan\n", "line 2: time: expected a number, got 'nan'"),
    ("user\titem\ttime\nu\t\t3\n", "line 2: expected an item id"),
    ("user\titem\ttime\n\ta\t3\n", "line 2: user: expected a user"),
    ("user\titem\ttime\n", "expected a behaviour, got 'none'"),
])
def test_a_bad_log_is_refused_with_its_place(text, said, tmp_path):
    (tmp_path / "log.tsv").write_text(text)
    with pytest.raises(InputError) as caught:
        read_log(tmp_path / "log.tsv")
    assert said in str(caught.value)


@pytest.mark.parametrize(("times", "said"), [
    ([1], "2 times, one per item"), ([2, 1], "times in order"), ([1, "2"], "a number"),
])
def test_times_that_do_not_fit_are_refused(times, said, tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({"user": "u", "history": ["a", "b"], "times": times}))
    with pytest.raises(InputError, match=said):
        read_timed_sequences(path)


def random_sequences(seed, users=30, items=12):
    rng = np.random.default_rng(seed)
    sequences = {str(u): [str(i) for i in rng.integers(items, size=rng.integers(1, 9))]
                 for u in range(users)}
    times = {u: sorted(rng.random(len(s)).tolist()) for u, s in sequences.items()}
    return sequences, times


@pytest.mark.parametrize("seed", range(5))
def test_a_split_by_time_keeps_each_part_before_the_next(seed):
    sequences, times = random_sequences(seed)
    parts = split_time(sequences, times, 0.2)
    moments = sorted(t for of_user in times.values() for t in of_user)
    first = moments[int(len(moments) * 0.6)]
    for user, items in sequences.items():
        known = sum(t < first for t in times[user])
        assert parts.trained.get(user, []) == items[:known]
    late = sum(t >= first and place > 0 for of_user in times.values()
               for place, t in enumerate(of_user))
    assert len(parts.validation) + len(parts.test) == late
    assert all(case.history for case in parts.validation + parts.test)


def test_a_split_by_time_needs_times():
    with pytest.raises(InputError, match="`times` for --split time"):
        split({"u": ["a", "b"]}, None, "time", 0.1)


@pytest.mark.parametrize("seed", range(8))
def test_baselines_rank_as_brute_force_does(seed):
    sequences, _ = random_sequences(seed)
    names = sorted({i for s in sequences.values() for i in s}, key=str.encode)
    users = {i: {u for u, s in sequences.items() if i in s} for i in names}
    knn, popularity = ItemKnn(sequences), Popularity(sequences)
    rng = np.random.default_rng([seed, 1])
    for _ in range(40):
        history = [str(i) for i in rng.integers(13, size=rng.integers(1, 5))]
        case = Case(history, str(rng.integers(13)))
        others = [i for i in names if i not in history]
        cosine = {i: sum(len(users[i] & users[h]) / np.sqrt(len(users[i]) * len(users[h]))
                         for h in sorted(set(history)) if h in users) for i in others}
        scored = sorted((i for i in others if cosine[i] > 0),
                        key=lambda i: (-round(cosine[i], 9), i.encode()))
        expected = scored.index(case.target) if case.target in scored else -1
        ties = [i for i in scored if abs(cosine[i] - cosine.get(case.target, -1)) < 1e-9]
        if len(ties) <= 1:
            assert knn.rank(case) == expected, f"seed {seed}"
        by_count = sorted(others, key=lambda i: (-len(users[i]), i.encode()))
        expected = by_count.index(case.target) if case.target in by_count else -1
        assert popularity.rank(case) == expected, f"seed {seed}"
