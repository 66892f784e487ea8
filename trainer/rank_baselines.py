"""Rankings that need no model of sequences: an item's rate, logistic regression and boosted trees
over rates, counts, attributes and the recall score, and that score alone."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import lightgbm
import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .exposures import Exposures, Slices

#: Exposures at the mean rate that a rate begins with.
PRIOR_ROWS = 10.0
#: Of users; an item's rate for a row of the training is of the other folds.
FOLDS = 10


def smoothed(total: np.ndarray, count: np.ndarray, mean: float) -> np.ndarray:
    return (total + PRIOR_ROWS * mean) / (count + PRIOR_ROWS)


class ItemRates:
    """Outcomes of each item over its exposures, smoothed, and how many of 10,000 exposures were of
    it, before a slice begins: what a service that counts would know of it then. A row of the
    training slice is told without the fold of its own user, so that no row knows its outcome."""

    def __init__(self, exposures: Exposures, slices: Slices, head: str) -> None:
        self.slices = slices
        self.numbers = {item: number for number, item in enumerate(dict.fromkeys(exposures.items))}
        self.places = np.array([self.numbers[item] for item in exposures.items])
        self.label = exposures.labels[head]
        folds = {user: number % FOLDS for number, user in enumerate(dict.fromkeys(exposures.users))}
        self.folds = np.array([folds[user] for user in exposures.users])
        self.train = self._sums(slices.train)
        self.before_test = self._sums(np.concatenate([slices.train, slices.calibration]))

    def _sums(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Outcomes and exposures, (folds, items)."""
        rows = rows[~np.isnan(self.label[rows])]
        totals, counts = np.zeros((2, FOLDS, len(self.numbers)))
        np.add.at(totals, (self.folds[rows], self.places[rows]), self.label[rows])
        np.add.at(counts, (self.folds[rows], self.places[rows]), 1)
        return totals, counts

    @property
    def mean(self) -> float:
        """Of the training slice."""
        return float(self.train[0].sum() / max(1.0, self.train[1].sum()))

    def of_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Rate (NaN: the item was not shown) and share, by row."""
        rate, share = np.zeros((2, len(self.places)))
        for rows, sums in ((self.slices.calibration, self.train),
                           (self.slices.test, self.before_test)):
            rate[rows], share[rows] = _figures(sums, self.places[rows])
        own = self.slices.train
        for fold in range(FOLDS):
            rows = own[self.folds[own] == fold]
            others = [np.delete(of, fold, axis=0) for of in self.train]
            rate[rows], share[rows] = _figures(others, self.places[rows])
        return rate, share

    def by_item(self) -> dict[str, tuple[float, float]]:
        """Rate and share when the test begins."""
        rate, share = _figures(self.before_test, np.arange(len(self.numbers)))
        return {item: (float(rate[number]), float(share[number]))
                for item, number in self.numbers.items()}


def _figures(sums: Sequence[np.ndarray], items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rate and share of items, of outcomes and exposures (folds, items)."""
    totals, counts = (of.sum(0) for of in sums)
    total, count, everything = totals[items], counts[items], max(1.0, counts.sum())
    rate = smoothed(total, count, totals.sum() / everything)
    return np.where(count > 0, rate, np.nan), 10_000 * count / everything


def user_rates(exposures: Exposures, label: np.ndarray, mean: float) -> np.ndarray:
    """Rate and log1p of the count of a user's exposures before each row's time."""
    found = np.zeros((len(exposures), 2))
    rows: dict[str, list[int]] = {}
    for row, user in enumerate(exposures.users):
        rows.setdefault(user, []).append(row)
    for own in rows.values():
        order = np.array(own)[np.argsort(exposures.times[own], kind="stable")]
        times = exposures.times[order]
        known = np.nan_to_num(label[order])
        count = np.concatenate([[0], np.cumsum(~np.isnan(label[order]))])
        total = np.concatenate([[0], np.cumsum(known)])
        before = np.searchsorted(times, times, side="left")
        found[order, 0] = smoothed(total[before], count[before], mean)
        found[order, 1] = np.log1p(count[before])
    return found


def baseline_predictions(exposures: Exposures, slices: Slices, head: str, attributes: np.ndarray,
                         scores: np.ndarray) -> dict[str, np.ndarray]:
    """Of the rows of the test. `attributes`: (rows, attributes), normalised; `scores`: of a
    recall. Trained on the training slice, with the scores and without: a model may know its
    training rows by heart. The calibration slice chooses."""
    label = exposures.labels[head]
    rates = ItemRates(exposures, slices, head)
    item_rate, share = rates.of_rows()
    item_rate = np.where(np.isnan(item_rate), rates.mean, item_rate)
    of_user = user_rates(exposures, label, rates.mean)
    features = np.column_stack([item_rate, np.log1p(share), of_user, attributes, scores])
    train, later = (rows[~np.isnan(label[rows])] for rows in (slices.train, slices.calibration))
    found = {"item rate": item_rate[slices.test], "recall score": np.exp(scores[slices.test])}
    if len(set(label[train].tolist())) < 2:
        return found
    for name, make in _models(exposures.is_binary(head)).items():
        tried = []
        for of in (features[:, :-1], features):
            model = make().fit(of[train], label[train])
            answers = (model.predict_proba(of)[:, 1] if exposures.is_binary(head)
                       else model.predict(of))
            tried.append((np.mean((answers[later] - label[later]) ** 2), answers[slices.test]))
        found[name] = min(tried, key=lambda one: one[0])[1]
    return found


def _models(is_binary: bool) -> dict[str, Callable[[], Any]]:
    """Of outcomes of 0 and 1, or of any number."""
    trees = partial(lightgbm.LGBMClassifier if is_binary else lightgbm.LGBMRegressor,
                    n_estimators=200, learning_rate=0.05, num_leaves=15, min_child_samples=40,
                    random_state=1, n_jobs=1, verbose=-1)
    name, linear = ("logistic", LogisticRegression) if is_binary else ("linear", Ridge)
    return {f"{name} regression": lambda: make_pipeline(StandardScaler(), linear()),
            "LightGBM": trees}
