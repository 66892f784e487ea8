"""From a model's score of an item to the chance that a user who is shown it takes it.

A model that learns clicks alone learns its own lists: an item that it shows is clicked, is learned,
and is shown more. The log loss of shown items, taken or not, has no such turn: an item that is
shown often and taken seldom sinks. chance = sigmoid(shift + scale * score + slope * log(place))."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from .choice import Sample

#: A model's scores say more or less than the chances do; beyond these the fit is of noise.
SCALES = (0.25, 1.0)
ROUNDS = 50
RIDGE = 1e-4


@dataclass(frozen=True)
class Chances:
    """`is_shown`: there are samples that were not taken; without any the loss is that of the
    answers, as in `finetune`."""

    is_shown: bool
    shift: float = 0.0
    scale: float = 1.0
    slope: float = 0.0

    def loss(self, scores: torch.Tensor, shift: torch.Tensor,
             samples: Sequence[Sample]) -> torch.Tensor:
        """Weighted mean, of scores that learn, and of a shift that does."""
        weights = torch.tensor([one.weight for one in samples], device=scores.device)
        if not self.is_shown:
            return -(scores * weights).mean()
        places, taken = _numbers(samples)
        logits = (shift + self.scale * scores
                  + self.slope * torch.tensor(places, dtype=torch.float32, device=scores.device))
        each = functional.binary_cross_entropy_with_logits(
            logits, torch.tensor(taken, dtype=torch.float32, device=scores.device),
            reduction="none")
        return (each * weights).mean()

    def losses(self, scores: np.ndarray, samples: Sequence[Sample]) -> np.ndarray:
        """Of each sample; those that stand for several shown items weigh as much."""
        if not self.is_shown:
            return -scores
        places, taken = _numbers(samples)
        weights = np.array([one.weight for one in samples])
        logits = self.shift + self.scale * scores + self.slope * places
        return (np.logaddexp(0, logits) - taken * logits) * weights / weights.mean()

    def expected(self, scores: np.ndarray, samples: Sequence[Sample]) -> np.ndarray:
        """Chance of each shown item to be taken."""
        places, _ = _numbers(samples)
        return 1 / (1 + np.exp(-(self.shift + self.scale * scores + self.slope * places)))


def fit(scores: np.ndarray, samples: Sequence[Sample]) -> Chances:
    """Of the samples' log loss, with a small ridge that keeps the numbers finite."""
    places, taken = _numbers(samples)
    if taken.all():
        return Chances(False)
    weights = np.array([one.weight for one in samples])
    weights = weights / weights.sum()
    shift, slope, scale = _newton(np.stack([np.ones(len(scores)), places, scores], 1), taken,
                                  weights, np.array([0.0, 0.0, 1.0]))
    if not SCALES[0] <= scale <= SCALES[1]:
        scale = float(np.clip(scale, *SCALES))
        shift, slope = _newton(np.stack([np.ones(len(scores)), places], 1), taken, weights,
                               np.zeros(2), scale * scores)
    return Chances(True, float(shift), float(scale), float(slope))


def _newton(inputs: np.ndarray, taken: np.ndarray, weights: np.ndarray, toward: np.ndarray,
            added: np.ndarray | float = 0.0) -> np.ndarray:
    """Newton's method with halved steps. `added` to the logits."""

    def loss(values: np.ndarray) -> float:
        logits = inputs @ values + added
        return float(weights @ (np.logaddexp(0, logits) - taken * logits)
                     + RIDGE / 2 * ((values - toward) ** 2).sum())

    found = toward.copy()
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(inputs @ found + added, -50, 50)))
        slope = inputs.T @ (weights * (chance - taken)) + RIDGE * (found - toward)
        curve = (inputs.T * (weights * chance * (1 - chance))) @ inputs
        step = np.linalg.solve(curve + RIDGE * np.eye(len(found)), slope)
        size, before = 1.0, loss(found)
        while size > 1e-6 and loss(found - size * step) > before:
            size /= 2
        found = found - size * step
        if np.abs(size * step).max() < 1e-8:
            break
    return found


def _numbers(samples: Sequence[Sample]) -> tuple[np.ndarray, np.ndarray]:
    """log(place), 0 where it is not known, and 1 of those that were taken."""
    return (np.log([max(1, one.place) for one in samples]),
            np.array([float(one.taken) for one in samples]))
