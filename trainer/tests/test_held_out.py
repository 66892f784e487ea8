"""Logs become sequences, splits keep the future out, and baselines equal brute force."""

import json
import sys

import numpy as np
import pytest

from trainer.__main__ import main
from trainer.baselines import ItemKnn, Popularity, Seen
from trainer.errors import InputError
from trainer.held_out import Case, split, split_last, split_time
from trainer.history import Behaviour, User, answers_of
from trainer.logs import read_log, read_profiles
from trainer.sequences import read_users


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
    assert read_users(out) == {"u": User([Behaviour("a", 10.0), Behaviour("b", 10.0),
                                          Behaviour("c", 30.0)])}


def test_a_log_has_actions_scenes_and_profiles(tmp_path, monkeypatch):
    log, profiles, out = (tmp_path / name for name in ("log.tsv", "profiles.tsv", "s.jsonl"))
    log.write_text("user\titem\ttime_ms\tevent_type\tpage\thour\n"
                   "u\ta\t2500\tclick\thome\t8\nu\tb\t1000\tview\t\t9\nv\tc\t1\tview\t\t\n")
    profiles.write_text("user_id\tage\tcity\nu\t30\t\nw\t9\tUlm\n")
    words = ["sequences", "--behaviours", log, "--profiles", profiles, "--out", out,
             "--least-items", 1, "--scene-columns", "page", "hour"]
    monkeypatch.setattr(sys, "argv", ["trainer", *map(str, words)])
    assert main() == 0
    assert read_users(out) == {
        "u": User([Behaviour("b", 1.0, "view", {"hour": "9"}),
                   Behaviour("a", 2.5, "click", {"page": "home", "hour": "8"})], {"age": "30"}),
        "v": User([Behaviour("c", 0.001, "view")])}
    lines = tmp_path / "profiles.jsonl"
    lines.write_text(json.dumps({"user": "u", "profile": {"age": "30"}}))
    assert read_profiles(lines) == {"u": {"age": "30"}}
    for bad in ("no", "[1]", '{"profile": {}}', '{"user": 1, "profile": {"age": 30}}'):
        lines.write_text(bad)
        with pytest.raises(InputError, match=r"profiles\.jsonl line 1"):
            read_profiles(lines)


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


@pytest.mark.parametrize(("more", "said"), [
    ({"times": [1]}, "2 times, one per item"), ({"times": [2, 1]}, "times in order"),
    ({"times": [1, "2"]}, "a number"), ({"actions": ["click"]}, "2 actions, one per item"),
    ({"actions": ["click", 1]}, r"actions\[1\]: expected the text of an action"),
    ({"scenes": {}}, "2 scenes, one per item"),
    ({"scenes": [{}, {"page": 1}]}, r"scenes\[1\].page: expected a text"),
    ({"profile": {"age": 3}}, r"profile.age: expected a text"),
])
def test_lists_that_do_not_fit_are_refused(more, said, tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({"user": "u", "history": ["a", "b"], **more}))
    with pytest.raises(InputError, match=said):
        read_users(path)


def random_sequences(seed, users=30, items=12):
    rng = np.random.default_rng(seed)
    sequences = {str(u): [str(i) for i in rng.integers(items, size=rng.integers(1, 9))]
                 for u in range(users)}
    times = {u: sorted(rng.random(len(s)).tolist()) for u, s in sequences.items()}
    return sequences, {u: User([Behaviour(i, t, str(rng.choice(["view", "click"])))
                                for i, t in zip(s, times[u], strict=True)])
                       for u, s in sequences.items()}


def done(*items, actions=None):
    return [Behaviour(item, action=action)
            for item, action in zip(items, actions or [""] * len(items), strict=True)]


def test_the_last_two_are_held_out_and_only_later_ones_are_in_no_prompt():
    users = {"u": User(done("1", "2", "3", "4")), "v": User(done("5", "6")), "w": User(done("7"))}
    parts = split_last(users, answers_of(None))
    assert {name: user.items for name, user in parts.trained.items()} == {
        "u": ["1", "2"], "v": ["5"], "w": ["7"]}
    assert parts.validation == [Case(done("1", "2"), Behaviour("3"))]
    assert parts.test == [Case(done("1", "2", "3"), Behaviour("4")),
                          Case(done("5"), Behaviour("6"))]


def test_what_is_no_answer_is_held_out_of_no_case_but_shown():
    actions = ["view", "click", "view", "click", "view", "click", "view"]
    one = done(*"abcdefg", actions=actions)
    parts = split_last({"u": User(one, {"age": "3"})}, answers_of(["click"]))
    assert parts.validation == [Case(one[:3], one[3], {"age": "3"})]
    assert parts.test == [Case(one[:5], one[5], {"age": "3"})]
    assert parts.trained == {"u": User(one[:3], {"age": "3"})}


@pytest.mark.parametrize("actions", [None, ["click"]])
@pytest.mark.parametrize("seed", range(5))
def test_a_split_by_time_keeps_each_part_before_the_next(seed, actions):
    _, users = random_sequences(seed)
    parts = split_time(users, 0.2, answers_of(actions))
    moments = sorted(one.time for user in users.values() for one in user.behaviours)
    first = moments[int(len(moments) * 0.6)]
    for name, user in users.items():
        known = [one for one in user.behaviours if one.time < first]
        assert parts.trained.get(name, User([])).behaviours == known
    late = sum(one.time >= first and place > 0 and one.action in (actions or ["view", "click"])
               for user in users.values() for place, one in enumerate(user.behaviours))
    assert len(parts.validation) + len(parts.test) == late
    assert all(case.history for case in parts.validation + parts.test)


def test_a_split_by_time_needs_times():
    with pytest.raises(InputError, match="`times` for --split time"):
        split({"u": User(done("a", "b"))}, "time", 0.1)


@pytest.mark.parametrize("how", ["last", "time", "none"])
def test_answers_are_actions_of_the_behaviours(how):
    user = User([Behaviour("a", 1.0, "view"), Behaviour("b", 2.0, "click")])
    with pytest.raises(InputError, match="--answers: expected .* 'click', 'view', got 'clik'"):
        split({"u": user}, how, 0.1, ["click", "clik"])


@pytest.mark.parametrize("seed", range(8))
def test_baselines_rank_as_brute_force_does(seed):
    sequences, _ = random_sequences(seed)
    names = sorted({i for s in sequences.values() for i in s}, key=str.encode)
    users = {i: {u for u, s in sequences.items() if i in s} for i in names}
    decay, masks = (1.0, 0.8)[seed % 2], seed % 4 < 2
    knn, popularity = ItemKnn(sequences, decay), Popularity(sequences)
    rng = np.random.default_rng([seed, 1])
    for _ in range(40):
        history = [str(i) for i in rng.integers(13, size=rng.integers(1, 5))]
        had = frozenset([*history, str(rng.integers(13))] if masks else [])
        case = Seen(history, str(rng.integers(13)), had)
        others = [i for i in names if i not in had]
        weight = {h: decay ** history[::-1].index(h) for h in set(history)}
        cosine = {i: sum(weight[h] * len(users[i] & users[h]) /
                         np.sqrt(len(users[i]) * len(users[h]))
                         for h in sorted(weight) if h in users) for i in others}
        scored = sorted((i for i in others if cosine[i] > 0),
                        key=lambda i: (-round(cosine[i], 9), i.encode()))
        expected = scored.index(case.target) if case.target in scored else -1
        ties = [i for i in scored if abs(cosine[i] - cosine.get(case.target, -1)) < 1e-9]
        if len(ties) <= 1:
            assert knn.rank(case) == expected, f"seed {seed}"
        by_count = sorted(others, key=lambda i: (-len(users[i]), i.encode()))
        expected = by_count.index(case.target) if case.target in by_count else -1
        assert popularity.rank(case) == expected, f"seed {seed}"
