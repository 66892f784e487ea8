"""`python -m trainer relevance-fixtures`: a small random model that judges texts, with its answers.

The folder holds a checkpoint with a tokenizer of its own, templates (`*.json`), and cases.json:
`[{template, query, instruction, documents, expected: [score]}]`. Scores are those of transformers
in double precision; of the template of Qwen3-Reranker by the script that its authors publish.
`adapter` holds an adapter as PEFT saves it, and adapter-cases.json the scores with it, by PEFT.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast, Qwen3Config

from .adapter_fixtures import randomise, save_adapter
from .checkpoint import write_json

SEED = 71
FURTHER_QUERIES, DOCUMENTS = 11, 16  # with the first two queries 208 pairs of each template
SHORT_PAIR_TOKENS = 100  # of a query and a document where some documents are cut
WORDS = ("shoes for running in rain light red blue winter jacket cheap phone with a good camera "
         "travel to the sea with children best coffee machine under two hundred").split()
SPECIAL = ["<|im_start|>", "<|im_end|>", "<|endoftext|>"]

PREFIX = ("<|im_start|>system\nJudge whether the Document meets the requirements based on the "
          "Query and the Instruct provided. Note that the answer can only be \"yes\" or \"no\"."
          "<|im_end|>\n<|im_start|>user\n")
SUFFIX = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
RERANKER_INSTRUCTION = ("Given a web search query, retrieve relevant passages that answer the "
                        "query")
GRADED = {
    "version": 1, "name": "graded", "maxPromptTokens": 300,
    "segments": ["Ad: {item}", "\nAsked: {query}", "\nVerdict:"],
    "labels": [{"text": " bad", "value": 0}, {"text": " fairly good", "value": 1},
               {"text": " fairly perfect", "value": 2.5}],
}
ODDS = {
    "version": 1, "name": "odds", "over": "vocabulary", "score": "logOdds",
    "segments": ["{instruction}\n{query}\n", "{item}", "\n=>"], "instruction": "Fits?",
    "labels": [{"text": "yes", "value": 1}],
}


def _tokenizer(corpus: list[str]) -> PreTrainedTokenizerFast:
    """Byte-level BPE split as Qwen2 splits, with the tokens that the reranker's form has."""
    tokenizer = Tokenizer(models.BPE())
    pattern = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
               r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(corpus, trainers.BpeTrainer(
        vocab_size=420, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in SPECIAL])
    tokenizer.add_tokens([AddedToken(text, normalized=False, special=False)
                          for text in ("<think>", "</think>")])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>")


class Oracle:
    def __init__(self, model, tokenizer):
        self.model, self.tokenizer = model, tokenizer

    def logs(self, tokens: list[int]) -> torch.Tensor:
        """Log-probabilities of what follows, over the vocabulary."""
        with torch.no_grad():
            return torch.log_softmax(self.model(torch.tensor([tokens])).logits[0, -1], dim=0)

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False)

    def reranker(self, query: str, document: str, instruction: str | None,
                 max_length: int = 8192) -> float:
        """As the model card of Qwen3-Reranker-0.6B has it."""
        if instruction is None:
            instruction = RERANKER_INSTRUCTION
        prefix_tokens, suffix_tokens = self.encode(PREFIX), self.encode(SUFFIX)
        pair = f"<Instruct>: {instruction}\n<Query>: {query}\n<Document>: {document}"
        inputs = self.tokenizer(
            [pair], padding=False, truncation="longest_first", return_attention_mask=False,
            add_special_tokens=False,
            max_length=max_length - len(prefix_tokens) - len(suffix_tokens))
        logs = self.logs(prefix_tokens + inputs["input_ids"][0] + suffix_tokens)
        yes, no = (self.tokenizer.convert_tokens_to_ids(word) for word in ("yes", "no"))
        return torch.log_softmax(torch.stack([logs[no], logs[yes]]), dim=0)[1].exp().item()

    def graded(self, query: str, document: str) -> float:
        tokens = sum((self.encode(part) for part in
                      (f"Ad: {document}", f"\nAsked: {query}", "\nVerdict:")), [])
        scores = []
        for label in GRADED["labels"]:
            own, total = self.encode(label["text"]), 0.0
            for i, token in enumerate(own):
                total += self.logs(tokens + own[:i])[token].item()
            scores.append(total)
        shares = torch.softmax(torch.tensor(scores, dtype=torch.float64), dim=0)
        return sum(share.item() * label["value"]
                   for share, label in zip(shares, GRADED["labels"], strict=True))

    def odds(self, query: str, document: str, instruction: str | None) -> float:
        head = f"{instruction or ODDS['instruction']}\n{query}\n"
        tokens = sum((self.encode(part) for part in (head, document, "\n=>")), [])
        yes = self.logs(tokens)[self.tokenizer.convert_tokens_to_ids("yes")].exp()
        return (torch.log(yes) - torch.log1p(-yes)).item()


def _texts(generator: torch.Generator, count: int, longest: int) -> list[str]:
    def pick(below: int) -> int:
        return int(torch.randint(below, (1,), generator=generator))

    return [" ".join(WORDS[pick(len(WORDS))] for _ in range(1 + pick(longest)))
            for _ in range(count)]


def run(args: argparse.Namespace) -> None:
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    generator = torch.Generator().manual_seed(SEED)
    torch.manual_seed(SEED)
    corpus = _texts(generator, 400, 12) + ["yes no yes no bad fairly good fairly perfect"] * 40
    tokenizer = _tokenizer(corpus)
    tokenizer.save_pretrained(out)
    config = Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=48, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=16, max_position_embeddings=8400,
        tie_word_embeddings=True, initializer_range=0.5)
    model = AutoModelForCausalLM.from_config(config).float().eval()
    model.save_pretrained(out)
    oracle = Oracle(model.double(), tokenizer)
    documents = _texts(generator, 12, 30)
    documents += [documents[0], documents[1] + " today", "Größe 42 – 日本語", ""]
    short_tokens = SHORT_PAIR_TOKENS + len(oracle.encode(PREFIX)) + len(oracle.encode(SUFFIX))
    short = {
        "version": 1, "name": "short", "maxPromptTokens": short_tokens,
        "segments": [PREFIX, "<Instruct>: {instruction}\n<Query>: {query}\n<Document>: {item}",
                     SUFFIX],
        "instruction": RERANKER_INSTRUCTION,
        "labels": [{"text": "yes", "value": 1}, {"text": "no", "value": 0}],
    }
    asked = [("red shoes for running", None, documents),
             ("günstige Kamera?", "Judge ads", documents)]
    asked += [(query, None, _texts(generator, DOCUMENTS, 30))
              for query in _texts(generator, FURTHER_QUERIES, 8)]
    cases = []
    for query, instruction, documents in asked:
        cases += [
            {"template": None, "query": query, "instruction": instruction, "documents": documents,
             "expected": [oracle.reranker(query, text, instruction) for text in documents]},
            {"template": "short.json", "query": query, "instruction": instruction,
             "documents": documents,
             "expected": [oracle.reranker(query, text, instruction, short_tokens)
                          for text in documents]},
            {"template": "graded.json", "query": query, "instruction": None,
             "documents": documents,
             "expected": [oracle.graded(query, text) for text in documents]},
            {"template": "odds.json", "query": query, "instruction": instruction,
             "documents": documents,
             "expected": [oracle.odds(query, text, instruction) for text in documents]},
        ]
    write_json(out / "graded.json", GRADED)
    write_json(out / "odds.json", ODDS)
    write_json(out / "short.json", short)
    (out / "cases.json").write_text(json.dumps(cases, ensure_ascii=False, indent=1) + "\n")
    (out / "generation_config.json").unlink(missing_ok=True)
    _write_adapter(out, tokenizer, asked[0][2])


def _write_adapter(out: Path, tokenizer, documents: list[str]) -> None:
    def base(dtype: torch.dtype):
        return AutoModelForCausalLM.from_pretrained(out, dtype=dtype)

    model = get_peft_model(base(torch.float32), LoraConfig(
        task_type="CAUSAL_LM", r=4, lora_alpha=8, target_modules="all-linear"))
    randomise(model, np.random.default_rng(SEED), changed_rows=0)
    folder = out / "adapter"
    folder.mkdir(exist_ok=True)
    save_adapter(model, folder, out.name)
    oracle = Oracle(PeftModel.from_pretrained(base(torch.float64), folder).double().eval(),
                    tokenizer)
    query = "red shoes for running"
    cases = [
        {"template": None, "query": query, "instruction": None, "documents": documents,
         "expected": [oracle.reranker(query, text, None) for text in documents]},
        {"template": "odds.json", "query": query, "instruction": None, "documents": documents,
         "expected": [oracle.odds(query, text, None) for text in documents]},
    ]
    (out / "adapter-cases.json").write_text(
        json.dumps(cases, ensure_ascii=False, indent=1) + "\n")
