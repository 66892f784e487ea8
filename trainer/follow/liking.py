"""How much more an item is taken now than the base model expects, by the places of the tree of
semantic IDs.

Of a few hundred answers a cycle a model of all its weights learns noise; a factor for each item,
shrunk to that of its topic, which is shrunk to that of its category, is what they do say. The next
version learns to answer as the base model times these factors, so versions never wander from it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from .chances import fit
from .choice import Sample

#: Expected answers that a factor's parent counts for.
SHRINK = 4.0
#: Factors beyond are of too few answers.
MOST = 8.0

Path = tuple[int, ...]


def factors(samples: Sequence[Sample], scores: np.ndarray,
            paths: Sequence[Path]) -> dict[Path, float]:
    """By prefix of token ids: answers over those expected of the base model's `scores`; `paths`:
    token ids of each sample's item."""
    chances = fit(scores, samples)
    expected = chances.expected(scores, samples)
    weights = np.array([one.weight for one in samples])
    taken: dict[Path, float] = defaultdict(float)
    usual: dict[Path, float] = defaultdict(float)
    for sample, path, weight, chance in zip(samples, paths, weights, expected, strict=True):
        for depth in range(1, len(path) + 1):
            taken[path[:depth]] += weight * sample.taken
            usual[path[:depth]] += weight * chance
    found: dict[Path, float] = {(): 1.0}
    for prefix in sorted(usual, key=len):
        above = found[prefix[:-1]]
        each = above * (taken[prefix] + SHRINK) / (usual[prefix] * above + SHRINK)
        found[prefix] = float(np.clip(each, 1 / MOST, MOST))
    return found


def children(found: Mapping[Path, float]) -> dict[Path, list[tuple[int, float]]]:
    """Of each prefix the tokens behind it, with the logarithm of what they are taken more than
    their siblings of no factor."""
    below: dict[Path, list[tuple[int, float]]] = defaultdict(list)
    for prefix, factor in found.items():
        if prefix:
            below[prefix[:-1]].append((prefix[-1], float(np.log(factor / found[prefix[:-1]]))))
    return below
