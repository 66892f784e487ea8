"""transformers on PyTorch as a peer of relevance: logits of label tokens behind prompts that begin
alike. What all prompts have in common is computed once, its keys and values are repeated for the
batch of what is left of each: the best known use of the library.

stdin: {"prompts": [[token]], "labels": [token]} a line; stdout: {"totalMs", "logits": [[number]]}.
usage: relevance_peer.py MODEL THREADS float32|bfloat16
"""

import json
import os
import sys
import time

import torch
from transformers import AutoModelForCausalLM, DynamicCache


def common(prompts: list[list[int]]) -> int:
    return len(os.path.commonprefix([prompt[:-1] for prompt in prompts]))


def padded(rows: list[list[int]], before: int) -> tuple[torch.Tensor, ...]:
    """Tokens on the right, the mask of them and of `before` positions, and their positions."""
    most = max(len(row) for row in rows)
    tokens = torch.zeros(len(rows), most, dtype=torch.long)
    mask = torch.zeros(len(rows), before + most, dtype=torch.long)
    mask[:, :before] = 1
    for i, row in enumerate(rows):
        tokens[i, most - len(row):] = torch.tensor(row)
        mask[i, before + most - len(row):] = 1
    return tokens, mask, (mask.cumsum(1) - 1).clamp(min=0)[:, before:]


def main() -> None:
    folder, threads, dtype = sys.argv[1:]
    torch.set_num_threads(int(threads))
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype)).eval()
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        prompts, labels = asked["prompts"], asked["labels"]
        start = time.perf_counter()
        with torch.inference_mode():
            shared = common(prompts)
            cache = None
            if shared > 0:
                cache = DynamicCache(config=model.config)
                model(torch.tensor([prompts[0][:shared]]), past_key_values=cache, logits_to_keep=1)
                cache.batch_repeat_interleave(len(prompts))
            tokens, mask, positions = padded([prompt[shared:] for prompt in prompts], shared)
            out = model(tokens, attention_mask=mask, position_ids=positions,
                        past_key_values=cache, use_cache=cache is not None, logits_to_keep=1)
            logits = out.logits[:, -1, labels].float()
        total = time.perf_counter() - start
        print(json.dumps({"totalMs": 1000 * total, "logits": logits.tolist()}), flush=True)


main()
