"""sentence-transformers' CrossEncoder over a causal model as a peer of relevance: its own
`predict`, which sorts by length and pads batches, and its own score, the log-odds of two labels.
Prompts come as tokens, which takes the place of its tokenizer alone.

The logits that it answers are the log-odds and zero: it gives no others.

stdin: {"prompts": [[token]], "labels": [token]} a line; stdout: {"totalMs", "logits": [[number]]}.
usage: relevance_cross_encoder_peer.py MODEL THREADS BATCH float32|bfloat16
"""

import json
import sys
import time

import numpy as np
import torch
from sentence_transformers import CrossEncoder
from sentence_transformers.cross_encoder.modules import LogitScore
from torch import nn
from transformers import AutoModelForCausalLM


class Causal(nn.Module):
    def __init__(self, folder: str, dtype: torch.dtype) -> None:
        super().__init__()
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval()

    def forward(self, features: dict[str, torch.Tensor], **_: object) -> dict[str, torch.Tensor]:
        out = self.model(**features, use_cache=False, logits_to_keep=1)
        return {**features, "causal_logits": out.logits}


class OfTokens(CrossEncoder):
    num_labels = 1

    def preprocess(self, inputs: list, **_: object) -> dict[str, torch.Tensor]:
        """Padded on the left, as its own modules do for causal models."""
        rows = [row for row, in inputs]
        most = max(len(row) for row in rows)
        tokens = torch.zeros(len(rows), most, dtype=torch.long)
        mask = torch.zeros(len(rows), most, dtype=torch.long)
        for i, row in enumerate(rows):
            tokens[i, most - len(row):] = torch.from_numpy(row)
            mask[i, most - len(row):] = 1
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        return {"input_ids": tokens, "attention_mask": mask, "position_ids": positions}


def main() -> None:
    folder, threads, batch, dtype = sys.argv[1:]
    torch.set_num_threads(int(threads))
    causal = Causal(folder, getattr(torch, dtype))
    scored: dict[tuple[int, int], CrossEncoder] = {}
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        yes, no = asked["labels"]
        if (yes, no) not in scored:
            modules = [causal, LogitScore(yes, no)]
            scored[yes, no] = OfTokens(modules=modules, activation_fn=nn.Identity(), device="cpu")
        prompts = [[np.array(prompt)] for prompt in asked["prompts"]]
        start = time.perf_counter()
        scores = scored[yes, no].predict(prompts, batch_size=int(batch), show_progress_bar=False)
        total = time.perf_counter() - start
        logits = [[float(score), 0.0] for score in scores.reshape(-1)]
        print(json.dumps({"totalMs": 1000 * total, "logits": logits}), flush=True)


main()
