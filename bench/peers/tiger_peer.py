"""Encoder-decoders on PyTorch as a peer: a random model of T5's blocks over random semantic IDs,
and the two ways in which its users search.

`generate`: transformers' beam search with a trie of the items (prefix_allowed_tokens_fn).
`compared`: a beam search whose prefixes are compared with the semantic IDs of all items at each
step, all codes of all beams, as the recommendation libraries do that check prefixes.

usage: tiger_peer.py make DIR ITEMS
       tiger_peer.py ask DIR THREADS generate|compared
         stdin: a request a line, {"history": [places of items], "width": W}
         stdout: a line when the model is loaded, then an answer a line, {"ms", "scores"}
"""

import json
import sys
import time
from pathlib import Path

from answers import ANSWERS
import torch
from transformers import T5Config, T5ForConditionalGeneration

sys.path.append(str(Path(__file__).parents[2]))
from trainer.tiger.folder import tokenizer_of  # noqa: E402

LEVELS, CODES, FIRST = 4, 256, 4
START, END, PAD = 0, 1, 2
SHAPE = {"d_model": 256, "d_kv": 64, "d_ff": 1024, "num_heads": 6, "num_layers": 5,
         "num_decoder_layers": 5, "feed_forward_proj": "relu", "dropout_rate": 0.0}
PREFIXES_AT_ONCE = 64


def make(folder: Path, items: int) -> None:
    """A folder that the service serves: 11.4 M parameters."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    texts = ["<start>", "</s>", "<pad>", "<sep>"]
    texts += [f"<{level}_{code}>" for level in "abcd" for code in range(CODES)]
    model = T5ForConditionalGeneration(T5Config(
        vocab_size=len(texts), decoder_start_token_id=START, eos_token_id=END, pad_token_id=PAD,
        tie_word_embeddings=True, **SHAPE))
    model.save_pretrained(folder)
    keys = torch.randperm(CODES ** LEVELS // 256)[:items] * 256 + torch.arange(items) % 256
    with open(folder / "catalogue.jsonl", "w") as lines:
        for place, key in enumerate(keys.tolist()):
            sid = [key // CODES ** level % CODES for level in reversed(range(LEVELS))]
            lines.write(json.dumps({"item_id": str(place), "sid": sid}) + "\n")
    behaviours = [{"item_id": str(place), "time": place} for place in range(25)]
    (folder / "users.json").write_text(json.dumps({"1": {"behaviours": behaviours}}))
    tokenizer = tokenizer_of({text: place for place, text in enumerate(texts)})
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "prompt.json").write_text(json.dumps({
        "version": 1, "name": "tiger", "maxPromptTokens": 300,
        "levels": [f"<{level}_{{code}}>" for level in "abcd"],
        "segments": [{"slot": "history"}, {"text": "</s><start>"}]}))
    print(json.dumps({"parameters": sum(p.numel() for p in model.parameters())}), file=ANSWERS)


class Peer:
    def __init__(self, folder: Path) -> None:
        self.model = T5ForConditionalGeneration.from_pretrained(folder).eval()
        lines = (folder / "catalogue.jsonl").read_text().splitlines()
        self.sids = torch.tensor([json.loads(line)["sid"] for line in lines])
        self.tokens = self.sids + torch.arange(LEVELS) * CODES + FIRST
        self.tree: dict | None = None

    def prompt(self, history: list[int]) -> torch.Tensor:
        return torch.cat([self.tokens[history].reshape(1, -1), torch.tensor([[END]])], 1)

    def generate(self, history: list[int], width: int) -> list[float]:
        if self.tree is None:
            self.tree = {}
            for path in self.tokens.tolist():
                node = self.tree
                for token in path:
                    node = node.setdefault(token, {})

        def allowed(_row: int, written: torch.Tensor) -> list[int]:
            node = self.tree
            for token in written.tolist()[1:]:
                node = node.get(token, {})
            return list(node) or [END]

        prompt = self.prompt(history)
        found = self.model.generate(
            prompt, attention_mask=torch.ones_like(prompt), num_beams=width,
            num_return_sequences=width, max_new_tokens=LEVELS, do_sample=False,
            length_penalty=0.0, prefix_allowed_tokens_fn=allowed, return_dict_in_generate=True,
            output_scores=True)
        return found.sequences_scores.tolist()

    def compared(self, history: list[int], width: int) -> list[float]:
        read = self.model.encoder(input_ids=self.prompt(history))
        prefixes, scores = torch.empty(1, 0, dtype=torch.long), torch.zeros(1)
        for level in range(LEVELS):
            written = prefixes + torch.arange(level) * CODES + FIRST
            start = torch.full((len(written), 1), START)
            hidden = read.last_hidden_state.expand(len(written), -1, -1)
            logits = self.model(encoder_outputs=(hidden,),
                                decoder_input_ids=torch.cat([start, written], 1)).logits[:, -1]
            base = FIRST + level * CODES
            rows = logits.log_softmax(-1)[:, base:base + CODES] + scores[:, None]
            ways = torch.cat([prefixes.repeat_interleave(CODES, 0),
                              torch.arange(CODES).repeat(len(prefixes))[:, None]], 1)
            known = torch.cat([(self.sids[None, :, :level + 1] == part[:, None]).all(-1).any(-1)
                               for part in ways.split(PREFIXES_AT_ONCE)])
            flat = rows.reshape(-1).masked_fill(~known, -torch.inf)
            scores, best = flat.topk(min(width, int(known.sum())))
            prefixes = ways[best]
        return scores.tolist()


@torch.inference_mode()
def ask(folder: Path, threads: int, kind: str) -> None:
    torch.set_num_threads(threads)
    peer = Peer(folder)
    search = {"generate": peer.generate, "compared": peer.compared}[kind]
    search([0], 2)
    print("{}", file=ANSWERS, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        began = time.perf_counter()
        scores = search(asked["history"], asked["width"])
        answer = {"ms": 1000 * (time.perf_counter() - began), "scores": scores}
        print(json.dumps(answer), file=ANSWERS, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        ask(Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
