"""ktransformers' experts (kt-kernel): a layer of a model's real shape, given choices.

The classes that its wheel has for BF16 weights and for INT8 weights with a scale per output;
without a tile unit its "AMX" classes compute with AVX-512. experts_layer.py says what
it is given and prints.
"""

import os
import sys
from typing import Callable

import torch
from experts_layer import LAYERS, Asked, Prepare, Shape, measure
from kt_kernel import kt_kernel_ext as kt

ROW_STEP = 32  # of the INT8 class

# Class of the wheel, by the type and the way that results are named for.
CLASSES = {
    "BF16/kt-kernel amx_bf16": "AMXBF16_MOE",
    "BF16/kt-kernel avx2_bf16": "AVX2BF16_MOE",
    "INT8/kt-kernel amx_int8": "AMXInt8_MOE",
}


class Layers:
    """The layers of one class. All are packed from the same values, each into its own memory."""

    def __init__(self, name: str, pool: kt.CPUInfer, shape: Shape, rows_max: int) -> None:
        def weights(*sizes: int) -> torch.Tensor:
            of_one = torch.randn(sizes).mul_(0.02).bfloat16()
            return of_one.expand(shape.experts, *sizes).contiguous()

        self.pool, self.shape = pool, shape
        gate, up = weights(shape.size, shape.hidden), weights(shape.size, shape.hidden)
        down = weights(shape.hidden, shape.size)
        order = torch.arange(shape.experts)
        self.kept = (gate, up, down, order)
        self.layers = []
        for _ in range(LAYERS):
            config = kt.moe.MOEConfig(shape.experts, shape.chosen, shape.hidden, shape.size, 0)
            config.max_len = (rows_max + ROW_STEP - 1) // ROW_STEP * ROW_STEP
            config.gate_proj, config.up_proj = gate.data_ptr(), up.data_ptr()
            config.down_proj = down.data_ptr()
            config.pool = pool.backend_
            layer = getattr(kt.moe, name)(config)
            pool.submit(layer.load_weights_task(order.data_ptr()))
            pool.sync()
            self.layers.append(layer)

    def prepare(
        self, x: torch.Tensor, chosen: torch.Tensor, weights: torch.Tensor, draw: int
    ) -> Callable[[], object]:
        rows = torch.tensor([len(x)], dtype=torch.int32)
        chosen, output = chosen.contiguous(), torch.empty_like(x)
        layer = self.layers[draw % LAYERS]

        def run() -> None:
            task = layer.forward_task(
                rows.data_ptr(),
                self.shape.chosen,
                chosen.data_ptr(),
                weights.data_ptr(),
                x.data_ptr(),
                output.data_ptr(),
                False,
            )
            self.pool.submit(task)
            self.pool.sync()

        return run


def main() -> None:
    asked = Asked.read()
    # The library talks on the standard output, which is for the results.
    sys.stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    torch.set_num_threads(asked.threads)
    pool = kt.CPUInfer(asked.threads)
    names: dict[str, Prepare] = {}
    for full_name, name in CLASSES.items():
        if hasattr(kt.moe, name):
            names[full_name] = Layers(name, pool, asked.shape, asked.rows_max).prepare
    measure(asked, names, {})


if __name__ == "__main__":
    main()
