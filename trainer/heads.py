"""Heads as the service reads them (`ranking.json` and `heads.safetensors`,
docs/integrate/ranking.md), and their answers: sums in double precision over float32 weights and
inputs, as the engine's."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional

from .checkpoint import write_json

FILES = ("ranking.json", "heads.safetensors")
#: Platt's map sees nothing nearer to 0 and 1: their logits have no end.
LEAST_PROBABILITY = 1e-7

ACTIVATIONS = {"sigmoid": torch.sigmoid, "identity": lambda value: value, "exp": torch.exp,
               "softplus": functional.softplus}
HIDDEN_ACTIVATIONS = {"relu": torch.relu, "gelu": functional.gelu, "silu": functional.silu,
                      "tanh": torch.tanh}
FUNCTIONS = {"identity": lambda value: value, "log": np.log, "log1p": np.log1p}


@dataclass(frozen=True)
class Attribute:
    """A number of an item beside the hidden state: `(f(v) - mean) / deviation`, `default` where the
    item has none, or `f` has none of it."""

    name: str
    function: str = "identity"
    mean: float = 0.0
    deviation: float = 1.0
    default: float = 0.0

    def inputs(self, values: np.ndarray) -> np.ndarray:
        """Of float64 values, NaN where an item has none."""
        with np.errstate(invalid="ignore", divide="ignore"):
            found = (FUNCTIONS[self.function](values) - self.mean) / self.deviation
        return np.where(np.isfinite(found), found, self.default)


@dataclass(frozen=True)
class Head:
    """`layers`: weight [out, in] and bias [out] of each; the last has one output. `calibration`:
    {}, {"platt": [a, b]} or {"isotonic": {"x", "y"}}. `score_weight`: of the recall's score, which
    is added to the last layer's number of a sigmoid."""

    name: str
    layers: list[tuple[torch.Tensor, torch.Tensor]]
    activation: str = "sigmoid"
    hidden_activation: str = "gelu"
    calibration: dict[str, Any] = field(default_factory=dict)
    score_weight: float = 0.0

    def raw(self, inputs: torch.Tensor, scores: np.ndarray | None = None) -> torch.Tensor:
        """Answers of the activation, not calibrated: (items,) of (items, width)."""
        value = inputs
        for place, (weight, bias) in enumerate(self.layers):
            value = functional.linear(value, weight.to(value.dtype), bias.to(value.dtype))
            if place < len(self.layers) - 1:
                value = HIDDEN_ACTIVATIONS[self.hidden_activation](value)
        number = value[:, 0]
        if self.score_weight and scores is not None:
            number = number + self.score_weight * torch.as_tensor(scores, dtype=number.dtype)
        return ACTIVATIONS[self.activation](number)

    def document(self) -> dict[str, Any]:
        inner = [weight.shape[0] for weight, _ in self.layers[:-1]]
        hidden = {"hidden": inner, "hiddenActivation": self.hidden_activation} if inner else {}
        calibration = {"calibration": self.calibration} if self.calibration else {}
        score = {"scoreWeight": self.score_weight} if self.score_weight else {}
        return {"name": self.name, **hidden, "activation": self.activation, **calibration, **score}


def calibrated(raw: np.ndarray, calibration: dict[str, Any]) -> np.ndarray:
    """Answers of a head."""
    if "platt" in calibration:
        slope, shift = calibration["platt"]
        known = np.clip(raw, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        return 1 / (1 + np.exp(-(slope * np.log(known / (1 - known)) + shift)))
    if "isotonic" in calibration:
        knots = calibration["isotonic"]
        return np.interp(raw, knots["x"], knots["y"])
    return raw


@dataclass(frozen=True)
class Ranking:
    """One version's heads, and how items are read behind the prompt."""

    name: str
    heads: list[Head]
    attributes: list[Attribute] = field(default_factory=list)
    item: str = "{sid}"
    max_item_tokens: int = 32
    model: str | None = None

    def inputs(self, hidden: np.ndarray, values: dict[str, np.ndarray]) -> torch.Tensor:
        """Hidden states, and each attribute beside them, in float32."""
        columns = [one.inputs(values[one.name])[:, None] for one in self.attributes]
        return torch.tensor(np.concatenate([hidden, *columns], axis=1), dtype=torch.float32)

    def answers(self, hidden: np.ndarray, values: dict[str, np.ndarray],
                scores: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Of each head, in double precision; `scores` of the recall, where a head reads them."""
        inputs = self.inputs(hidden, values).double()
        return {head.name: calibrated(head.raw(inputs, scores).numpy(), head.calibration)
                for head in self.heads}

    def save(self, folder: Path, dtype: torch.dtype = torch.float32) -> None:
        """Errors: OSError. The folder is one to push."""
        folder.mkdir(parents=True, exist_ok=True)
        tensors = {}
        for head in self.heads:
            for place, (weight, bias) in enumerate(head.layers):
                tensors[f"{head.name}.{place}.weight"] = weight.to(dtype).contiguous()
                tensors[f"{head.name}.{place}.bias"] = bias.to(dtype).contiguous()
        save_file(tensors, folder / FILES[1], {"format": "pt"})
        write_json(folder / FILES[0], {
            "version": 1, "name": self.name, **({"model": self.model} if self.model else {}),
            "item": self.item, "maxItemTokens": self.max_item_tokens,
            "attributes": [vars(one) for one in self.attributes],
            "heads": [head.document() for head in self.heads]})


def read_ranking(folder: Path) -> Ranking:
    """A folder that `save` wrote; the service checks others."""
    document = json.loads((folder / FILES[0]).read_text())
    tensors = load_file(folder / FILES[1])
    heads = []
    for one in document["heads"]:
        layers = [(tensors[f"{one['name']}.{place}.weight"].float(),
                   tensors[f"{one['name']}.{place}.bias"].float())
                  for place in range(len(one.get("hidden", [])) + 1)]
        heads.append(Head(one["name"], layers, one["activation"],
                          one.get("hiddenActivation", "gelu"), one.get("calibration", {}),
                          one.get("scoreWeight", 0.0)))
    return Ranking(document["name"], heads, [Attribute(**one) for one in document["attributes"]],
                   document["item"], document["maxItemTokens"], document.get("model"))
