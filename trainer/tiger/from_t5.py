"""Hugging Face folders of T5ForConditionalGeneration, and what LETTER-TIGER and torch-rechub save.

LETTER-TIGER and torch-rechub add the tokens of the index to T5's tokenizer in sorted order, join a
history's tokens without anything between, and let `</s>` end both the encoder's input and the
answer; their beams are scored by the softmax over the whole vocabulary.
"""

import argparse
import re
from pathlib import Path
from typing import Any

import torch

from ..data import SidIndex, read_json
from ..errors import InputError
from .files import read_folder_tensors
from .imported import END, PAD, SEPARATOR, START, USER_AFTER, USER_BEFORE, Imported
from .settings import Settings
from .t5 import EPSILON, MAX_DISTANCE, UNREAD, Tensors, check_config
from .texts import token_texts

MAX_ITEMS = 20
DEFAULT = "as LETTER-TIGER and torch-rechub have it"

#: Kin of T5 that compute something else, or were not compared.
OTHERS = {
    "umt5": "a bias by distance in every layer",
    "mt5": "T5's vocabulary; its own has 250,000 pieces, and its head is scaled otherwise",
    "switch_transformers": "one feed-forward block a layer, not experts",
    "longt5": "attention to all positions, not to near ones alone",
}
ENCODERS = ("T5EncoderModel", "T5ForSequenceClassification", "T5ForTokenClassification")


def import_t5(args: argparse.Namespace, index: SidIndex, index_where: str) -> Imported:
    folder = Path(args.source)
    where = str(folder / "config.json")
    document = read_json(folder / "config.json")
    if not isinstance(document, dict):
        raise InputError(where, "an object", document)
    tensors, tensors_where = read_folder_tensors(folder)
    _check_kind(document, tensors, where, tensors_where)
    settings = Settings()
    settings.note("library", "t5", "its config.json")
    config = _config(args, document, tensors, settings, where)
    check_config(config, where)
    table = tensors["shared.weight"]
    if config["vocab_size"] != len(table):
        raise InputError(f"{where}: vocab_size", f"{len(table)}, as shared.weight has rows",
                         config["vocab_size"])
    _settle_head(document, tensors, config, settings)
    named, named_source = token_texts(folder, len(table))
    texts = _control_texts(args, config, settings, where)
    patterns = _level_texts(args, index, named, named_source, texts, settings, index_where)
    bins = _user_texts(args, named, texts, settings)
    _check_ids(texts, len(table), where)
    settings.take("norm", (args.norm, "--norm"), ("full", "one head over the vocabulary"))
    return Imported(
        "t5", config, tensors, texts, patterns, index,
        max_items=settings.take("max-items", (args.max_items, "--max-items"), (MAX_ITEMS, DEFAULT)),
        has_separator=SEPARATOR in texts,
        encoder_end=settings.take("encoder-end", (args.encoder_end, "--encoder-end"),
                                  (True, DEFAULT)),
        answer_end=settings.take("answer-end", (args.answer_end, "--answer-end"), (True, DEFAULT)),
        user_bins=bins, settings=settings)


def _check_kind(document: dict[str, Any], tensors: Tensors, where: str, tensors_where: str) -> None:
    kind = document.get("model_type")
    if kind != "t5":
        expected = f", {OTHERS[kind]}" if isinstance(kind, str) and kind in OTHERS else ""
        raise InputError(f"{where}: model_type", f'"t5"{expected}', kind)
    names = document.get("architectures")
    if not isinstance(names, (list, type(None))):
        raise InputError(f"{where}: architectures", "an array of names", names)
    for name in names or []:
        if name in ENCODERS:
            raise InputError(f"{where}: architectures", "T5ForConditionalGeneration, an encoder "
                             "and a decoder", name)
    if not any(name.startswith("decoder.block.") for name in tensors):
        raise InputError(f"{tensors_where}: decoder.block.0", "a decoder (this is an encoder "
                         "alone)", "no such tensor")


def _config(args: argparse.Namespace, document: dict[str, Any], tensors: Tensors,
            settings: Settings, where: str) -> dict[str, Any]:
    """T5Config's members, with its defaults where the document has none."""
    tensors.pop(UNREAD, None)
    if "shared.weight" not in tensors:
        for name in ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight"):
            if name in tensors:
                tensors["shared.weight"] = tensors[name]
    if "shared.weight" not in tensors or tensors["shared.weight"].dim() != 2:
        raise InputError(f"{args.source}: shared.weight", "the table of the vocabulary", "none")
    for name in ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight"):
        own = tensors.pop(name, None)
        if own is not None and not torch.equal(own, tensors["shared.weight"]):
            raise InputError(f"{args.source}: {name}", "the table shared.weight (a code is one "
                             "token in the history and in the answer)", "another")
    for flag, name in (("feed-forward", "feed_forward_proj"),
                       ("max-distance", "relative_attention_max_distance")):
        given, found = getattr(args, flag.replace("-", "_")), document.get(name)
        if given is not None and found is not None and given != found:
            raise InputError(f"--{flag}", f"{found!r}, as {where} has {name}", given)
    layers = document.get("num_layers", 6)
    feed_forward = settings.take("feed-forward", (document.get("feed_forward_proj"), "config.json"),
                                 (args.feed_forward, "--feed-forward"), ("relu", "T5's default"))
    _check_activation(document, feed_forward, where)
    start = settings.take("start", (document.get("decoder_start_token_id"), "config.json"),
                          (_generation(Path(args.source)), "generation_config.json"),
                          (document.get("pad_token_id", 0), "pad_token_id, as T5 has it"))
    return {
        "vocab_size": document.get("vocab_size", 32128), "d_model": document.get("d_model", 512),
        "d_kv": document.get("d_kv", 64), "d_ff": document.get("d_ff", 2048), "num_layers": layers,
        "num_decoder_layers": document.get("num_decoder_layers") or layers,
        "num_heads": document.get("num_heads", 8),
        "relative_attention_num_buckets": document.get("relative_attention_num_buckets", 32),
        "relative_attention_max_distance": settings.take(
            "max-distance", (document.get("relative_attention_max_distance"), "config.json"),
            (args.max_distance, "--max-distance"), (MAX_DISTANCE, "T5's default")),
        "layer_norm_epsilon": document.get("layer_norm_epsilon", EPSILON),
        "feed_forward_proj": feed_forward,
        "decoder_start_token_id": start, "pad_token_id": document.get("pad_token_id", 0),
        "eos_token_id": document.get("eos_token_id", 1),
        "n_positions": document.get("n_positions"),
    }


def _generation(folder: Path) -> Any:
    path = folder / "generation_config.json"
    document = read_json(path) if path.exists() else {}
    return document.get("decoder_start_token_id") if isinstance(document, dict) else None


def _check_activation(document: dict[str, Any], feed_forward: Any, where: str) -> None:
    """Two members of a config that transformers saved say the same as feed_forward_proj does."""
    if not isinstance(feed_forward, str):
        raise InputError(f"{where}: feed_forward_proj", "a name", feed_forward)
    name = feed_forward.removeprefix("gated-")
    if feed_forward == "gated-gelu":
        name = "gelu_new"
    for key, value in (("dense_act_fn", name), ("is_gated_act", feed_forward.startswith("gated-"))):
        if document.get(key, value) != value:
            raise InputError(f"{where}: {key}", f"{value!r}, as feed_forward_proj {feed_forward!r} "
                             "stands for", document[key])


def _settle_head(document: dict[str, Any], tensors: Tensors, config: dict[str, Any],
                 settings: Settings) -> None:
    """Leaves `lm_head.weight` where the head is no scaled table, and there alone.

    transformers scales the last hidden state unless `tie_word_embeddings` is false; from version 5
    on it saves that as `scale_decoder_outputs`, and ties by whether a head was saved.
    """
    scaled = document.get("scale_decoder_outputs")
    if scaled is None:
        scaled = document.get("tie_word_embeddings") is not False
    head = tensors.pop("lm_head.weight", None)
    table = tensors["shared.weight"]
    if head is None or (head.shape == table.shape and torch.equal(head, table)):
        if scaled:
            settings.note("head", "the table", "tie_word_embeddings; scaled by d_model^-0.5")
            return
        head = table.clone()
    elif scaled:
        head = head.float() * config["d_model"] ** -0.5
    tensors["lm_head.weight"] = head
    settings.note("head", "of its own", "lm_head.weight" + (", scaled by d_model^-0.5" if scaled
                                                            else ""))


def _control_texts(args: argparse.Namespace, config: dict[str, Any], settings: Settings,
                   where: str) -> dict[str, int]:
    """The start token, where the answer begins, and those that end, separate and fill."""
    texts = {START: config["decoder_start_token_id"]}
    for name, text in (("eos_token_id", END), ("pad_token_id", PAD)):
        value = config[name]
        if isinstance(value, list) and len(value) == 1:
            config[name] = value = value[0]
        if value not in texts.values():
            texts[text] = value
        elif text == END and (args.encoder_end is not False or args.answer_end is not False):
            raise InputError(f"{where}: eos_token_id", "another token than the start token "
                             "(or --no-encoder-end and --no-answer-end)", value)
    if args.separator_token is not None:
        texts[SEPARATOR] = args.separator_token
    settings.take("separator-token", (args.separator_token, "--separator-token"), (None, DEFAULT))
    return texts


def _level_texts(args: argparse.Namespace, index: SidIndex, named: dict[str, int],
                 named_source: str, texts: dict[str, int], settings: Settings,
                 where: str) -> list[str]:
    """Adds the codes' tokens; the patterns of the levels."""
    if args.token_base is not None:
        _add_by_base(args, index, texts, settings, where)
        return index.patterns
    if args.codes is not None:
        raise InputError("--codes", "--token-base beside it", args.codes)
    if args.added_base is not None:
        present = sorted({index.patterns[level].format(code=code)
                          for sid in index.codes.values() for level, code in enumerate(sid)})
        named = {text: args.added_base + place for place, text in enumerate(present)}
        named_source = f"--added-base {args.added_base}"
    counts = []
    for pattern in index.patterns:
        before, after = map(re.escape, pattern.split("{code}"))
        form = re.compile(f"{before}(0|[1-9]\\d*){after}")
        mine = {text: place for text, place in named.items() if form.fullmatch(text)}
        counts.append(len(mine))
        texts.update(mine)
    for item, sid in index.codes.items():
        for level, code in enumerate(sid):
            text = index.patterns[level].format(code=code)
            if text not in texts:
                raise InputError(f"{where}: item {item!r} level {level}", f"a token of "
                                 f"{named_source} (or --added-base, or --token-base)", text)
    settings.note("codes", counts, named_source)
    return index.patterns


def _add_by_base(args: argparse.Namespace, index: SidIndex, texts: dict[str, int],
                 settings: Settings, where: str) -> None:
    """Adds tokens of codes that are numbers: the id is that of code 0 of the level, and the
    code."""
    if args.added_base is not None:
        raise InputError("--added-base", "no --token-base beside it", args.added_base)
    if len(args.token_base) != index.depth:
        raise InputError("--token-base", f"{index.depth} numbers, as {where} has levels",
                         args.token_base)
    sizes = index.level_sizes()
    counts = args.codes or sizes
    counts = counts * index.depth if len(counts) == 1 else counts
    if len(counts) != index.depth:
        raise InputError("--codes", f"1 or {index.depth} numbers, as {where} has levels", counts)
    for level, (count, base) in enumerate(zip(counts, args.token_base)):
        if count < sizes[level]:
            raise InputError("--codes", f"{sizes[level]} or more of level {level}, as {where} has",
                             count)
        for code in range(count):
            texts[index.patterns[level].format(code=code)] = base + code
    settings.note("codes", list(counts), "--codes" if args.codes else "the index")
    settings.note("token-base", args.token_base, "--token-base")


def _user_texts(args: argparse.Namespace, named: dict[str, int], texts: dict[str, int],
                settings: Settings) -> int:
    bins = settings.take("user-bins", (args.user_bins, "--user-bins"), (0, DEFAULT))
    if args.user_base is not None and not bins:
        raise InputError("--user-base", "--user-bins beside it", args.user_base)
    for number in range(bins):
        text = f"{USER_BEFORE}{number}{USER_AFTER}"
        place = named.get(text) if args.user_base is None else args.user_base + number
        if place is None:
            raise InputError("--user-bins", "tokens of that name in the tokenizer, or --user-base",
                             text)
        texts[text] = place
    return bins


def _check_ids(texts: dict[str, int], size: int, where: str) -> None:
    taken: dict[int, str] = {}
    for text, place in texts.items():
        if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < size:
            raise InputError(f"{where}: token {text}", f"an id below {size}", place)
        if taken.setdefault(place, text) != text:
            raise InputError(f"{where}: token {text}", f"an id of its own, not that of "
                             f"{taken[place]}", place)
