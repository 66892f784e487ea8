"""Quality of semantic IDs before anything is trained on them."""

import numpy as np

from .codebooks import Codebooks, Sid

SAMPLED = 2000
NEIGHBOURS = 10


def report(codebooks: Codebooks, vectors: np.ndarray, codes: np.ndarray, residual: np.ndarray,
           placed: list[Sid], seed: int) -> dict[str, object]:
    """`unique_share`: distinct semantic IDs for each item, by nearest codes and as placed;
    `relative_error`: of what is quantised, the squared error over the variance."""
    encoded = codebooks.encoded(vectors).astype(np.float64)
    variance = float(((encoded - encoded.mean(0)) ** 2).sum())
    nearest = list(map(tuple, codes.tolist()))
    crowds = np.unique(codes, axis=0, return_counts=True)[1]
    return {
        "items": len(placed), "dimension": vectors.shape[1],
        "distinct_vectors": len(np.unique(vectors, axis=0)),
        "unique_share": {"nearest": len(set(nearest)) / len(placed),
                         "placed": len(set(placed)) / len(placed)},
        "most_items_of_a_sid": {"nearest": int(crowds.max()),
                                "placed": max(np.unique(placed, axis=0, return_counts=True)[1]
                                              .tolist())},
        "moved_items": sum(a != b for a, b in zip(nearest, placed)),
        "squared_error": float((residual.astype(np.float64) ** 2).sum(1).mean()),
        "relative_error": _share(float((residual.astype(np.float64) ** 2).sum()), variance),
        "levels": [_use(codes[:, level], len(book)) for level, book in
                   enumerate(codebooks.levels)],
        "neighbours_with_prefix": _shared_prefixes(vectors, np.array(placed), seed),
    }


def _share(error: float, variance: float) -> float:
    """Of vectors that are all alike 0: there is nothing to tell apart."""
    return error / variance if variance > 1e-9 else 0.0


def _use(codes: np.ndarray, size: int) -> dict[str, float]:
    counts = np.bincount(codes, minlength=size)
    shares = counts[counts > 0] / counts.sum()
    return {"used_codes": int((counts > 0).sum()), "codes": size,
            "largest_share": float(shares.max()),
            "perplexity": float(np.exp(-(shares * np.log(shares)).sum()))}


def _shared_prefixes(vectors: np.ndarray, placed: np.ndarray, seed: int) -> list[float]:
    """Of the ten nearest items by cosine, the share that has the first 1, 2, ... codes of the item:
    the mean over items, some where there are many."""
    count = min(SAMPLED, len(vectors))
    chosen = np.random.default_rng(seed).choice(len(vectors), count, replace=False)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.maximum(lengths, 1e-12)
    cosines = unit[chosen] @ unit.T
    cosines[np.arange(count), chosen] = -np.inf
    most = min(NEIGHBOURS, len(vectors) - 1)
    if most < 1:
        return []
    near = np.argpartition(-cosines, most - 1, axis=1)[:, :most]
    same = placed[near] == placed[chosen][:, None, :]
    return np.cumprod(same, axis=2).mean((0, 1)).tolist()
