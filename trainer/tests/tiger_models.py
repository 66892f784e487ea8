"""A served folder as transformers reads it, and its logits, for tests of imports."""

import json
import sys

import torch
from tokenizers import Tokenizer

from trainer.encoder_decoder import load_t5
from trainer.__main__ import main


def run(monkeypatch, source, out, *words):
    """The command's exit code."""
    monkeypatch.setattr(sys, "argv", ["trainer", "import", str(source), "--out", str(out),
                                      *map(str, words)])
    return main()


class Served:
    """A written folder, read by transformers, its prompt made by the template alone."""

    def __init__(self, folder):
        self.model = load_t5(folder, torch.float32)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.prompt = json.loads((folder / "prompt.json").read_text())
        self.config = json.loads((folder / "config.json").read_text())
        self.items = [json.loads(line)
                      for line in (folder / "catalogue.jsonl").read_text().splitlines()]

    def item_text(self, sid):
        return "".join(pattern.format(code=code)
                       for pattern, code in zip(self.prompt["levels"], sid))

    def prompt_tokens(self, history, user=None):
        """Token ids of a history of semantic IDs, oldest first."""
        text = ""
        for segment in self.prompt["segments"]:
            if segment.get("slot") == "user":
                text += f"{segment['before']}{user % segment['bins']}{segment['after']}"
            elif segment.get("slot") == "history":
                shown = history[-segment["maxItems"]:]
                text += "".join(self.item_text(sid) + self.prompt["item"]["suffix"]
                                for sid in shown)
            else:
                text += segment["text"]
        tokens = self.tokenizer.encode(text, add_special_tokens=False).ids
        assert tokens[-1] == self.config["decoder_start_token_id"]
        return tokens

    def level_tokens(self, level, codes):
        return [self.tokenizer.token_to_id(self.prompt["levels"][level].format(code=code))
                for code in range(codes)]

    @torch.no_grad()
    def logits(self, history, sid, user=None):
        """One row per step of the answer, over the vocabulary: the encoder has all but the start
        token, with which the decoder begins."""
        tokens = self.prompt_tokens(history, user)
        answer = self.tokenizer.encode(self.item_text(sid), add_special_tokens=False).ids
        return self.model(input_ids=torch.tensor([tokens[:-1]]),
                          decoder_input_ids=torch.tensor([[tokens[-1], *answer]])).logits[0]
