"""The card's ceilings through PyTorch: a large product in BF16, a copy, a copy from the host.

stdout: {"card", "results"}: operations and bytes (of the copy within the card read and written) a
second, on random values.
usage: card_ceilings.py cpu|cuda SIDE COPY_MIB ROUNDS
"""

import json
import sys

import torch
from card_timer import Timer, card_name


def main() -> None:
    device, side, mebibytes, rounds = sys.argv[1], *map(int, sys.argv[2:])
    timer = Timer(device, rounds)
    with torch.inference_mode():
        a, b = (torch.randn(side, side, device=device).bfloat16() for _ in range(2))
        product = torch.empty_like(a)
        seconds = 1e-6 * timer.median(lambda: torch.mm(a, b.T, out=product))
        source = torch.randn(mebibytes << 18, device=device)
        target = torch.empty_like(source)
        copying = 1e-6 * timer.median(lambda: target.copy_(source))
        host = source.cpu()
        pinned = host.pin_memory() if device == "cuda" else host
        linked = 1e-6 * timer.median(lambda: target.copy_(pinned, non_blocking=True))
    size = mebibytes << 20
    lines = [
        (f"peak/product {side} through PyTorch", 2 * side**3 / seconds, "operations/s"),
        ("peak/copy through PyTorch", 2 * size / copying, "bytes/s"),
        ("link/from the host through PyTorch", size / linked, "bytes/s"),
    ]
    results = [{"name": name, "value": value, "unit": unit} for name, value, unit in lines]
    print(json.dumps({"card": card_name(device), "results": results}))


if __name__ == "__main__":
    main()
