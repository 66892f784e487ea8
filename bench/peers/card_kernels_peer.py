"""Products of a layer by cuBLAS and attention of a prompt, through PyTorch in BF16.

Each product has fresh weights from call to call, as in a pass: the card's cache has none of them.
stdout: {"card", "results"}, microseconds, under the names of native/bench/card's kernels.
usage: card_kernels_peer.py cpu|cuda SHAPE HIDDEN,HEADS,KV_HEADS,INNER ROWS CONTEXTS WIDTH ROUNDS
"""

import json
import sys

import torch
from card_timer import Timer, card_name
from torch.nn.functional import scaled_dot_product_attention

HEAD_DIM = 128
CACHE_BYTES = 256 << 20  # several times what cards keep of what they have read
COPIES_MAX = 64


def products_of(hidden: int, heads: int, kv_heads: int, inner: int) -> dict[str, tuple[int, int]]:
    """Columns and k by name."""
    return {
        "qkv": ((heads + 2 * kv_heads) * HEAD_DIM, hidden),
        "o": (hidden, heads * HEAD_DIM),
        "gate_up": (2 * inner, hidden),
        "down": (hidden, inner),
    }


def product_us(timer: Timer, device: str, rows: int, columns: int, k: int) -> float:
    copies = max(1, min(COPIES_MAX, CACHE_BYTES // (2 * columns * k))) if timer.is_card else 1
    x = torch.randn(rows, k, device=device).bfloat16()
    w = torch.randn(copies, columns, k, device=device).bfloat16()
    y = torch.empty(rows, columns, device=device, dtype=torch.bfloat16)
    return timer.chain(lambda call: torch.mm(x, w[call].T, out=y), copies)


def attention_us(
    timer: Timer, device: str, heads: int, kv_heads: int, rows: int, context: int
) -> float:
    """A prompt's where there are as many rows as tokens, else that of beams that see all of it."""
    of_heads = [(heads, rows), (kv_heads, context), (kv_heads, context)]
    q, k, v = (
        torch.randn(1, count, length, HEAD_DIM, device=device).bfloat16()
        for count, length in of_heads
    )

    def attend(_call: int) -> None:
        scaled_dot_product_attention(q, k, v, is_causal=rows == context, enable_gqa=True)

    return timer.chain(attend, 1)


def main() -> None:
    device, shape, sizes, rows, contexts, width, rounds = sys.argv[1:]
    hidden, heads, kv_heads, inner = map(int, sizes.split(","))
    timer = Timer(device, int(rounds))
    lines = []
    with torch.inference_mode():
        for name, (columns, k) in products_of(hidden, heads, kv_heads, inner).items():
            for count in map(int, rows.split(",")):
                value = product_us(timer, device, count, columns, k)
                lines.append((f"product {name}/{count}x{columns}x{k}", value))
        for context in map(int, contexts.split(",")):
            for what, count in (("prompt", context), (f"{width} beams", int(width))):
                value = attention_us(timer, device, heads, kv_heads, count, context)
                lines.append((f"attention {what}/context {context}", value))
    results = [
        {"name": f"PyTorch/{shape}/{name}", "value": value, "unit": "us"} for name, value in lines
    ]
    print(json.dumps({"card": card_name(device), "results": results}))


if __name__ == "__main__":
    main()
