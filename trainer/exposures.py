"""Exposures with outcomes: items that users were shown, and their outcomes. Of a table (TSV), or of
the facts that a service keeps (docs/operate/analysis.md)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .data import item_id_of, read_text
from .errors import InputError
from .history import NO_SCENE, Behaviour, User, Users
from .tsv import check_once, tsv_rows

#: Columns of a table that are no heads.
OWN_COLUMNS = ("user", "time", "item", "weight", "propensity")

#: Of labels and weights: the loss squares them in float32.
LARGEST = 1e15


@dataclass(frozen=True)
class Exposures:
    """Rows in the order of their source. `labels`: of each head, NaN where it is not known.
    `weights`: of a row in the loss. `propensities`: with which it was shown; NaN: not known.
    `scenes`: by user and time, where they are known."""

    users: list[str]
    times: np.ndarray  # seconds since 1970
    items: list[str]
    labels: dict[str, np.ndarray]
    weights: np.ndarray
    propensities: np.ndarray
    scenes: Mapping[tuple[str, float], Mapping[str, str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.users)

    def is_binary(self, head: str) -> bool:
        known = self.labels[head][~np.isnan(self.labels[head])]
        return bool(np.isin(known, (0.0, 1.0)).all())

    def only(self, rows: np.ndarray) -> "Exposures":
        return Exposures([self.users[row] for row in rows], self.times[rows],
                         [self.items[row] for row in rows],
                         {name: of[rows] for name, of in self.labels.items()},
                         self.weights[rows], self.propensities[rows], self.scenes)

    def impressions(self) -> list[np.ndarray]:
        """Rows that one user was shown at one time, in the order of their first."""
        together: dict[tuple[str, float], list[int]] = {}
        for row, of in enumerate(zip(self.users, self.times.tolist(), strict=True)):
            together.setdefault(of, []).append(row)
        return [np.array(rows) for rows in together.values()]


@dataclass(frozen=True)
class Slices:
    """Rows by time: heads are trained on the first, an epoch and the calibration are chosen on the
    second, the last chooses nothing. The second begins at `second`, the last at `last`."""

    train: np.ndarray
    calibration: np.ndarray
    test: np.ndarray
    second: float
    last: float


def slices(exposures: Exposures, shares: tuple[float, float]) -> Slices:
    """`shares`: of the rows before the second slice, and before the last. Rows of one time stay
    together. Errors: InputError where a slice is empty."""
    ordered = np.sort(exposures.times)
    second, last = (float(ordered[min(len(ordered) - 1, int(len(ordered) * share))])
                    for share in shares)
    found = Slices(np.flatnonzero(exposures.times < second),
                   np.flatnonzero((exposures.times >= second) & (exposures.times < last)),
                   np.flatnonzero(exposures.times >= last), second, last)
    for name in ("train", "calibration", "test"):
        if len(getattr(found, name)) == 0:
            raise InputError("--split", f"shares that leave rows to {name}", list(shares))
    return found


def check_outcomes(exposures: Exposures, parts: Slices, weights: np.ndarray) -> None:
    """Errors: InputError where a head has nothing to learn, or the epoch nothing to go by."""
    def weighed(label: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return label[rows][~np.isnan(label[rows]) & (weights[rows] > 0)]

    for name, label in exposures.labels.items():
        found = weighed(label, parts.train)
        if len(found) == 0:
            raise InputError(f"exposures: {name}", "an outcome that weighs in the training slice",
                             "none")
        if (found == found[0]).all():
            raise InputError(f"exposures: {name}", "outcomes that vary in the training slice",
                             f"{found[0]:g} alone")
    if not any(len(weighed(label, parts.calibration)) for label in exposures.labels.values()):
        raise InputError("exposures", "an outcome that weighs in the calibration slice", "none")


def read_exposures(path: Path) -> Exposures:
    """TSV with a header: `user`, `time` (seconds), `item`, a column for each head, maybe `weight`
    and `propensity`."""
    rows = tsv_rows(path, read_text(path))
    _, header = next(rows, ("", []))
    check_once(path, header, header)
    for name in OWN_COLUMNS[:3]:
        if name not in header:
            raise InputError(f"{path} line 1", "columns user, time and item", header)
    heads = [name for name in header if name not in OWN_COLUMNS]
    if not heads:
        raise InputError(f"{path} line 1", "a column for each head", header)
    table: dict[str, list[str]] = {name: [] for name in header}
    for _, row in rows:
        for name, cell in zip(header, row, strict=True):
            table[name].append(cell)
    if not table["user"]:
        raise InputError(str(path), "an exposure", "none")
    count = len(table["user"])
    numbers = {name: _numbers(path, name, table[name], name not in ("time", "weight"))
               for name in header if name not in ("user", "item")}
    _check_bounds(path, numbers, heads)
    items = [item_id_of(item, f"{path} line {row}: item")
             for row, item in enumerate(table["item"], 2)]
    return Exposures(table["user"], numbers["time"], items, {name: numbers[name] for name in heads},
                     numbers.get("weight", np.ones(count)),
                     numbers.get("propensity", np.full(count, np.nan)))


def _numbers(path: Path, name: str, cells: list[str], may_be_empty: bool) -> np.ndarray:
    values = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if cell == "" and may_be_empty:
            continue
        try:
            values[row] = float(cell)
        except ValueError:
            pass
        if not math.isfinite(values[row]):
            raise InputError(f"{path} line {row + 2}: {name}", "a number", cell)
    return values


def _check_bounds(path: Path, numbers: dict[str, np.ndarray], heads: list[str]) -> None:
    bounds = {"weight": (0.0, LARGEST, f"0 or more, at most {LARGEST:g}"),
              "propensity": (1e-12, 1.0, "more than 0, at most 1"),
              **dict.fromkeys(heads, (-LARGEST, LARGEST, f"at most {LARGEST:g} in size"))}
    for name in numbers.keys() & bounds.keys():
        least, most, expected = bounds[name]
        wrong = np.flatnonzero((numbers[name] < least) | (numbers[name] > most))
        if len(wrong):
            raise InputError(f"{path} line {wrong[0] + 2}: {name}", expected,
                             float(numbers[name][wrong[0]]))


def parse_heads(given: list[str]) -> dict[str, list[str]]:
    """Actions by head, of `click` or `purchase=purchase,order`."""
    heads = {}
    for text in given:
        name, _, actions = text.partition("=")
        heads[name] = (actions or name).split(",")
    return heads


def read_facts(folder: Path, heads: dict[str, list[str]], impression: str
               ) -> tuple[Exposures, Users]:
    """Impressions of the facts in a folder, each with 1 of a head where its user did one of the
    head's actions on the item of the same recall; and users by pseudonym, whose histories are the
    same facts. An impression is of the time of its recall, as its prompt was."""
    import duckdb  # of facts alone

    def files(table: str) -> str:
        if not any((folder / table).rglob("*.parquet")):
            raise InputError("--facts", f"a folder with {table}/*.parquet", str(folder))
        path = str(folder / table / "**" / "*.parquet").replace("'", "''")
        return f"read_parquet('{path}', union_by_name=true)"

    done = duckdb.sql(f"""
        SELECT user_hash::VARCHAR AS user, epoch_ms(time) / 1000 AS time, item_id, action,
               scene, request_id
        FROM {files("behaviour")} WHERE user_hash <> 0 ORDER BY time""").fetchall()
    recalls = {(request, user): (moment, dict(zip(items, shares or [])), scene)
               for request, user, moment, items, shares, scene in duckdb.sql(f"""
        SELECT request_id, user_hash::VARCHAR, epoch_ms(time) / 1000, item_ids, propensities, scene
        FROM {files("recall_fact")} WHERE code = 'OK' ORDER BY time""").fetchall()}
    outcomes: dict[tuple[str, str, str], set[str]] = {}
    users: Users = {}
    for user, moment, item, action, scene, request in done:
        outcomes.setdefault((user, request, item), set()).add(action)
        users.setdefault(user, User([])).behaviours.append(
            Behaviour(item, moment, action, dict(scene or {}) or NO_SCENE))
    scenes = {(user, moment): dict(scene or {})
              for (_, user), (moment, _, scene) in recalls.items()}
    rows = [(user, *recalls[request, user][:2], item, found)
            for (user, request, item), found in outcomes.items()
            if impression in found and (request, user) in recalls]
    if not rows:
        raise InputError("--facts", f"behaviours {impression!r} of recalls", "none")
    labels = {head: np.array([float(not found.isdisjoint(actions)) for *_, found in rows])
              for head, actions in heads.items()}
    shares = np.array([propensities.get(item, np.nan) for _, _, propensities, item, _ in rows],
                      np.float64)
    return Exposures([row[0] for row in rows], np.array([row[1] for row in rows]),
                     [row[3] for row in rows], labels, np.ones(len(rows)),
                     np.where(shares > 0, shares, np.nan), scenes), users
