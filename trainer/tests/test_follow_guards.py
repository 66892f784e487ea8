"""Examples that a trainer leaves out, and candidates that its gate lets through."""

import numpy as np
import pytest

from trainer.follow.chances import fit
from trainer.follow.choice import Sample, impressions, places_of, refused
from trainer.follow.gate import Losses, judge
from trainer.follow.gateway import Clicks
from trainer.follow.guards import Limits, choose, held_out, taken
from trainer.follow.liking import children, factors
from trainer.follow.store import Example, Fact, Row, Shown, Store, is_held_out
from trainer.history import Behaviour

LIMITS = Limits(held_out=0.0, replay=0.5, replay_least=0)
LIVE = {str(item): None for item in range(50)}
HOUR_MS = 3_600_000


def crowd(rng: np.random.Generator, users: int = 100, each: int = 5) -> list[Row]:
    count = users * each
    return [Row(number + 1, f"u{number % users}", str(rng.integers(50)), number, "click")
            for number in range(count)]


def with_bots(rows: list[Row], item: str, counts: dict[str, int]) -> list[Row]:
    more = [user for user, count in counts.items() for _ in range(count)]
    return rows + [Row(len(rows) + 1 + number, user, item, len(rows) + number, "click")
                   for number, user in enumerate(more)]


def test_the_future_and_what_is_older_than_the_window_are_set_aside():
    facts = [Fact("u", "1", at, "click") for at in (0, 10 * HOUR_MS, 10 * HOUR_MS + 299_000,
                                                    10 * HOUR_MS + 301_000)]
    kept, left = taken(facts, 10 * HOUR_MS, HOUR_MS)
    assert [fact.time_ms for fact in kept] == [10 * HOUR_MS, 10 * HOUR_MS + 299_000]
    assert left == {"late": 1, "future": 1}


def test_a_behaviour_that_comes_twice_is_one_and_its_cursor_moves(tmp_path):
    store = Store(tmp_path)
    facts = [Fact("u", "1", 5, "click"), Fact("u", "1", 5, "click"), Fact("u", "2", 5, "click")]
    assert store.add(facts, [], "s", 1) == 2
    assert store.add(facts, [], "s", 2) == 0
    assert store.cursor("s") == 2 and store.count(0, ["click"]) == 2
    store.close()


def test_nothing_is_nothing():
    choice = choose([], [], LIVE, LIMITS, 1)
    assert (choice.new, choice.replayed, choice.left, choice.alarms) == ([], [], {}, {})


def test_items_that_have_gone_are_left_out():
    rows = [Row(1, "a", "1", 1, "click"), Row(2, "a", "gone", 2, "click")]
    choice = choose(rows, [], LIVE, LIMITS, 1)
    assert choice.new == [1] and choice.left == {"item gone": 1}


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_a_bot_is_left_out_whole_and_named(share):
    rows = crowd(np.random.default_rng(1))
    clicks = round(len(rows) * share / (1 - share))
    choice = choose(with_bots(rows, "7", {"bot": clicks}), [], LIVE, LIMITS, 1)
    assert choice.bots == ["bot"] and "user bot" in choice.alarms
    assert choice.left["user's share"] == clicks
    # One of a time before is known by the window, though the newest behaviours are few.
    again = choose([Row(9999, "bot", "7", 10**6, "click")], with_bots(rows, "7", {"bot": clicks}),
                   LIVE, LIMITS, 1)
    assert again.bots == ["bot"] and again.new == []


def test_bots_that_share_the_work_count_little_and_their_item_is_named():
    rows = crowd(np.random.default_rng(1))
    bots = {f"bot{number}": 19 for number in range(12)}
    choice = choose(with_bots(rows, "7", bots), [], LIVE, LIMITS, 1)
    assert sum(one > len(rows) for one in choice.new) <= 3 * len(bots)
    assert "item 7" in choice.alarms and choice.bots == []


def test_an_item_that_many_new_users_want_at_once_is_cut_and_named():
    rows = crowd(np.random.default_rng(1))
    bots = {f"bot{number}": 1 for number in range(300)}
    choice = choose(with_bots(rows, "7", bots), [], LIVE, LIMITS, 1)
    usual = max(sum(row.item == item for row in rows) for item in LIVE)
    assert sum(one > len(rows) for one in choice.new) <= 3 * usual
    assert "item 7" in choice.alarms
    assert not choose(rows, [], LIVE, LIMITS, 1).alarms


def test_few_users_are_no_bots():
    rows = [Row(number, f"u{number % 3}", str(number % 50), number, "click")
            for number in range(300)]
    assert choose(rows, [], LIVE, LIMITS, 1).bots == []


def test_the_oldest_beyond_the_limit_are_shed_and_counted_and_replay_is_of_the_rest():
    rows = crowd(np.random.default_rng(1))
    limits = Limits(held_out=0.0, examples_max=40, replay=0.5, replay_least=0)
    choice = choose(rows[250:], rows[:250], LIVE, limits, 1)
    assert len(choice.new) == 40 and min(choice.new) > 400 and choice.left["shed"] > 0
    assert len(choice.replayed) == 20 and max(choice.replayed) <= 250
    assert choice.replayed == choose(rows[250:], rows[:250], LIVE, limits, 1).replayed


def test_held_out_users_are_never_learned_and_the_gate_reads_their_newest():
    rows = crowd(np.random.default_rng(1))
    limits = Limits(held_out=0.3)
    choice = choose(rows, [], LIVE, limits, 1)
    gate = held_out(rows, LIVE, limits, 10)
    users = {row.id: row.user for row in rows}
    assert not any(is_held_out(users[one], 0.3) for one in choice.new)
    assert len(gate) == 10 and all(is_held_out(users[one], 0.3) for one in gate)
    assert min(gate) > 350


def test_the_gate_lets_through_what_is_not_worse_and_says_why_not():
    rng = np.random.default_rng(1)
    users = [f"u{number % 20}" for number in range(200)]
    base = rng.normal(3, 1, 200)

    def verdict(parent: float, candidate: float, count: int = 200, norm: float = 1.0):
        noise = rng.normal(0, 0.1, 200)
        return judge(Losses(users[:count], base[:count], (base + parent)[:count],
                            (base + candidate + noise)[:count]), 50, norm, 100)

    assert verdict(-0.1, -0.2).reason == ""
    assert "version before" in verdict(-0.3, -0.1).reason
    assert "base model" in verdict(0.3, 0.1).reason and verdict(0.3, 0.1).has_drifted
    assert "20 held-out" in verdict(0, 0, count=20).reason
    assert "norm" in verdict(0, 0, norm=101.0).reason
    assert "finite" in verdict(0, float("nan")).reason


def test_clicks_of_a_canary_are_judged_by_their_interval():
    assert Clicks((60, 100), (30, 100)).verdict == "better"
    assert Clicks((30, 100), (60, 100)).verdict == "worse"
    assert Clicks((30, 100), (35, 100)).verdict == "unknown"
    assert Clicks((0, 0), (35, 100)).verdict == "unknown"


def test_impressions_are_what_was_shown_and_refused_items_weigh_as_all_of_them():
    facts = [Fact("u", str(place), 100 + place, "impression", "r", place) for place in (3, 1, 2)]
    facts.append(Fact("u", "2", 110, "click", "r", 2))
    found = impressions(facts, "impression")
    assert [(one.user, one.request, one.time_ms, one.items) for one in found] == [
        ("u", "r", 101, ["1", "2", "3"])]
    shown = [Shown("u", "r", 100, ["1", "2", "3"], {}, [])] * 10
    some = refused(shown, {("u", "r", "2")}, 5, 1, 2.0)
    assert len(some) == 5 and sum(one.weight for one in some) == pytest.approx(2 * 20)
    assert {one.place for one in some} <= {1, 3} and not any(one.taken for one in some)
    example = Example("u", Behaviour("2", 0.11, "click"), [], "r")
    assert places_of([example], {("u", "r"): ["1", "2", "3"]})[0].place == 2


def test_chances_are_fitted_where_they_are_known_and_the_answers_alone_elsewhere():
    rng = np.random.default_rng(1)
    scores = rng.normal(-3, 2, 4000)
    chance = 1 / (1 + np.exp(-(0.5 + 0.8 * scores)))
    samples = [Sample(Example("u", Behaviour("1"), []), bool(one)) for one in
               rng.random(4000) < chance]
    found = fit(scores, samples)
    assert found.scale == pytest.approx(0.8, abs=0.1) and found.shift == pytest.approx(0.5, abs=0.3)
    # A model whose scores say nothing is told apart by its loss, not by a scale of any size.
    assert fit(-scores, samples).losses(-scores, samples).mean() > (
        found.losses(scores, samples).mean() + 0.05)
    alone = [one for one in samples if one.taken]
    assert not fit(scores[:len(alone)], alone).is_shown


def test_factors_say_how_much_more_an_item_is_taken_than_its_scores_and_few_answers_say_little():
    rng = np.random.default_rng(1)
    paths = [(int(one) // 10, 100 + int(one) % 10) for one in rng.integers(0, 40, 6000)]
    scores = rng.normal(-2, 0.5, 6000)
    better = np.array([2.5 if path == (1, 105) else 0.4 if path == (2, 101) else 1.0
                       for path in paths])
    chance = np.minimum(1, better / (1 + np.exp(-scores)))
    samples = [Sample(Example("u", Behaviour("1"), []), bool(one)) for one in
               rng.random(6000) < chance]
    found = factors(samples, scores, paths)
    usual = np.median([one for path, one in found.items() if len(path) == 2])
    assert found[1, 105] / usual == pytest.approx(2.5, abs=0.6)
    assert found[2, 101] / usual == pytest.approx(0.4, abs=0.25)
    assert usual == pytest.approx(1.0, abs=0.15)
    few = factors(samples[:20], scores[:20], paths[:20])
    assert all(0.4 < one < 2.0 for one in few.values())
    below = dict(children(found)[1,])
    assert max(below, key=below.__getitem__) == 105
