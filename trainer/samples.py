"""Rows that a model is trained on, and batches of them."""

from dataclasses import dataclass

import numpy as np
import torch

IGNORED = -100


@dataclass(frozen=True)
class Row:
    """Token ids, and for each whether the loss counts it."""

    tokens: list[int]
    counted: list[bool]


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
    return [padded([rows[place] for place in groups[g]], pad) for g in rng.permutation(len(groups))]


def padded(rows: list[Row], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Input ids and labels, (rows, longest)."""
    longest = max(len(row.tokens) for row in rows)
    inputs = torch.full((len(rows), longest), pad)
    labels = torch.full((len(rows), longest), IGNORED)
    for i, row in enumerate(rows):
        length = len(row.tokens)
        tokens = torch.tensor(row.tokens)
        inputs[i, :length] = tokens
        labels[i, :length] = torch.where(torch.tensor(row.counted), tokens, IGNORED)
    return inputs, labels
