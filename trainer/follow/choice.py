"""Samples of a cycle: answers of users, and items that they were shown and did not take."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..history import Behaviour
from .store import Example, Fact, Recall, Shown


@dataclass(frozen=True)
class Sample:
    """`taken`: the user did it; else they were shown the item at `place` (from 1; 0: not known) and
    did not. `weight`: shown items that it stands for."""

    example: Example
    taken: bool = True
    place: int = 0
    weight: float = 1.0


def impressions(facts: Iterable[Fact], action: str) -> list[Recall]:
    """Items that users looked at, by recall, in the order of its places."""
    together: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        if fact.action == action and fact.request:
            together.setdefault((fact.user, fact.request), []).append(fact)
    found = []
    for (user, request), seen in together.items():
        items = [fact.item for fact in sorted(seen, key=lambda fact: fact.place)]
        found.append(Recall(user, request, min(fact.time_ms for fact in seen),
                            list(dict.fromkeys(items)), seen[0].scene))
    return found


def refused(shown: Sequence[Shown], taken: set[tuple[str, str, str]], count: int, seed: int,
            each: float) -> list[Sample]:
    """Some of the shown items that their users did not take, of equal chance: together they weigh
    as all of them, times `each`. `taken`: user, request and item of each answer."""
    pairs = [(number, place) for number, one in enumerate(shown)
             for place, item in enumerate(one.items) if (one.user, one.request, item) not in taken]
    some = min(len(pairs), count)
    if not some:
        return []
    chosen = np.random.default_rng(seed).choice(len(pairs), some, replace=False)
    weight = each * len(pairs) / some
    found = []
    for number, place in (pairs[one] for one in sorted(chosen)):
        one = shown[number]
        answer = Behaviour(one.items[place], one.time_ms / 1000, "", one.scene)
        found.append(Sample(Example(one.user, answer, one.history, one.request), False, place + 1,
                            weight))
    return found


def places_of(examples: Iterable[Example], shown: Mapping[tuple[str, str], Sequence[str]]
              ) -> list[Sample]:
    """Answers as samples, those of a known recall with the place that showed the item."""
    found = []
    for example in examples:
        items = shown.get((example.user, example.request), ())
        place = items.index(example.answer.item) + 1 if example.answer.item in items else 0
        found.append(Sample(example, True, place))
    return found
