"""transformers' experts on PyTorch in BF16: a layer of a model's real shape, given choices.

Every way that the library offers for the processor: `eager`, an expert at a time; `grouped_mm`,
one grouped product of PyTorch; `batched_mm`, which copies the weights of every choice and is asked
for one row alone. experts_layer.py says what it is given and prints.
"""

from typing import Callable

import torch
from experts_layer import LAYERS, Asked, Prepare, Shape, measure
from transformers import Qwen3MoeConfig
from transformers.models.qwen3_moe.modeling_qwen3_moe import Qwen3MoeExperts

WAYS = ("eager", "grouped_mm", "batched_mm")


class Experts:
    """The layers of one shape."""

    def __init__(self, shape: Shape) -> None:
        self.config = Qwen3MoeConfig(
            hidden_size=shape.hidden,
            num_experts=shape.experts,
            num_experts_per_tok=shape.chosen,
            moe_intermediate_size=shape.size,
        )
        with torch.device("meta"):
            self.layers = [Qwen3MoeExperts(self.config).bfloat16() for _ in range(LAYERS)]
        for layer in self.layers:
            layer.to_empty(device="cpu")
            for weights in layer.parameters():
                weights.data.copy_(torch.randn(weights.shape[1:]) * 0.02)

    def way(self, name: str) -> Prepare:
        def prepare(
            x: torch.Tensor, chosen: torch.Tensor, weights: torch.Tensor, draw: int
        ) -> Callable[[], object]:
            self.config._experts_implementation = name
            layer, of_type = self.layers[draw % LAYERS], weights.bfloat16()
            return lambda: layer(x, chosen, of_type)

        return prepare


def main() -> None:
    asked = Asked.read()
    torch.set_num_threads(asked.threads)
    experts = Experts(asked.shape)
    names = {f"BF16/transformers {way}": experts.way(way) for way in WAYS}
    with torch.inference_mode():
        measure(asked, names, {"BF16/transformers batched_mm": 1})


if __name__ == "__main__":
    main()
