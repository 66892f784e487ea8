"""Orders of ads beside the truth of the demo's world: by score, by head, by expected value."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .demo_truth import POSITION_BIAS

FIRST, PAGE = 5, 10
DRAWS = 2000
INTERVAL = 2.5, 97.5


@dataclass(frozen=True)
class Ranked:
    """Ads that a recall gives one user, best first by score."""

    attractions: np.ndarray
    clicks: np.ndarray  # answers of the head
    bids: np.ndarray


def table(users: Sequence[Ranked], rng: np.random.Generator) -> str:
    """For people."""
    orders: dict[str, Callable[[Ranked], np.ndarray]] = {
        "score": lambda one: np.arange(0, -len(one.bids), -1.0),
        "head": lambda one: one.clicks,
        "expected": lambda one: one.clicks * one.bids}
    liked = {name: np.array([_liked(one, of(one)) for one in users])
             for name, of in orders.items()}
    earned = {name: np.array([_earned(one, of(one)) for one in users])
              for name, of in orders.items()}
    best = sum(_liked(one, one.attractions) for one in users)
    lines = [f"{'order':<10}{'first five of the best':>24}{'rank correlation':>18}"
             f"{'a page earns':>14}"]
    for name, of in orders.items():
        correlation = np.mean([_correlation(of(one), one.attractions) for one in users])
        lines.append(f"{name:<10}{liked[name].sum() / best:>24.3f}{correlation:>18.3f}"
                     f"{earned[name].mean():>14.3f}")
    for text, above, below in (
            ("liking of the first five, head over score", liked["head"], liked["score"]),
            ("the same of the best five, which no head passes",
             np.array([_liked(one, one.attractions) for one in users]), liked["score"]),
            ("earnings of a page, expected over score", earned["expected"], earned["score"])):
        low, mean, high = quotient(above, below, rng)
        lines.append(f"{text}: {mean:.3f} [{low:.3f}, {high:.3f}]")
    return "\n".join(lines)


def quotient(above: np.ndarray, below: np.ndarray, rng: np.random.Generator
             ) -> tuple[float, float, float]:
    """Of two sums over users, between the ends of the 95 % interval of drawing users anew."""
    drawn = rng.integers(len(above), size=(DRAWS, len(above)))
    low, high = np.percentile(above[drawn].sum(1) / below[drawn].sum(1), INTERVAL)
    return float(low), float(above.sum() / below.sum()), float(high)


def _correlation(left: np.ndarray, right: np.ndarray) -> float:
    """Spearman's; equal values have the mean of their ranks."""
    return float(np.corrcoef(_ranks(left), _ranks(right))[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]


def _order(values: np.ndarray) -> np.ndarray:
    return np.argsort(-values, kind="stable")


def _liked(one: Ranked, values: np.ndarray) -> float:
    return float(one.attractions[_order(values)[:FIRST]].sum())


def _earned(one: Ranked, values: np.ndarray) -> float:
    """Bids of a page by the probabilities of looks and clicks."""
    page = _order(values)[:PAGE]
    looks = np.arange(1, len(page) + 1) ** -POSITION_BIAS
    return float((looks * one.attractions[page] * one.bids[page]).sum())
