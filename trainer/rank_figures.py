"""Figures of heads, as `npm run evaluate -- --rank` computes them: in double precision, in the
order of the rows."""

from dataclasses import asdict, dataclass

import numpy as np

LEAST_PROBABILITY = 1e-7
BINS_MAX = 15


@dataclass(frozen=True)
class Figures:
    """Of one head; a figure that means nothing is None."""

    rows: int
    skipped: int
    auc: float | None
    userAuc: float | None
    users: int
    logLoss: float | None
    calibrationError: float | None
    meanPrediction: float | None
    meanLabel: float | None
    rmse: float | None

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def figures(labels: np.ndarray, predictions: np.ndarray, users: list[str]) -> Figures:
    """Rows whose label or prediction is NaN are skipped."""
    known = ~(np.isnan(labels) | np.isnan(predictions))
    skipped = int((~known).sum())
    label, answer = labels[known], predictions[known].astype(np.float64)
    if len(label) == 0:
        return Figures(0, skipped, None, None, 0, None, None, None, None, None)
    rmse = float(np.sqrt(np.mean((answer - label) ** 2)))
    means = float(answer.mean()), float(label.mean())
    if not np.isin(label, (0.0, 1.0)).all():
        return Figures(len(label), skipped, None, None, 0, None, None, *means, rmse)
    whose = [user for user, kept in zip(users, known, strict=True) if kept]
    by_user, count = user_auc(label, answer, whose)
    clipped = np.clip(answer, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    loss = -np.mean(label * np.log(clipped) + (1 - label) * np.log(1 - clipped))
    return Figures(len(label), skipped, auc(label, answer), by_user, count, float(loss),
                   calibration_error(label, answer), *means, rmse)


def auc(label: np.ndarray, answer: np.ndarray) -> float | None:
    """Mann-Whitney, tied answers with the mean of their ranks; both classes, or None."""
    positives = int((label > 0.5).sum())
    negatives = len(label) - positives
    if positives == 0 or negatives == 0:
        return None
    _, place, counts = np.unique(answer, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks = (last - (counts - 1) / 2)[place]
    total = float(ranks[label > 0.5].sum())
    return (total - positives * (positives + 1) / 2) / (positives * negatives)


def user_auc(label: np.ndarray, answer: np.ndarray, users: list[str]) -> tuple[float | None, int]:
    """Mean over users with both classes, weighted by their rows; and how many they are."""
    rows: dict[str, list[int]] = {}
    for row, user in enumerate(users):
        rows.setdefault(user, []).append(row)
    total, weight, count = 0.0, 0, 0
    for own in rows.values():
        found = auc(label[own], answer[own])
        if found is not None:
            total += len(own) * found
            weight += len(own)
            count += 1
    return (total / weight if weight else None), count


def calibration_error(label: np.ndarray, answer: np.ndarray) -> float:
    """Expected, over bins of equal mass."""
    order = np.argsort(answer, kind="stable")
    count = len(order)
    bins = min(BINS_MAX, count)
    error = 0.0
    for number in range(bins):
        rows = order[number * count // bins:(number + 1) * count // bins]
        error += len(rows) / count * abs(answer[rows].mean() - label[rows].mean())
    return float(error)
