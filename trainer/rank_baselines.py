"""Rankings that need no model of sequences: an item's rate, logistic regression and boosted trees
over rates, counts, attributes and the recall score, and that score alone."""

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
    """Outcomes of each item in the training slice, over its exposures, smoothed; and how often it
    was shown."""

    def __init__(self, exposures: Exposures, slices: Slices, head: str) -> None:
        self.exposures, self.slices = exposures, slices
        self.numbers = {item: number for number, item in enumerate(dict.fromkeys(exposures.items))}
        self.places = np.array([self.numbers[item] for item in exposures.items])
        label = exposures.labels[head]
        self.label = label
        train = slices.train[~np.isnan(label[slices.train])]
        self.mean = float(label[train].mean()) if len(train) else 0.0
        folds = {user: number % FOLDS for number, user in enumerate(dict.fromkeys(exposures.users))}
        self.folds = np.array([folds[user] for user in exposures.users])
        self.totals = np.zeros((FOLDS, len(self.numbers)))
        self.counts = np.zeros((FOLDS, len(self.numbers)))
        np.add.at(self.totals, (self.folds[train], self.places[train]), label[train])
        np.add.at(self.counts, (self.folds[train], self.places[train]), 1)

    def of_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Rate and log1p of the count, by row: of the training slice, without the fold of the row's
        own user where the row is in it, so that no row knows its outcome."""
        totals, counts = (of.sum(0)[self.places] for of in (self.totals, self.counts))
        own = self.slices.train
        where = (self.folds[own], self.places[own])
        totals[own] -= self.totals[where]
        counts[own] -= self.counts[where]
        whole = np.ones(len(totals))
        whole[own] = FOLDS / (FOLDS - 1)
        return smoothed(totals, counts, self.mean), np.log1p(counts * whole)

    def by_item(self) -> dict[str, float]:
        """At the end of the training slice, of the items that it has."""
        rates = smoothed(self.totals.sum(0), self.counts.sum(0), self.mean)
        shown = self.counts.sum(0) > 0
        return {item: float(rates[number]) for item, number in self.numbers.items()
                if shown[number]}


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
    recall, NaN where there are none. Trained on the training slice."""
    label = exposures.labels[head]
    rates = ItemRates(exposures, slices, head)
    item_rate, item_count = rates.of_rows()
    features = np.column_stack([item_rate, item_count, user_rates(exposures, label, rates.mean),
                                attributes, scores])
    train = slices.train[~np.isnan(label[slices.train])]
    found = {"item rate": item_rate[slices.test], "recall score": np.exp(scores[slices.test])}
    if len(set(label[train].tolist())) < 2:
        return found
    binary = exposures.is_binary(head)
    linear = make_pipeline(StandardScaler(), LogisticRegression() if binary else Ridge())
    trees = (lightgbm.LGBMClassifier if binary else lightgbm.LGBMRegressor)(
        n_estimators=200, learning_rate=0.05, num_leaves=15, min_child_samples=40,
        random_state=1, n_jobs=1, verbose=-1)
    for name, model in (("logistic regression" if binary else "linear regression", linear),
                        ("LightGBM", trees)):
        model.fit(features[train], label[train])
        test = features[slices.test]
        found[name] = model.predict_proba(test)[:, 1] if binary else model.predict(test)
    return found
