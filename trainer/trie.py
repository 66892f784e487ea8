"""The tree of semantic IDs as sorted arrays: children are found by binary search."""

from dataclasses import dataclass

import numpy as np
import torch

from .data import SidIndex


@dataclass(frozen=True)
class SidTrie:
    """`keys[l]` holds parent * size_l + code of every node at depth l + 1, ascending; a node's
    number is its place in that array. A leaf is a node whose semantic ID items have, which may have
    children as well: `leaves[l]` numbers those of depth l + 1, with -1 for other nodes, and is None
    where the depth has no leaf. `leaf_items[n]` are the items of leaf n in their order."""

    sizes: list[int]
    keys: list[torch.Tensor]
    leaves: list[torch.Tensor | None]
    leaf_items: list[list[str]]

    @property
    def depth(self) -> int:
        return len(self.sizes)

    def children(self, level: int, nodes: torch.Tensor) -> torch.Tensor:
        """Child node for each code of each node: shape (..., size); -1 where there is none."""
        size = self.sizes[level]
        wanted = nodes.unsqueeze(-1) * size + torch.arange(size)
        found = torch.searchsorted(self.keys[level], wanted)
        found.clamp_(max=len(self.keys[level]) - 1)
        absent = (self.keys[level][found] != wanted) | (nodes < 0).unsqueeze(-1)
        return found.masked_fill_(absent, -1)


def item_order(item: str) -> bytes:
    """Items of one priority are ranked as the service ranks them: by the bytes of their ids."""
    return item.encode()


def build_trie(index: SidIndex, priorities: dict[str, float] | None = None) -> SidTrie:
    """Builds the arrays level by level from the distinct semantic IDs. `priorities`, 0 where an
    item has none, order the items of one semantic ID, highest first."""
    sizes = index.level_sizes()
    priority = priorities or {}
    items = sorted(index.codes, key=lambda item: (-priority.get(item, 0.0), item_order(item)))
    depths = np.array([len(index.codes[item]) for item in items])
    codes = np.zeros((len(items), index.depth), dtype=np.int64)
    for row, item in enumerate(items):
        codes[row, :depths[row]] = index.codes[item]
    nodes = np.zeros(len(items), dtype=np.int64)
    keys, leaves = [], []
    leaf_items: list[list[str]] = []
    for level, size in enumerate(sizes):
        there = np.flatnonzero(depths > level)
        level_keys, found = np.unique(nodes[there] * size + codes[there, level],
                                      return_inverse=True)
        nodes[there] = found
        keys.append(torch.from_numpy(level_keys))
        leaves.append(_number_leaves(len(level_keys), nodes, np.flatnonzero(depths == level + 1),
                                     items, leaf_items))
    return SidTrie(sizes, keys, leaves, leaf_items)


def _number_leaves(count: int, nodes: np.ndarray, ending: np.ndarray, items: list[str],
                   leaf_items: list[list[str]]) -> torch.Tensor | None:
    """Numbers the nodes of a level at which items end, and adds these to `leaf_items`."""
    if len(ending) == 0:
        return None
    numbers = np.full(count, -1)
    ends = np.unique(nodes[ending])
    numbers[ends] = np.arange(len(leaf_items), len(leaf_items) + len(ends))
    leaf_items += [[] for _ in ends]
    for row in ending:
        leaf_items[numbers[nodes[row]]].append(items[row])
    return torch.from_numpy(numbers)
