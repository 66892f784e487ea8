"""The card's ceilings through PyTorch: a large product in BF16 and a copy, on random values.

stdout: {"card", "results"}, operations and bytes (read and written) a second.
usage: card_ceilings.py cpu|cuda SIDE COPY_MIB ROUNDS
"""

import json
import sys

import torch
from sparse_constraint_peer import Timer


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
    lines = [
        {
            "name": f"peak/product {side} through PyTorch",
            "value": 2 * side**3 / seconds,
            "unit": "operations/s",
        },
        {
            "name": "peak/copy through PyTorch",
            "value": 2 * (mebibytes << 20) / copying,
            "unit": "bytes/s",
        },
    ]
    card = torch.cuda.get_device_name() if device == "cuda" else "this machine's processor"
    print(json.dumps({"card": card, "results": lines}))


if __name__ == "__main__":
    main()
