"""Examples of a cycle, and reasons for those left out: pure functions of rows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .store import Fact, Row, is_held_out

#: Behaviours this far ahead of the clock are of a wrong clock.
FUTURE_MS = 300_000
#: Users of fewer behaviours than these many times the median's are no bots, whatever their share.
BOT_MEDIANS = 10
#: Fewer examples than these say nothing about shares.
SHARE_ROWS = 100
#: Examples of one user and item. Fewer would sink what a user really wants again and again: those
#: times that it was not taken are all learned.
PAIR_MOST = 3
#: Examples of an item for each of its users, over those of a usual item, above which it is named.
ITEM_REPEATS = 5.0
#: Times the examples of all but the most frequent hundredth of the items that an item may have.
ITEM_MOST = 3
ITEM_LEAST = 10
#: Replayed examples are drawn from the newest older ones, so many times the new ones: tastes move.
REPLAY_SPAN = 6


@dataclass(frozen=True)
class Limits:
    """`held_out`: share of the users that are never learned. `user_share`: of the examples, above
    which a user is left out whole. `user_max`: examples of a user in a cycle. `examples_max`: new
    examples of a cycle. `replay`: older examples for each new one, `replay_least` or more (in
    a quiet hour the new ones say little), while both are half of `samples_max`."""

    held_out: float = 0.1
    user_share: float = 0.05
    user_max: int = 20
    examples_max: int = 4000
    replay: float = 1.0
    replay_least: int = 500
    samples_max: int = 8000


@dataclass(frozen=True)
class Choice:
    """`new`, `replayed`: ids; `bots`: users who are left out whole; `left`: how many by reason;
    `alarms`: sentences by whom they are about. `shares`: of the examples that they are drawn from;
    `since_ms`: the time from which they are replayed."""

    new: list[int]
    replayed: list[int]
    bots: list[str]
    left: Counter[str] = field(default_factory=Counter)
    alarms: dict[str, str] = field(default_factory=dict)
    shares: tuple[float, float] = (1.0, 1.0)
    since_ms: int = 0


def taken(facts: Sequence[Fact], now_ms: int, oldest_ms: int) -> tuple[list[Fact], Counter[str]]:
    """Facts of a source that may be kept: neither in the future nor before the window."""
    left: Counter[str] = Counter()
    kept = []
    for fact in facts:
        if fact.time_ms > now_ms + FUTURE_MS:
            left["future"] += 1
        elif fact.time_ms < oldest_ms:
            left["late"] += 1
        else:
            kept.append(fact)
    return kept, left


def choose(new: Sequence[Row], older: Sequence[Row], live: Mapping[str, object], limits: Limits,
           seed: int) -> Choice:
    """Examples of a cycle. `new`: rows that the lineage of its parent has not learned; `older`:
    the rest of the window; both in the order of time."""
    left: Counter[str] = Counter()
    alarms: dict[str, str] = {}
    bots = _bots([new, [*older, *new]], limits.user_share)
    for user, (count, total) in bots.items():
        alarms[f"user {user}"] = (f"user {user} made {count} of {total} examples "
                                  f"({count / total:.0%}) and is left out")
    _name_repeats(new, bots, alarms)
    kept = _cut(_kept(new, bots, live, limits, left), left, alarms)
    if len(kept) > limits.examples_max:
        left["shed"] += len(kept) - limits.examples_max
        kept = kept[-limits.examples_max:]
    again = _kept(older, bots, live, limits, Counter())
    wanted = max(round(limits.replay * len(kept)), limits.replay_least)
    again = again[len(again) - min(len(again), max(REPLAY_SPAN * len(kept), 3 * wanted)):]
    count = min(len(again), wanted, max(0, limits.samples_max // 2 - len(kept)))
    places = np.random.default_rng(seed).choice(len(again), count, replace=False) if count else []
    since_ms = again[0].time_ms if again else 0
    shares = (len(kept) / max(1, _learnable(new, bots, limits)), count / max(1, _learnable(
        [row for row in older if row.time_ms >= since_ms], bots, limits)))
    return Choice([row.id for row in kept], sorted(again[place].id for place in places),
                  list(bots), left, alarms, shares, since_ms)


def _learnable(rows: Sequence[Row], bots: Mapping[str, object], limits: Limits) -> int:
    return sum(row.user not in bots and not is_held_out(row.user, limits.held_out)
               for row in rows)


def _kept(rows: Sequence[Row], bots: Mapping[str, object], live: Mapping[str, object],
          limits: Limits, left: Counter[str]) -> list[Row]:
    """Of a user, and of a user and item, the newest few: an item counts the users that want it,
    however often one of them says so."""
    pairs: Counter[tuple[str, str]] = Counter()
    of_user: Counter[str] = Counter()
    kept = []
    for row in reversed(rows):
        if is_held_out(row.user, limits.held_out):
            continue
        if row.item not in live:
            left["item gone"] += 1
        elif row.user in bots:
            left["user's share"] += 1
        elif pairs[row.user, row.item] >= PAIR_MOST:
            left["said again"] += 1
        elif of_user[row.user] >= limits.user_max:
            left["user's limit"] += 1
        else:
            pairs[row.user, row.item] += 1
            of_user[row.user] += 1
            kept.append(row)
    return kept[::-1]


def _cut(rows: list[Row], left: Counter[str], alarms: dict[str, str]) -> list[Row]:
    """Of an item that suddenly many users want, far more than of any other, the newest examples:
    it may be a hit, or many accounts of one hand; a cycle later it is known which."""
    counts = Counter(row.item for row in rows)
    if len(rows) < SHARE_ROWS:
        return rows
    most = max(ITEM_LEAST, ITEM_MOST * int(np.quantile(list(counts.values()), 0.99,
                                                       method="lower")))
    for item, count in counts.items():
        if count > most:
            left["item's limit"] += count - most
            alarms[f"item {item}"] = (f"item {item} has {count} of {len(rows)} examples and counts "
                                      f"{most} times")
    seen: Counter[str] = Counter()
    kept = []
    for row in reversed(rows):
        seen[row.item] += 1
        if seen[row.item] <= most:
            kept.append(row)
    return kept[::-1]


def held_out(rows: Sequence[Row], live: Mapping[str, object], limits: Limits,
             most: int) -> list[int]:
    """The newest examples of held-out users, by the same rules, for the gate."""
    pairs: Counter[tuple[str, str]] = Counter()
    of_user: Counter[str] = Counter()
    kept: list[int] = []
    bots = _bots([rows], limits.user_share)
    for row in reversed(rows):
        pair = (row.user, row.item)
        if len(kept) == most:
            break
        if (not is_held_out(row.user, limits.held_out) or row.item not in live
                or pairs[pair] >= PAIR_MOST or row.user in bots
                or of_user[row.user] >= limits.user_max):
            continue
        pairs[pair] += 1
        of_user[row.user] += 1
        kept.append(row.id)
    return kept[::-1]


def _bots(spans: Sequence[Sequence[Row]], share: float) -> dict[str, tuple[int, int]]:
    """Users with more than a share of the examples of one of the spans, and many times what others
    have: the count and the total."""
    found: dict[str, tuple[int, int]] = {}
    for rows in spans:
        counts = Counter(row.user for row in rows)
        total = len(rows)
        if total < SHARE_ROWS:
            continue
        usual = BOT_MEDIANS * float(np.median(list(counts.values())))
        found |= {user: (count, total) for user, count in counts.items()
                  if count > share * total and count > usual}
    return found


def _name_repeats(rows: Sequence[Row], bots: Mapping[str, object],
                  alarms: dict[str, str]) -> None:
    """Items whose examples come from few users who repeat themselves more than is usual: they count
    once for each of them."""
    users: dict[str, Counter[str]] = {}
    for row in rows:
        if row.user not in bots:
            users.setdefault(row.item, Counter())[row.user] += 1
    if sum(map(len, users.values())) < SHARE_ROWS:
        return
    repeats = {item: of.total() / len(of) for item, of in users.items()
               if of.total() >= SHARE_ROWS / 10}
    usual = float(np.median([of.total() / len(of) for of in users.values()]))
    for item, each in repeats.items():
        if each > ITEM_REPEATS * usual:
            alarms[f"item {item}"] = (f"item {item} has {users[item].total()} examples of "
                                      f"{len(users[item])} users and counts "
                                      f"{PAIR_MOST} times for each at most")
