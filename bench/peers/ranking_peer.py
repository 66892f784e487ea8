"""transformers on PyTorch as a peer of ranking: the hidden state of each item's last token behind
one prompt, which is computed once, in two ways.

`packed` is the best known use of the library: items in one row behind the prompt's keys and values,
by a mask each item sees the prompt and itself alone. `batched` repeats the keys and values for a
batch of items, as `batch_repeat_interleave` does.

stdin: {"prompt": [token], "items": [[token]]} a line; stdout: {"totalMs", "heads": [number]}.
usage: ranking_peer.py MODEL THREADS packed|batched
"""

import json
import sys
import time

import torch
from transformers import AutoModel, DynamicCache

PACKED_ITEMS = 250
BATCHED_ITEMS = 50


def packed(model, cache, length: int, items: list[list[int]]) -> torch.Tensor:
    """Hidden states of last tokens; the cache is as before afterwards."""
    tokens = torch.tensor([token for item in items for token in item])
    sizes = torch.tensor([len(item) for item in items])
    of = torch.repeat_interleave(torch.arange(len(items)), sizes)
    first = torch.repeat_interleave(sizes.cumsum(0) - sizes, sizes)
    at = torch.arange(len(tokens))
    sees = (of[:, None] == of[None, :]) & (at[None, :] <= at[:, None])
    sees = torch.cat([torch.ones(len(tokens), length, dtype=torch.bool), sees], 1)
    mask = torch.zeros(sees.shape, dtype=model.dtype).masked_fill(~sees, float("-inf"))
    out = model(
        tokens[None], attention_mask=mask[None, None], position_ids=(length + at - first)[None],
        past_key_values=cache, use_cache=True,
    )
    cache.crop(-len(tokens))
    return out.last_hidden_state[0, sizes.cumsum(0) - 1]


def batched(model, cache, length: int, items: list[list[int]]) -> torch.Tensor:
    own = DynamicCache(config=model.config)
    size = (len(items), -1, -1, -1)
    for layer, kept in enumerate(cache.layers):
        own.update(kept.keys.expand(size), kept.values.expand(size), layer)
    positions = torch.arange(length, length + len(items[0]))[None].expand(len(items), -1)
    out = model(torch.tensor(items), position_ids=positions, past_key_values=own, use_cache=True)
    return out.last_hidden_state[:, -1]


def main() -> None:
    folder, threads, way = sys.argv[1:]
    torch.set_num_threads(int(threads))
    model = AutoModel.from_pretrained(folder, dtype=torch.bfloat16).eval()
    head = torch.ones(model.config.hidden_size, dtype=torch.bfloat16)
    rank, size = (packed, PACKED_ITEMS) if way == "packed" else (batched, BATCHED_ITEMS)
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        start = time.perf_counter()
        with torch.inference_mode():
            cache = DynamicCache(config=model.config)
            model(torch.tensor([asked["prompt"]]), past_key_values=cache)
            length, items = len(asked["prompt"]), asked["items"]
            parts = [
                rank(model, cache, length, items[first:first + size]) @ head
                for first in range(0, len(items), size)
            ]
            heads = torch.cat(parts).sigmoid().float()
        total = time.perf_counter() - start
        print(json.dumps({"totalMs": 1000 * total, "heads": heads.tolist()}), flush=True)


main()
