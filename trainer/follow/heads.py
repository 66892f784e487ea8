"""Heads of a version that follows, over the hidden states of the factors just trained."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from ..head_training import HeadPlan, Targets, train_on_states, with_calibration
from ..heads import Ranking
from .labels import Labelled

#: Share of the shown items, the oldest, that is trained on; the rest chooses epoch and calibration.
TRAINED = 0.8
PLAN = HeadPlan((32,), "gelu", 20, 3, 1e-3, 0.1, 0.01, 1)


def train_heads(samples: Sequence[Labelled], states: torch.Tensor, seed: int) -> Ranking:
    """`states`: of the last token of each sample's item."""
    names = list(samples[0].labels)
    labels = {name: np.array([one.labels[name] for one in samples]) for name in names}
    count = len(samples)
    targets = Targets(torch.zeros((count, 0)),
                      {name: torch.tensor(of, dtype=torch.float32) for name, of in labels.items()},
                      dict.fromkeys(names, True), torch.ones(count), dict.fromkeys(names, 1.0))
    cut = max(1, round(TRAINED * count))
    later = np.arange(cut, count)
    networks, _ = train_on_states(states, targets, np.arange(cut), later, names,
                                  replace(PLAN, seed=seed))
    plain = Ranking("main", networks.heads(targets, {}))
    raw = plain.answers(states[later].numpy(), {})
    users = [samples[place].example.user for place in later]
    heads = [with_calibration(head, "platt", raw[head.name], labels[head.name][later], users)
             for head in plain.heads]
    return Ranking("main", heads)
