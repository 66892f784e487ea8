"""transformers on PyTorch as a peer: constrained beam search in three ways, on one set of weights.

`generate` is what the library offers: beam search with prefix_allowed_tokens_fn. `loop` is what a
user writes who keeps to the library's cache: the prompt once, its keys and values copied to every
beam, one batched pass a step, selection on tensors. `shared` is the best known use of its layers:
the beams read the prompt's keys and values where they are (beams_on_prompt.py).

stdin: a request a line, {"width": W, "tokens": [...]}; stdout: an answer a line, see README.md.
usage: transformers_peer.py MODEL SIDS LEVELS CODES THREADS generate|loop|shared float32|bfloat16
         [cpu|cuda]
Times on a card: card_recall_peer.py.
"""

import json
import sys
import time

import torch
from paths import Paths
from beams_on_prompt import BeamsOnPrompt
from transformers import AutoModelForCausalLM, DynamicCache


class Peer:
    def __init__(
        self, folder: str, paths: Paths, dtype: torch.dtype, device: str = "cpu"
    ) -> None:
        self.paths, self.device = paths, device
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).to(device).eval()

    def clock(self) -> float:
        """Seconds, once the device has done what it was asked for."""
        if self.device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    def generate(self, tokens: list[int], width: int) -> dict:
        prompt = torch.tensor([tokens], device=self.device)
        length = len(tokens)

        def allowed(_row: int, ids: torch.Tensor) -> list[int]:
            level = len(ids) - length
            codes = [int(t) - self.paths.token_base(at) for at, t in enumerate(ids[length:])]
            return self.paths.children(codes, self.paths.token_base(level)).tolist()

        start = self.clock()
        out = self.model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=self.paths.levels,
            num_beams=width,
            num_return_sequences=width,
            do_sample=False,
            length_penalty=0.0,
            prefix_allowed_tokens_fn=allowed,
            return_dict_in_generate=True,
            output_scores=True,
            pad_token_id=0,
            eos_token_id=None,
        )
        total = self.clock() - start
        found = [self.path(row[length:].tolist()) for row in out.sequences]
        scores = out.sequences_scores.tolist()
        rows = [{"score": s, "sid": sid} for s, sid in zip(scores, found, strict=True)]
        return {"totalMs": 1000 * total, "paths": rows}

    def path(self, tokens: list[int]) -> list[int]:
        return [token - self.paths.token_base(level) for level, token in enumerate(tokens)]

    def loop(self, tokens: list[int], width: int) -> dict:
        start = self.clock()
        cache = DynamicCache(config=self.model.config)
        prompt = torch.tensor([tokens], device=self.device)
        out = self.model(prompt, past_key_values=cache, logits_to_keep=1)
        logits = out.logits[:, -1].float()
        prefill = self.clock() - start
        first = logits[0, : self.paths.codes]
        beams, scores, _ = self.select([[]], torch.zeros(1, device=self.device), logits, width)
        cache.reorder_cache(torch.zeros(len(beams), dtype=torch.long, device=self.device))
        decode = 0.0
        for level in range(1, self.paths.levels):
            step = self.clock()
            tokens = [[beam[-1] + self.paths.token_base(level - 1)] for beam in beams]
            last = torch.tensor(tokens, device=self.device)
            logits = self.model(last, past_key_values=cache).logits[:, -1].float()
            decode += self.clock() - step
            beams, scores, parents = self.select(beams, scores, logits, width)
            if level + 1 < self.paths.levels:
                cache.reorder_cache(parents)
        total = self.clock() - start
        rows = [
            {"score": s, "sid": sid} for s, sid in zip(scores.tolist(), beams, strict=True)
        ]
        times = {"prefillMs": 1000 * prefill, "decodeMs": 1000 * decode, "totalMs": 1000 * total}
        return {**times, "firstLogits": first.tolist(), "paths": rows}

    def shared(self, tokens: list[int], width: int) -> dict:
        start = self.clock()
        prompt = BeamsOnPrompt(self.model)
        logits = prompt.prefill(tokens)
        prefill = self.clock() - start
        first = logits[0, : self.paths.codes]
        beams, scores, _ = self.select([[]], torch.zeros(1), logits, width)
        decode = 0.0
        for level in range(1, self.paths.levels):
            step = self.clock()
            base = self.paths.token_base(level - 1)
            logits = prompt.step([beam[-1] + base for beam in beams])
            decode += self.clock() - step
            beams, scores, parents = self.select(beams, scores, logits, width)
            prompt.reorder(parents)
        total = self.clock() - start
        rows = [
            {"score": s, "sid": sid} for s, sid in zip(scores.tolist(), beams, strict=True)
        ]
        times = {"prefillMs": 1000 * prefill, "decodeMs": 1000 * decode, "totalMs": 1000 * total}
        return {**times, "firstLogits": first.tolist(), "paths": rows}

    def select(
        self, beams: list[list[int]], scores: torch.Tensor, logits: torch.Tensor, width: int
    ) -> tuple[list[list[int]], torch.Tensor, torch.Tensor]:
        """The best `width` children of all beams: new beams, their scores, their parents."""
        level = len(beams[0])
        base = self.paths.token_base(level)
        log_probs = torch.log_softmax(logits, -1)
        children = [torch.from_numpy(self.paths.children(beam)) for beam in beams]
        counts = torch.tensor([len(c) for c in children])
        parents = torch.repeat_interleave(counts).to(self.device)
        codes = torch.cat(children).to(self.device)
        candidates = scores[parents] + log_probs[parents, codes + base]
        best = torch.topk(candidates, min(width, len(candidates)))
        kept_parents, kept_codes = parents[best.indices], codes[best.indices]
        pairs = zip(kept_parents.tolist(), kept_codes.tolist(), strict=True)
        return [[*beams[p], c] for p, c in pairs], best.values, kept_parents


def main() -> None:
    folder, sids, levels, codes, threads, way, dtype, *device = sys.argv[1:]
    torch.set_num_threads(int(threads))
    paths = Paths(sids, int(levels), int(codes))
    peer = Peer(folder, paths, getattr(torch, dtype), *device)
    ways = {"generate": peer.generate, "loop": peer.loop, "shared": peer.shared}
    answer = ways[way]
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        with torch.inference_mode():
            print(json.dumps(answer(request["tokens"], request["width"])), flush=True)


if __name__ == "__main__":
    main()
