"""The tree of semantic IDs as sorted arrays: children are found by binary search."""

from dataclasses import dataclass

import numpy as np
import torch

from .data import SidIndex


@dataclass(frozen=True)
class SidTrie:
    """`keys[l]` holds parent * size_l + code of every node at depth l + 1, ascending; a node's
    number is its place in that array. `leaf_items[n]` are the items of leaf n, in id order."""

    sizes: list[int]
    keys: list[torch.Tensor]
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
    """Items of one SID are ranked as the service ranks them: by the bytes of their ids."""
    return item.encode()


def build_trie(index: SidIndex) -> SidTrie:
    """Builds the arrays level by level from the distinct semantic IDs."""
    sizes = index.level_sizes()
    items = sorted(index.codes, key=item_order)
    codes = np.array([index.codes[item] for item in items], dtype=np.int64)
    nodes = np.zeros(len(items), dtype=np.int64)
    keys = []
    for level, size in enumerate(sizes):
        level_keys, nodes = np.unique(nodes * size + codes[:, level], return_inverse=True)
        keys.append(torch.from_numpy(level_keys))
    leaf_items: list[list[str]] = [[] for _ in range(len(keys[-1]))]
    for item, leaf in zip(items, nodes):
        leaf_items[leaf].append(item)
    return SidTrie(sizes, keys, leaf_items)
