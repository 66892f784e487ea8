"""Samples that a cycle learns, and those that its gate reads, out of the store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .choice import Sample, places_of, refused
from .guards import Limits, held_out
from .store import Cycle, Store, is_held_out

#: Share of the answers whose recall must be known for items that were not taken to be learned.
KNOWN_SHARE = 0.5
#: Fewer shown items for each answer would say too little of what is not wanted.
LEAST_REFUSED = 0.5


@dataclass(frozen=True)
class Sampling:
    """`refused`: shown items without an answer, for each answer, as long as there are no more than
    `samples_max`. `gate_examples`: newest answers of
    held-out users that the gate reads, `gate_least` or more."""

    refused: float = 4.0
    samples_max: int = 8000
    gate_examples: int = 400
    gate_least: int = 30


def to_learn(store: Store, cycle: Cycle, answers: Sequence[str], limits: Limits,
             sampling: Sampling, chosen: tuple[list[int], list[int]] | None = None
             ) -> list[Sample]:
    """The cycle's examples, new and replayed, each with shown items that were not taken, at the
    rates of their time; the answers alone where recalls are not known. `chosen`: new and replayed
    ids of a cycle that the store does not keep."""
    bots = set(cycle.notes.get("bots", []))
    found: list[Sample] = []
    known = 0
    new, replayed = store.chosen(cycle) if chosen is None else chosen
    room = sampling.samples_max / max(1, len(new) + len(replayed)) - 1
    each = max(LEAST_REFUSED, min(sampling.refused, room))
    spans = ((new, store.recalls(cycle.shown_after, cycle.shown_upto)),
             (replayed, store.recalls_since(cycle.notes["since_ms"], cycle.shown_after)))
    for place, (ids, recalls) in enumerate(spans):
        examples = store.examples(ids)
        taken = places_of(examples, store.items_shown(examples))
        seen = [sample for sample in taken if sample.place]
        known += len(seen)
        users = [(one, user) for one, user in recalls if user not in bots
                 and not is_held_out(user, limits.held_out)]
        found += taken + _refused(store, users, answers, round(each * len(seen)),
                                  cycle.seed + place, cycle.notes["shares"][place])
    answered = sum(sample.taken for sample in found)
    if known < KNOWN_SHARE * answered:
        return [sample for sample in found if sample.taken]
    return [sample for sample in found if sample.place]


def slice_of(store: Store, cycle: Cycle, answers: Sequence[str], limits: Limits,
             sampling: Sampling, live: Mapping[str, object]) -> list[Sample]:
    """The newest answers of held-out users, and what they were shown and did not take since the
    first of them."""
    rows = store.rows(0, cycle.upto, answers)
    examples = store.examples(held_out(rows, live, limits, sampling.gate_examples))
    taken = places_of(examples, store.items_shown(examples))
    seen = [sample for sample in taken if sample.place]
    if len(seen) < KNOWN_SHARE * len(taken) or not seen:
        return taken
    first = min(sample.example.answer.time for sample in seen)
    users = [(one, user) for one, user in store.recalls_since(int(first * 1000), cycle.shown_upto)
             if is_held_out(user, limits.held_out)]
    return seen + _refused(store, users, answers, round(2 * sampling.refused * len(seen)),
                           cycle.seed + 2, 1.0)


def _refused(store: Store, recalls: Sequence[tuple[int, str]], answers: Sequence[str], count: int,
             seed: int, share: float) -> list[Sample]:
    """Of the recalls so many as may be needed: each has several items."""
    if not recalls or not count:
        return []
    some = min(len(recalls), count)
    places = np.random.default_rng(seed).choice(len(recalls), some, replace=False)
    chosen = [recalls[place] for place in sorted(places)]
    shown = store.shown(one for one, _ in chosen)
    taken = store.taken((user for _, user in chosen), answers)
    return refused(shown, taken, count, seed, share * len(recalls) / some)
