"""How a trainer follows: what it learns, how often, and on whom it tries versions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .guards import Limits
from .samples import Sampling


@dataclass(frozen=True)
class Settings:
    """`holder`: under which versions are pushed; `kept`: actions that are learned or that prompts
    show, None: all; `heads`: actions of each; `model`: folder of the base model, `base_learned`:
    ids of behaviours and recalls up to which it has learned them; `canary_seconds`: that a version
    is tried for, by `share` of the users."""

    holder: str
    answers: tuple[str, ...] = ("click", "purchase")
    impression: str = "impression"
    kept: frozenset[str] | None = None
    heads: Mapping[str, Sequence[str]] = field(default_factory=dict)
    limits: Limits = Limits()
    sampling: Sampling = Sampling()
    model: str = ""
    base_learned: tuple[int, int] = (0, 0)
    examples_min: int = 50
    window_hours: float = 48.0
    rows_max: int = 2_000_000
    every_seconds: float = 120.0
    share: float = 0.5
    canary_seconds: float = 60.0
    seed: int = 1

    @property
    def lease_seconds(self) -> int:
        return int(min(3600, max(60, 3 * self.every_seconds)))
