"""Common parts of the programs that run a layer of experts in Python: draws, clock and the
document of results.

usage of each: PROGRAM THREADS SECONDS HIDDEN EXPERTS CHOSEN SIZE ROWS_MAX
stdout: {"ready": true}, then for each line {"rows": N} of the standard input
        {"results": [{"name": "TYPE/WAY/ROUTING/ROWS", "value", "unit": "us"}]}
"""

import json
import statistics
import sys
import time
from dataclasses import dataclass
from typing import Callable

import torch

LAYERS = 2  # take turns, so that weights come from memory
ROUTINGS = ("uniform", "Zipf")


@dataclass(frozen=True)
class Shape:
    hidden: int
    experts: int
    chosen: int
    size: int


@dataclass(frozen=True)
class Asked:
    threads: int
    seconds: float
    shape: Shape
    rows_max: int

    @staticmethod
    def read() -> "Asked":
        threads, seconds, hidden, experts, chosen, size, rows_max = sys.argv[1:]
        shape = Shape(int(hidden), int(experts), int(chosen), int(size))
        return Asked(int(threads), float(seconds), shape, int(rows_max))


def choices(shape: Shape, routing: str, rows: int, draw: int) -> torch.Tensor:
    """Without putting back, all alike or the n-th of a random order 1 / n times as often."""
    random = torch.Generator().manual_seed(draw)
    ranks = 1.0 + torch.randperm(shape.experts, generator=random)
    waits = torch.empty(rows, shape.experts).exponential_(generator=random)
    if routing == "Zipf":
        waits *= ranks
    return waits.topk(shape.chosen, largest=False).indices


# Runs layer `draw % LAYERS` over rows with given choices; what is timed is the call it returns.
Prepare = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, int], Callable[[], object]]


def measure(asked: Asked, names: dict[str, Prepare], rows_max: dict[str, int]) -> None:
    """Answers each request with the median of each way's runs, of which the first is not counted.
    A way is left out beyond its `rows_max`."""
    draw = 0

    def microseconds(prepare: Prepare, routing: str, rows: int) -> float:
        nonlocal draw
        draw += 1
        chosen = choices(asked.shape, routing, rows, draw)
        x = torch.randn(rows, asked.shape.hidden).bfloat16()
        run = prepare(x, chosen, torch.full(chosen.shape, 1 / asked.shape.chosen), draw)
        start = time.perf_counter()
        run()
        return 1e6 * (time.perf_counter() - start)

    def median(prepare: Prepare, routing: str, rows: int) -> float:
        microseconds(prepare, routing, rows)
        times: list[float] = []
        end = time.perf_counter() + asked.seconds
        while not times or time.perf_counter() < end:
            times.append(microseconds(prepare, routing, rows))
        return statistics.median(times)

    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        rows = int(json.loads(line)["rows"])
        results = [
            {
                "name": f"{name}/{routing}/{rows}",
                "value": median(prepare, routing, rows),
                "unit": "us",
            }
            for name, prepare in names.items()
            if rows <= rows_max.get(name, rows)
            for routing in ROUTINGS
        ]
        print(json.dumps({"results": results}), flush=True)
