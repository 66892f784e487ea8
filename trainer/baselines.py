"""Baselines of a model: the most popular items, and item-KNN (Sarwar et al. 2001).

Both see the histories that the model sees, were made of what it was trained on, and leave out what
is in the history.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from .trie import item_order

#: User -> items, oldest first.
Sequences = dict[str, list[str]]


@dataclass(frozen=True)
class Seen:
    """The items that a user has had, and the one that they took next."""

    history: list[str]
    target: str


class Popularity:
    """Ranks all items by how many users have them; equals in the order of their ids."""

    def __init__(self, trained: Sequences) -> None:
        counts = Counter(item for items in trained.values() for item in set(items))
        order = sorted(counts, key=lambda item: (-counts[item], item_order(item)))
        self.places = {item: place for place, item in enumerate(order)}

    def rank(self, case: Seen) -> int:
        """Of the target, from 0; -1 where it is in no list."""
        place = self.places.get(case.target, -1)
        if place < 0 or case.target in case.history:
            return -1
        return place - sum(self.places.get(item, place) < place for item in set(case.history))


class ItemKnn:
    """Scores an item by the sum of its cosines with the items of the history, an item being the
    set of its users."""

    def __init__(self, trained: Sequences) -> None:
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
            cosines = counts / np.sqrt(self.sizes[item] * self.sizes[found])
            cosines[found == item] = 0.0
            self.near[item] = (found, cosines)
        return self.near[item]

    def rank(self, case: Seen) -> int:
        """Of the target, from 0; -1 where nothing of the history leads to it."""
        target = self.numbers.get(case.target, -1)
        history = {self.numbers[item] for item in case.history if item in self.numbers}
        if target < 0 or target in history:
            return -1
        scores = np.zeros(len(self.names))
        for item in history:
            found, cosines = self._neighbours(item)
            scores[found] += cosines
        scores[list(history)] = 0.0
        mine = scores[target]
        if mine <= 0:
            return -1
        return int((scores > mine).sum() + (scores[:target] == mine).sum())


def baseline_ranks(trained: Sequences, cases: list[Seen]) -> dict[str, np.ndarray]:
    """Ranks of the targets by each baseline; the histories must be cut as the model's."""
    found = {}
    for name, baseline in (("popularity", Popularity(trained)), ("item-KNN", ItemKnn(trained))):
        found[name] = np.array([baseline.rank(case) for case in cases], np.int64)
    return found
