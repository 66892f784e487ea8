"""The check of a candidate on held-out users, before it is pushed."""

from dataclasses import dataclass

import numpy as np

#: Standard errors that a mean difference must exceed to be one.
SIGNIFICANT = 2.0
#: Of a served version that is to be rolled back: it is looked at in every cycle of every day.
DRIFTED = 3.5


@dataclass(frozen=True)
class Losses:
    """Of each sample of the slice, in its order; `users`: whose it is; `answers`: samples that were
    taken, None: all."""

    users: list[str]
    base: np.ndarray
    parent: np.ndarray
    candidate: np.ndarray
    answers: int | None = None

    @staticmethod
    def none() -> "Losses":
        return Losses([], np.zeros(0), np.zeros(0), np.zeros(0))


@dataclass(frozen=True)
class Difference:
    """Mean of paired differences, and its standard error by users: one user's examples are no
    independent ones. Below 0 is better."""

    mean: float
    error: float

    def is_worse(self, errors: float = SIGNIFICANT) -> bool:
        return self.mean > errors * self.error


@dataclass(frozen=True)
class Verdict:
    """`reason`: why the candidate must not be pushed, "" where it may be. `has_drifted`: the parent
    is worse than the base model, so it should not serve."""

    reason: str
    has_drifted: bool
    figures: dict[str, float]


def difference(ours: np.ndarray, theirs: np.ndarray, users: list[str]) -> Difference:
    each = ours - theirs
    mean = float(each.mean())
    numbers = np.unique(np.array(users), return_inverse=True)[1]
    by_user = np.bincount(numbers, each - mean)
    count = len(by_user)
    wider = count / max(1, count - 1)
    return Difference(mean, float(np.sqrt(wider * (by_user ** 2).sum()) / len(each)))


def judge(losses: Losses, least: int, largest_norm: float, norm_max: float) -> Verdict:
    """`least`: examples of the slice below which nothing is known. `largest_norm`: of a matrix of
    the candidate, of which the service takes at most `norm_max`."""
    count = len(losses.users) if losses.answers is None else losses.answers
    if count < least:
        return Verdict(f"{count} held-out examples, {least} open the gate", False,
                       {"held_out": count})
    figures = {"held_out": count, "base": float(losses.base.mean()),
               "parent": float(losses.parent.mean()),
               "candidate": float(losses.candidate.mean()), "norm": largest_norm}
    if not np.isfinite(losses.candidate).all() or not np.isfinite(largest_norm):
        return Verdict("its loss is not finite", False, figures)
    to_parent = difference(losses.candidate, losses.parent, losses.users)
    to_base = difference(losses.candidate, losses.base, losses.users)
    drift = difference(losses.parent, losses.base, losses.users)
    figures |= {"difference": to_parent.mean, "error": to_parent.error,
                "to_base": to_base.mean, "to_base_error": to_base.error}
    if largest_norm > norm_max:
        reason = f"its largest norm is {largest_norm:.0f}, the service takes {norm_max:.0f}"
    elif to_parent.is_worse():
        reason = f"worse than the version before by {to_parent.mean:.4f}"
    elif to_base.is_worse():
        reason = f"worse than the base model by {to_base.mean:.4f}"
    else:
        reason = ""
    return Verdict(reason, drift.is_worse(DRIFTED), figures)
