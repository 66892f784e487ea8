"""`python -m trainer prompt-fixtures`: prompts of random users by several templates, written here
and compared by the tests of both sides, so that training and serving cannot come apart."""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from .checkpoint import write_atomically
from .errors import InputError
from .history import Behaviour
from .prompts import PromptItem, PromptWriter, anchor_of, level_token
from .template import parse_template

SEED = 22
CASES = 14
SIZES = (9, 30, 7)
LEVELS = ["<a_{code}>", "<b_{code}>", "<c_{code}>"]
MERGES = ["c l", "cl i", "cli c", "clic k", "Ġ t", "Ġt h", "Ġth e", ": Ċ", "Ċ Ċ", ", Ġ", "k ,"]
CONTROL = ["<|bos|>", "<|eos|>"]
WORDS = ["<|click|>", "<|other|>", "<|minutes|>", "<|days|>", "<|begin|>", "<|end|>", "<|video|>",
         "<|part_day|>", "<|part_night|>", "<home>"]
ACTIONS, DOMAINS = ("view", "click", "buy"), ("video", "ad", "none")
FREE = ["the click", "at home", "click\n", "用户", "", "night", "<|eos|>", "a_1", "x" * 300, "home",
        "day|><|eos"]

TEMPLATES: list[dict[str, Any]] = [
    {"name": "plain", "levels": LEVELS, "maxPromptTokens": 20, "segments": [
        {"text": "<|bos|>"}, {"slot": "history", "maxItems": 8}]},
    {"name": "steps", "levels": LEVELS, "maxPromptTokens": 40, "trimStep": 4, "segments": [
        {"text": "<|bos|>"}, {"slot": "profile", "key": "who", "before": "cl", "after": "ick, ",
                              "values": {"a": "i", "b": ": "}},
        {"slot": "history", "maxItems": 11, "separator": ", "},
        {"slot": "scene", "key": "part", "before": "<|part_", "after": "|>", "default": "day",
         "values": {"day": "day", "night": "night"}}]},
    {"name": "actions", "levels": LEVELS, "trimStep": 3, "maxPromptTokens": 90,
     "item": {"prefix": "<|begin|>", "suffix": "<|end|>"}, "answer": {"prefix": "<|begin|>"},
     "segments": [
        {"text": "click: \n"},
        {"slot": "history", "actions": ["view"], "before": "the views: ", "after": "\n",
         "maxItems": 6},
        {"slot": "history", "actions": ["click", "buy"], "before": "the clicks: ", "after": "\n"},
        {"text": "the next: \n\n"}]},
    {"name": "shaped", "levels": [{"base": 400}, {"ids": list(range(700, 730))}, LEVELS[2]],
     "answer": {"terminal": ["\n", "<|eos|>"]}, "segments": [
        {"text": "Which?"},
        {"slot": "history", "before": " Seen: ", "separator": ", ",
         "actionTexts": {"click": "<|click|>", "*": "<|other|>"}, "mergeRepeatsSeconds": 300,
         "timeGaps": [{"atLeastSeconds": 600, "text": "<|minutes|>"},
                      {"atLeastSeconds": 86400, "text": "<|days|>"}]},
        {"slot": "scene", "key": "hour", "before": " At "}]},
    {"name": "domains", "levels": LEVELS, "item": {"prefix": {"video": "<|video|>", "ad": "k, "}},
     "segments": [
        {"slot": "history", "domains": ["video"], "before": "the videos: ", "after": "\n"},
        {"slot": "history", "domains": ["ad", "none"], "maxItems": 5, "separator": "\n"},
        {"slot": "scene", "key": "place", "before": " at ", "after": ": \n"}]},
    {"name": "free", "levels": LEVELS, "segments": [
        {"text": "<|bos|>"}, {"slot": "profile", "key": "place", "before": "<", "after": ">"},
        {"slot": "history"},
        {"slot": "scene", "key": "part", "before": "<|part_", "after": "|>"}]},
]


def tokenizer_document() -> dict[str, Any]:
    """Byte-level BPE whose merges cross the borders of segments, split as Qwen2 splits; the tokens
    of codes in the order of their texts, as trainers add them."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    stands = {byte: chr(byte) for byte in printable}
    stands |= {byte: chr(256 + place) for place, byte in enumerate(others)}
    texts = [stands[byte] for byte in range(256)] + [merge.replace(" ", "") for merge in MERGES]
    codes = sorted(level.replace("{code}", str(code))
                   for level, size in zip(LEVELS, SIZES, strict=True) for code in range(size))
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [{"id": len(texts) + place, "content": text, **flags, "special": text in CONTROL}
             for place, text in enumerate([*CONTROL, *WORDS, *codes])]
    bytes_ = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False,
              "use_regex": False}
    pattern = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|\s+|[^\s\p{L}\p{N}]+\s*"
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated",
             "invert": False}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
             "ignore_merges": False, "vocab": {text: i for i, text in enumerate(texts)},
             "merges": MERGES}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
            "normalizer": {"type": "NFC"},
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, bytes_]},
            "post_processor": None, "decoder": bytes_, "model": model}


def random_items(rng: np.random.Generator, count: int) -> dict[str, dict[str, Any]]:
    """Item -> its SID, of one level to all of them, and its domain."""
    return {str(item): {"sid": [int(rng.integers(size)) for size in SIZES[:rng.integers(1, 4)]],
                        "domain": str(rng.choice(DOMAINS))} for item in range(count)}


def random_case(rng: np.random.Generator, items: list[str], has_actions: bool) -> dict[str, Any]:
    """Behaviours and profile of a user; times stand still, creep and leap."""
    time, history = 1_700_000_000, []
    for _ in range(rng.integers(0, 15)):
        time += int(rng.choice([0, 1, 100, 299, 300, 301, 600, 90_000]))
        item = history[-1]["item"] if history and rng.random() < 0.3 else str(rng.choice(items))
        history.append({"item": item, "action": str(rng.choice(ACTIONS)) if has_actions else "",
                        "time": time if rng.random() < 0.9 else 0})

    def some(values: dict[str, list[str]]) -> dict[str, str]:
        return {key: str(rng.choice(of_key)) for key, of_key in values.items()
                if rng.random() < 0.7}

    return {"profile": some({"who": ["a", "b"], "place": FREE}),
            "scene": some({"part": ["day", "night", *FREE[:3]], "hour": FREE, "place": FREE}),
            "history": history}


def writer_of(template: dict[str, Any], tokenizer: Tokenizer, items: dict[str, dict[str, Any]],
              tokens_max: int) -> PromptWriter:
    parsed = parse_template({"version": 1, **template})
    shown = {}
    for item, one in items.items():
        tokens = tuple(level_token(form, code, tokenizer)
                       for form, code in zip(parsed.levels, one["sid"], strict=False))
        shown[item] = PromptItem(tokens, one["domain"])
    return PromptWriter(parsed, tokenizer, shown, tokens_max,
                        anchor_of(parsed, tokenizer, SIZES[0] - 1))


def answer_of(writer: PromptWriter, case: dict[str, Any]) -> dict[str, Any]:
    """The tokens and the places that they show, or the field for which the prompt is refused."""
    history = [Behaviour(one["item"], float(one["time"]), one["action"])
               for one in case["history"]]
    try:
        prompt = writer.prompt(case["profile"], case["scene"], history)
    except InputError as error:
        return {"refused": error.where}
    return {"tokens": prompt.tokens,
            "shown": [[shown.place, shown.end] for shown in prompt.shown]}


def run(args: argparse.Namespace) -> None:
    """Writes tokenizer.json and cases.json."""
    rng = np.random.default_rng(SEED)
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    document = json.dumps(tokenizer_document(), ensure_ascii=False)
    write_atomically(out / "tokenizer.json", (document + "\n").encode())
    tokenizer = Tokenizer.from_str(document)
    sets = []
    for template in TEMPLATES:
        items = random_items(rng, 25)
        tokens_max = int(rng.choice([60, 1000]))
        writer = writer_of(template, tokenizer, items, tokens_max)
        cases = []
        for number in range(CASES):
            case = random_case(rng, list(items), has_actions=number % 3 > 0)
            cases.append({**case, **answer_of(writer, case)})
        sets.append({"template": {"version": 1, **template}, "items": items,
                     "tokensMax": tokens_max, "cases": cases})
    lines = ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in sets)
    write_atomically(out / "cases.json", f"[\n{lines}\n]\n".encode())
    counts = [sum("tokens" in case for case in one["cases"]) for one in sets]
    print(f"{out}: {sum(counts)} prompts, {CASES * len(sets) - sum(counts)} refused")
