"""Training rows: windows over user sequences, augmented afresh in every epoch."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

IGNORED = -100


@dataclass(frozen=True)
class Augmentation:
    """`drop`: chance that an item of a window is left out. `shuffle`: how many places an item
    may wander (0 keeps the order). `shuffled_share`: share of windows that are shuffled."""

    drop: float = 0.0
    shuffle: float = 0.0
    shuffled_share: float = 0.5


@dataclass(frozen=True)
class Row:
    """Token ids, and for each whether the loss counts it."""

    tokens: list[int]
    counted: list[bool]


class SequenceRows:
    """Rows `<|bos|> item item ...` of at most `max_items` items, loss on every item token."""

    def __init__(self, sequences: list[list[list[int]]], bos: int, max_items: int,
                 augmentation: Augmentation) -> None:
        self.sequences = [sequence for sequence in sequences if sequence]
        self.bos = bos
        self.max_items = max_items
        self.augmentation = augmentation

    def epoch(self, rng: np.random.Generator) -> list[Row]:
        """One pass: long sequences are cut into windows at a random offset."""
        rows = []
        for sequence in self.sequences:
            for window in self._windows(sequence, rng):
                items = self._augment(window, rng)
                tokens = [self.bos] + [token for item in items for token in item]
                rows.append(Row(tokens, [False] + [True] * (len(tokens) - 1)))
        return rows

    def _windows(self, sequence: list[list[int]],
                 rng: np.random.Generator) -> Iterator[list[list[int]]]:
        # Windows overlap by half, so that an early item of one has a history in another.
        if len(sequence) <= self.max_items:
            yield sequence
            return
        stride = max(1, self.max_items // 2)
        first = int(rng.integers(stride)) - stride
        for start in range(first, len(sequence) - stride, stride):
            yield sequence[max(0, start):start + self.max_items]

    def _augment(self, items: list[list[int]], rng: np.random.Generator) -> list[list[int]]:
        plan = self.augmentation
        if plan.drop > 0 and len(items) > 2:
            keep = rng.random(len(items)) >= plan.drop
            if keep.sum() >= 2:
                items = [item for item, kept in zip(items, keep) if kept]
        if plan.shuffle > 0 and rng.random() < plan.shuffled_share:
            places = np.arange(len(items)) + rng.random(len(items)) * plan.shuffle
            items = [items[i] for i in np.argsort(places, kind="stable")]
        return items


def batches(rows: list[Row], size: int, pad: int,
            rng: np.random.Generator) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Batches of similar lengths in random order, about `size` rows of mean length each.

    Returns (input ids, labels), both (rows, longest), padded on the right: under a causal
    mask a real token never sees the padding behind it.
    """
    lengths = np.array([len(row.tokens) for row in rows])
    order = np.lexsort((rng.random(len(rows)), lengths))
    budget = max(1.0, size * lengths.mean())
    groups: list[list[int]] = [[]]
    for place in order:
        if groups[-1] and (len(groups[-1]) + 1) * lengths[place] > budget:
            groups.append([])
        groups[-1].append(int(place))
    return [_pad([rows[place] for place in groups[g]], pad) for g in rng.permutation(len(groups))]


def _pad(rows: list[Row], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(len(row.tokens) for row in rows)
    inputs = torch.full((len(rows), longest), pad)
    labels = torch.full((len(rows), longest), IGNORED)
    for i, row in enumerate(rows):
        length = len(row.tokens)
        tokens = torch.tensor(row.tokens)
        inputs[i, :length] = tokens
        labels[i, :length] = torch.where(torch.tensor(row.counted), tokens, IGNORED)
    return inputs, labels
