"""Heads that learn from exposures: over hidden states of a frozen model, or with an adapter; and
their calibration on a later slice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from torch import nn
from torch.nn import functional
from tqdm import tqdm

from .errors import InputError
from .heads import HIDDEN_ACTIVATIONS, LEAST_PROBABILITY, Head, calibrated
from .item_states import Impression, Reader, readings

#: Rows of a step over hidden states that are known.
STEP_ROWS = 1024
#: In which a kind of calibration is chosen.
USER_FOLDS = 10
#: Bins of equal mass whose means an isotonic map is fitted to: fewer rows say little.
ISOTONIC_BINS = 40


@dataclass(frozen=True)
class HeadPlan:
    """How heads are trained; `hidden`: sizes of their inner layers."""

    hidden: tuple[int, ...]
    activation: str
    epochs: int
    patience: int
    lr: float
    dropout: float
    weight_decay: float
    seed: int


@dataclass(frozen=True)
class Targets:
    """All rows: attributes (rows, attributes), and of each head labels (NaN: not known), scaled
    where they are no outcomes of 0 or 1, and weights of the loss. `scores`: of the recall, where
    heads read them."""

    attributes: torch.Tensor
    labels: dict[str, torch.Tensor]
    is_binary: dict[str, bool]
    weights: torch.Tensor
    task_weights: dict[str, float]
    scores: torch.Tensor | None = None

    @property
    def scored(self) -> list[str]:
        """Heads that read scores: those of outcomes of 0 and 1."""
        return [name for name in self.labels if self.scores is not None and self.is_binary[name]]

    def scores_of(self, rows: torch.Tensor) -> torch.Tensor | None:
        return None if self.scores is None else self.scores[rows]

    def loss(self, answers: dict[str, torch.Tensor], rows: torch.Tensor) -> torch.Tensor:
        """Weighted mean of each head, summed over heads."""
        total = torch.zeros(())
        for name, logits in answers.items():
            label = self.labels[name][rows]
            known = ~label.isnan()
            weight = self.weights[rows][known]
            if not known.any() or weight.sum() == 0:
                continue
            of = (functional.binary_cross_entropy_with_logits if self.is_binary[name]
                  else functional.mse_loss)
            each = of(logits[known], label[known], reduction="none")
            total = total + self.task_weights[name] * (each * weight).sum() / weight.sum()
        return total


class HeadNetworks(nn.Module):
    """A network of each head over [hidden, attributes], which it normalises."""

    def __init__(self, names: Sequence[str], states: torch.Tensor, plan: HeadPlan,
                 scored: Sequence[str] = ()) -> None:
        """`states`: some inputs, to normalise by; `scored`: names of heads that read scores."""
        super().__init__()
        self.plan = plan
        self.register_buffer("mean", states.mean(0))
        self.register_buffer("deviation", states.std(0).clamp(min=1e-3))
        sizes = [states.shape[1], *plan.hidden, 1]
        # Head names may have dots, which modules' may not.
        self.names = list(names)
        self.layers = nn.ModuleList(
            nn.ModuleList(nn.Linear(into, out) for into, out in zip(sizes, sizes[1:]))
            for _ in names)
        # A head begins as the score alone: what its network adds is a correction of it.
        self.scored = list(scored)
        self.score_weights = nn.Parameter(torch.ones(len(self.scored)))

    def forward(self, inputs: torch.Tensor, scores: torch.Tensor | None = None
                ) -> dict[str, torch.Tensor]:
        found = {name: self._run(layers, (inputs - self.mean) / self.deviation)
                 for name, layers in zip(self.names, self.layers, strict=True)}
        for name, weight in zip(self.scored, self.score_weights, strict=True):
            found[name] = found[name] + weight * scores
        return found

    def _run(self, layers, value: torch.Tensor) -> torch.Tensor:
        for layer in layers[:-1]:
            value = HIDDEN_ACTIVATIONS[self.plan.activation](layer(value))
            value = functional.dropout(value, self.plan.dropout, self.training)
        return layers[-1](value)[:, 0]

    @torch.no_grad()
    def heads(self, targets: Targets, scales: dict[str, tuple[float, float]]) -> list[Head]:
        """As the service reads them: what normalises the inputs, and what scales the labels (mean
        and deviation), is in the weights."""
        found = []
        score_weights = dict(zip(self.scored, self.score_weights.tolist(), strict=True))
        for name, layers in zip(self.names, self.layers, strict=True):
            pairs = [(layer.weight.double(), layer.bias.double()) for layer in layers]
            weight, bias = pairs[0]
            weight = weight / self.deviation.double()
            pairs[0] = (weight, bias - weight @ self.mean.double())
            mean, deviation = scales.get(name, (0.0, 1.0))
            weight, bias = pairs[-1]
            pairs[-1] = (weight * deviation, bias * deviation + mean)
            found.append(Head(name, [(one.float(), other.float()) for one, other in pairs],
                              "sigmoid" if targets.is_binary[name] else "identity",
                              self.plan.activation,
                              score_weight=score_weights.get(name, 0.0)))
        return found


def _fit(networks: HeadNetworks, others: list[nn.Parameter], plan: HeadPlan,
         steps: Callable[[np.random.Generator], list[Callable[[], torch.Tensor]]],
         validate: Callable[[], float], keep: Callable[[], Callable[[], None]]) -> list[float]:
    """Epochs of steps (each gives a loss) until `patience` of them were no better on the
    validation; the best state of what learns is put back. Returns losses of the validation."""
    own = list(networks.parameters())
    optimizer = torch.optim.AdamW([{"params": own, "weight_decay": plan.weight_decay},
                                   {"params": others, "weight_decay": 0.0}], lr=plan.lr)
    rng = np.random.default_rng(plan.seed)
    curve: list[float] = []
    back = keep()
    for epoch in range(plan.epochs):
        networks.train()
        for step in tqdm(steps(rng), desc=f"epoch {epoch + 1}", leave=False, disable=None):
            loss = step()
            if not loss.requires_grad:
                continue  # no label of the rows is known
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(own + others, 1.0)
            optimizer.step()
        networks.eval()
        with torch.no_grad():
            curve.append(validate())
        if not np.isfinite(curve[-1]):
            raise InputError("--lr", "a rate by which the loss stays a number",
                             f"loss {curve[-1]} in epoch {epoch + 1}")
        if min(curve) == curve[-1]:
            back = keep()
        if len(curve) - int(np.argmin(curve)) > plan.patience:
            break
    back()
    if int(np.argmin(curve)) == plan.epochs - 1 > 0:
        print(f"heads: the validation loss still fell in the last of {plan.epochs} epochs "
              f"({curve[-2]:.4f} -> {curve[-1]:.4f}): more epochs may help", flush=True)
    return curve


def _keeper(modules: list[nn.Module]) -> Callable[[], Callable[[], None]]:
    """Keeps what learns of modules, and gives the function that puts it back."""
    def keep() -> Callable[[], None]:
        state = [(value, value.detach().clone()) for module in modules
                 for value in module.parameters() if value.requires_grad]

        def back() -> None:
            with torch.no_grad():
                for value, kept in state:
                    value.copy_(kept)
        return back
    return keep


def train_on_states(states: torch.Tensor, targets: Targets, train: np.ndarray, later: np.ndarray,
                    names: Sequence[str], plan: HeadPlan) -> tuple[HeadNetworks, list[float]]:
    """Over hidden states that are known of all rows."""
    torch.manual_seed(plan.seed)
    inputs = torch.cat([states, targets.attributes], 1)
    networks = HeadNetworks(names, inputs[train], plan, targets.scored)

    def steps(rng: np.random.Generator):
        order = rng.permutation(train)
        parts = [torch.from_numpy(order[begin:begin + STEP_ROWS])
                 for begin in range(0, len(order), STEP_ROWS)]
        return [lambda rows=rows: loss(rows) for rows in parts]

    def loss(rows: torch.Tensor) -> torch.Tensor:
        return targets.loss(networks(inputs[rows], targets.scores_of(rows)), rows)

    curve = _fit(networks, [], plan, steps, lambda: float(loss(torch.from_numpy(later))),
                 _keeper([networks]))
    return networks, curve


def train_with_adapter(reader: Reader, impressions: dict[str, list[Impression]], pad: int,
                       first_states: torch.Tensor, targets: Targets, names: Sequence[str],
                       plan: HeadPlan) -> tuple[HeadNetworks, list[float]]:
    """Heads and factors together. `impressions`: of the slices "train" and "calibration";
    `first_states`: of rows of the first, of the model without the adapter, to normalise by."""
    torch.manual_seed(plan.seed)
    networks = HeadNetworks(names, first_states, plan, targets.scored)
    factors = [value for value in reader.model.parameters() if value.requires_grad]

    def answers(reading) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        rows = torch.from_numpy(reading.rows)
        inputs = torch.cat([reader.last_states(reading), targets.attributes[rows]], 1)
        return networks(inputs, targets.scores_of(rows)), rows

    def steps(rng: np.random.Generator):
        reader.model.train()
        return [lambda reading=reading: targets.loss(*answers(reading))
                for reading in readings(impressions["train"], pad, rng)]

    def validate() -> float:
        reader.model.eval()
        found = [answers(reading) for reading in readings(impressions["calibration"], pad)]
        together = {name: torch.cat([one[name] for one, _ in found]) for name in names}
        return float(targets.loss(together, torch.cat([rows for _, rows in found])))

    curve = _fit(networks, factors, plan, steps, validate, _keeper([networks, reader.model]))
    reader.model.eval()
    return networks, curve


def calibration_of(kind: str, raw: np.ndarray, label: np.ndarray) -> dict[str, object]:
    """Platt's or an isotonic map of probabilities, fitted to known labels; {} where they are all
    alike."""
    known = ~np.isnan(label)
    raw, label = raw[known].astype(np.float64), label[known]
    if kind == "none" or len(set(label.tolist())) < 2:
        return {}
    if kind == "platt":
        clipped = np.clip(raw, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        logits = np.log(clipped / (1 - clipped))[:, None]
        fitted = LogisticRegression(C=np.inf).fit(logits, label)
        return {"platt": [float(fitted.coef_[0, 0]), float(fitted.intercept_[0])]}
    bins = np.array_split(np.argsort(raw, kind="stable"), min(ISOTONIC_BINS, len(raw)))
    # Half an outcome of each kind more: no chance is 0 or 1, and its logarithm is a number.
    fitted = IsotonicRegression().fit(
        [raw[rows].mean() for rows in bins],
        [(label[rows].sum() + 0.5) / (len(rows) + 1) for rows in bins],
        [len(rows) for rows in bins])
    x, places = np.unique(fitted.X_thresholds_, return_index=True)
    return {"isotonic": {"x": x.tolist(), "y": fitted.y_thresholds_[places].tolist()}}


def chosen_calibration(raw: np.ndarray, label: np.ndarray, users: Sequence[str]) -> str:
    """The kind whose maps, fitted to other users, lower the log loss the most; "none" where that is
    less than a standard error, by users: a slice of few users has their tastes, and a map of it
    too."""
    known = ~np.isnan(label)
    raw, label = raw[known], label[known]
    numbers = np.unique(np.array(users)[known], return_inverse=True)[1]
    before = _log_losses(raw, label)
    best, most = "none", 0.0
    for kind in ("platt", "isotonic"):
        gains = np.zeros(len(label))
        for fold in range(USER_FOLDS):
            own = numbers % USER_FOLDS == fold
            found = calibration_of(kind, raw[~own], label[~own])
            gains[own] = before[own] - _log_losses(calibrated(raw[own], found), label[own])
        by_user = np.bincount(numbers, gains)
        if by_user.sum() > max(most, np.sqrt((by_user ** 2).sum())):
            best, most = kind, float(by_user.sum())
    return best


def _log_losses(answer: np.ndarray, label: np.ndarray) -> np.ndarray:
    clipped = np.clip(answer, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return -(label * np.log(clipped) + (1 - label) * np.log(1 - clipped))


def with_calibration(head: Head, kind: str, raw: np.ndarray, label: np.ndarray,
                     users: Sequence[str]) -> Head:
    """`kind`: of a map, or "auto". Heads that are no probabilities have none. Of a head that reads
    scores the map is in the weights, and Platt's."""
    if head.activation != "sigmoid":
        return head
    if kind == "auto":
        kind = chosen_calibration(raw, label, users)
        print(f"{head.name}: calibration {kind}")
    if head.score_weight == 0 or kind == "none":
        return replace(head, calibration=calibration_of(kind, raw, label))
    slope, shift = calibration_of("platt", raw, label).get("platt", (1.0, 0.0))
    weight, bias = head.layers[-1]
    return replace(head, layers=[*head.layers[:-1], (weight * slope, bias * slope + shift)],
                   score_weight=head.score_weight * slope)

