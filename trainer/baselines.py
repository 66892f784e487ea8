"""Baselines of a model: the most popular items, and item-KNN (Sarwar et al. 2001), plain and with
newer items of a history weighing more.

They see the histories that the model sees, were made of what it was trained on, and leave out of
their lists what the model's leave out.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from .trie import item_order

#: User -> items, oldest first.
Sequences = dict[str, list[str]]

#: Weight of an item of a history, of that of the next newer one.
DECAY = 0.8


@dataclass(frozen=True)
class Seen:
    """The items that a prompt shows, oldest first, and the one that the user took next; `had` are
    in no list."""

    history: list[str]
    target: str
    had: frozenset[str]


class Popularity:
    """Ranks all items by how many users have them; equals in the order of their ids."""

    def __init__(self, trained: Sequences) -> None:
        counts = Counter(item for items in trained.values() for item in set(items))
        order = sorted(counts, key=lambda item: (-counts[item], item_order(item)))
        self.places = {item: place for place, item in enumerate(order)}

    def rank(self, case: Seen) -> int:
        """Of the target, from 0; -1 where it is in no list."""
        place = self.places.get(case.target, -1)
        if place < 0 or case.target in case.had:
            return -1
        return place - sum(self.places.get(item, place) < place for item in case.had)


class ItemKnn:
    """Scores an item by the sum of its cosines with the items of the history, an item being the
    set of its users; each step back in the history weighs `decay` times as much."""

    def __init__(self, trained: Sequences, decay: float = 1.0) -> None:
        self.decay = decay
        self.names = sorted({item for items in trained.values() for item in items}, key=item_order)
        self.numbers = {item: number for number, item in enumerate(self.names)}
        self.baskets = [np.array(sorted({self.numbers[item] for item in items}), np.int64)
                        for items in trained.values()]
        users: list[list[int]] = [[] for _ in self.names]
        for user, basket in enumerate(self.baskets):
            for item in basket.tolist():
                users[item].append(user)
        self.users = users
        self.sizes = np.array([len(of_item) for of_item in users], np.float64)
        self.near: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def _neighbours(self, item: int) -> tuple[np.ndarray, np.ndarray]:
        if item not in self.near:
            together = np.concatenate([self.baskets[user] for user in self.users[item]])
            found, counts = np.unique(together, return_counts=True)
            self.near[item] = (found, counts / np.sqrt(self.sizes[item] * self.sizes[found]))
        return self.near[item]

    def rank(self, case: Seen) -> int:
        """Of the target, from 0; -1 where nothing of the history leads to it."""
        target = self.numbers.get(case.target, -1)
        if target < 0 or case.target in case.had:
            return -1
        weights: dict[int, float] = {}  # of an item its newest place
        for back, item in enumerate(reversed(case.history)):
            if item in self.numbers:
                weights.setdefault(self.numbers[item], self.decay ** back)
        scores = np.zeros(len(self.names))
        for item, weight in weights.items():
            found, cosines = self._neighbours(item)
            scores[found] += weight * cosines
        scores[[self.numbers[item] for item in case.had if item in self.numbers]] = 0.0
        mine = scores[target]
        if mine <= 0:
            return -1
        return int((scores > mine).sum() + (scores[:target] == mine).sum())


def baseline_ranks(trained: Sequences, cases: list[Seen]) -> dict[str, np.ndarray]:
    """Ranks of the targets by each baseline; the histories must be cut as the model's."""
    baselines = {"popularity": Popularity(trained), "item-KNN": ItemKnn(trained),
                 "recent-KNN": ItemKnn(trained, DECAY)}
    return {name: np.array([baseline.rank(case) for case in cases], np.int64)
            for name, baseline in baselines.items()}
