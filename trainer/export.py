"""Writes the served folder: Hugging Face weights and tokenizer, prompt.json, catalogue.jsonl."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from tokenizers import Tokenizer
from transformers import PreTrainedModel

from .checkpoint import write_atomically, write_json
from .data import ItemText, SidIndex
from .tokens import BOS, tokenizer_config
from .trie import item_order

HISTORY = {"slot": "history", "separator": "", "before": "", "after": ""}


def prompt_document(name: str, patterns: list[str], max_items: int, max_tokens: int,
                    trailing: list[dict[str, Any]] | None = None,
                    trim_step: int = 1) -> dict[str, Any]:
    """The prompt template `<|bos|> history [trailing segments]`, version 1."""
    return {
        "version": 1, "name": name, "levels": patterns,
        "item": {"prefix": "", "suffix": ""},
        "answer": {"prefix": "", "terminal": []},
        "segments": [{"text": BOS}, {**HISTORY, "maxItems": max_items}, *(trailing or [])],
        "maxPromptTokens": max_tokens, "trimStep": trim_step,
    }


def export_static(folder: Path, tokenizer: Tokenizer, prompt: dict[str, Any],
                  index: SidIndex, texts: dict[str, ItemText], tokens_max: int) -> None:
    """All that does not change while training: tokenizer, prompt template, catalogue."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "tokenizer.json", tokenizer.to_str(pretty=True).encode())
    write_json(folder / "tokenizer_config.json", tokenizer_config(tokens_max))
    write_json(folder / "prompt.json", prompt)
    lines = catalogue_lines(index, texts)
    write_atomically(folder / "catalogue.jsonl", "".join(lines).encode())


def catalogue_lines(index: SidIndex, texts: dict[str, ItemText]) -> list[str]:
    """Lines of catalogue.jsonl, in the order of the items' ids."""
    lines = []
    for item in sorted(index.codes, key=item_order):
        text = texts.get(item, ItemText())
        row = {"item_id": item, "sid": list(index.codes[item])}
        if text.title:
            row["title"] = text.title
        if text.priority:
            row["priority"] = text.priority
        if text.attributes:
            row["attributes"] = text.attributes
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    return lines


def export_model(folder: Path, model: PreTrainedModel, dtype: str) -> None:
    """config.json, generation_config.json and model.safetensors; a tied head is left out."""
    folder.mkdir(parents=True, exist_ok=True)
    config = model.config.to_dict()
    config["architectures"] = [type(model).__name__]
    config["dtype"] = dtype
    write_json(folder / "config.json", {name: value for name, value in sorted(config.items())
                                        if not name.startswith("_")})
    begin = "decoder_start_token_id" if model.config.is_encoder_decoder else "bos_token_id"
    write_json(folder / "generation_config.json", {
        begin: config[begin], "eos_token_id": config["eos_token_id"],
        "pad_token_id": config["pad_token_id"], "do_sample": False})
    # Other names of a table that is written.
    left_out = {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}
    if model.config.tie_word_embeddings:
        left_out.add("lm_head.weight")
    tensors = {name: value.detach().to(getattr(torch, dtype)).contiguous()
               for name, value in model.state_dict().items() if name not in left_out}
    write_atomically(folder / "model.safetensors", save(tensors, {"format": "pt"}))
