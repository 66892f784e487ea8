"""Which semantic ID each item takes, where a semantic ID takes only so many items."""

from collections import Counter
from itertools import islice

import numpy as np

from ..errors import InputError
from .codebooks import Codebooks, Sid

#: Semantic IDs that are tried for one item; the service tries as many.
MAX_TRIES = 65_536


def place(codebooks: Codebooks, vectors: np.ndarray, codes: np.ndarray) -> list[Sid]:
    """In the order of the rows: each takes its own codes, or the first of `ways` with room."""
    taken: Counter[Sid] = Counter()
    placed = []
    for row, nearest in enumerate(map(tuple, codes.tolist())):
        sid: Sid | None = nearest
        if taken[nearest] >= codebooks.capacity:
            tried = islice(codebooks.ways(vectors[row]), MAX_TRIES)
            sid = next((way for way in tried if taken[way] < codebooks.capacity), None)
        if sid is None:
            raise InputError(f"vector {row}", f"room among the {MAX_TRIES} nearest semantic IDs "
                             f"(a capacity above {codebooks.capacity}, or more codes)", "none")
        taken[sid] += 1
        placed.append(sid)
    return placed
