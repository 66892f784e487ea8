"""transformers' experts on PyTorch in BF16: a layer of a model's real shape, given choices.

Every way that the library offers for the processor: `eager`, an expert at a time; `grouped_mm`,
one grouped product of PyTorch; `batched_mm`, which copies the weights of every choice and is asked
for one row alone. Weights of two layers take turns, so that they come from memory.

stdout: {"results": [{"name": "WAY/ROUTING/ROWS", "value", "unit": "us"}]}
usage: experts_peer.py THREADS SECONDS HIDDEN EXPERTS CHOSEN SIZE ROWS[,ROWS ...]
"""

import json
import statistics
import sys
import time

import torch
from transformers import Qwen3MoeConfig
from transformers.models.qwen3_moe.modeling_qwen3_moe import Qwen3MoeExperts

LAYERS = 2
ROUNDS = 5  # at least
WAYS = ("eager", "grouped_mm", "batched_mm")
ROUTINGS = ("uniform", "Zipf")


class Experts:
    """The layers of one shape."""

    def __init__(self, hidden: int, experts: int, chosen: int, size: int) -> None:
        self.hidden, self.experts, self.chosen = hidden, experts, chosen
        self.config = Qwen3MoeConfig(
            hidden_size=hidden,
            num_experts=experts,
            num_experts_per_tok=chosen,
            moe_intermediate_size=size,
        )
        with torch.device("meta"):
            self.layers = [Qwen3MoeExperts(self.config).bfloat16() for _ in range(LAYERS)]
        for layer in self.layers:
            layer.to_empty(device="cpu")
            for weights in layer.parameters():
                weights.data.copy_(torch.randn(weights.shape[1:]) * 0.02)
        self.draws = 0

    def choices(self, routing: str, rows: int) -> torch.Tensor:
        """Without putting back, all alike or the n-th of a random order 1 / n times as often."""
        self.draws += 1
        random = torch.Generator().manual_seed(self.draws)
        ranks = 1.0 + torch.randperm(self.experts, generator=random)
        waits = torch.empty(rows, self.experts).exponential_(generator=random)
        if routing == "Zipf":
            waits *= ranks
        return waits.topk(self.chosen, largest=False).indices

    def microseconds(self, way: str, routing: str, rows: int) -> float:
        """Of one pass through a layer, choices given."""
        choices = self.choices(routing, rows)
        x = torch.randn(rows, self.hidden).bfloat16()
        weights = torch.full(choices.shape, 1 / self.chosen, dtype=torch.bfloat16)
        self.config._experts_implementation = way
        layer = self.layers[self.draws % LAYERS]
        start = time.perf_counter()
        layer(x, choices, weights)
        return 1e6 * (time.perf_counter() - start)


def measure(experts: Experts, way: str, routing: str, rows: int, seconds: float) -> float:
    """The median of the rounds; the first is not counted."""
    times = []
    experts.microseconds(way, routing, rows)
    end = time.perf_counter() + seconds
    while len(times) < ROUNDS or time.perf_counter() < end:
        times.append(experts.microseconds(way, routing, rows))
    return statistics.median(times)


def main() -> None:
    threads, seconds, hidden, experts, chosen, size, rows = sys.argv[1:]
    torch.set_num_threads(int(threads))
    layers = Experts(int(hidden), int(experts), int(chosen), int(size))
    results = []
    with torch.inference_mode():
        for count in map(int, rows.split(",")):
            for way in WAYS:
                if way == "batched_mm" and count > 1:
                    continue
                for routing in ROUTINGS:
                    value = measure(layers, way, routing, count, float(seconds))
                    name = f"{way}/{routing}/{count}"
                    print(name, round(value), file=sys.stderr)
                    results.append({"name": name, "value": value, "unit": "us"})
    print(json.dumps({"results": results}))


if __name__ == "__main__":
    main()
