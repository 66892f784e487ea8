"""GRID's SemanticIDEncoderDecoder: a checkpoint of Lightning, and Hydra's config of its run.

One table has the codes of all levels, as many of each, without a row for padding. A learned vector
stands behind each item of the encoder's input, and with `num_user_bins` that of the user's id,
modulo the bins, in front of all; the decoder begins with a learned vector, and each level has a
head. Scores are softmaxes over a level, or with `should_check_prefix` over the codes that lead to
an item. The last level tells items of equal codes apart.
"""

import argparse
import re
from pathlib import Path
from typing import Any

import torch

from ..data import SidIndex
from ..errors import InputError
from .heads import Parts, join, plain_names, stacks_of
from .hydra import RunConfig
from .imported import Imported, check_index
from .settings import Settings
from .t5 import Tensors
from .tables import index_of, read_item_ids, read_semantic_ids

TABLE = "item_sid_embedding_table_encoder.weight"
START, SEPARATOR, USERS = "decoder.bos_token", "sep_token", "user_embedding.weight"
HEAD = "decoder.decoder_mlp.{level}.weight"
SEQUENCE_LENGTH = 120
MLP = re.compile(r"^(?P<block>.*block\.\d+\.layer\.\d)\.mlp\.model\.(?P<place>\d+)\.(?P<kind>\w+)$")


def import_grid(args: argparse.Namespace, state: Tensors, beside: dict[str, Any],
                config: RunConfig, where: str) -> Imported:
    """`beside` are the checkpoint's hyper-parameters."""
    settings = Settings()
    settings.note("library", "grid", f"its tensor {TABLE}")
    state = _feed_forward(plain_names(state), where)
    names = _head_names(state, where)
    heads = [state[name] for name in names]
    parts = Parts(*stacks_of(state, where), _codes(state, names, where), heads, names,
                  _vector(state, START, where), None, _users(args, state, settings))
    if SEPARATOR in state:
        parts.separator = _vector(state, SEPARATOR, where)
    settings.note("codes", [len(head) for head in heads], "the heads")
    settings.note("separator", "<sep>" if SEPARATOR in state else None, SEPARATOR)
    joined = join(parts, _told(args, config, settings), where)
    settings.take("feed-forward", (args.feed_forward, "--feed-forward"),
                  (joined.config["feed_forward_proj"], "the tensors, and T5's default"))
    index, index_where = _index(args, beside, config, len(heads))
    check_index(index, [len(head) for head in heads], names, index_where)
    _settle_norm(args, beside, config, settings)
    length = config.value("sequence_length")
    length = length if isinstance(length, int) and not isinstance(length, bool) else None
    # The last item of a sequence is the answer.
    items = {name: max(1, value // len(heads) - 1)
             for name, value in (("found", length), ("default", SEQUENCE_LENGTH)) if value}
    max_items = settings.take("max-items", (args.max_items, "--max-items"),
                              (items.get("found"), "sequence_length, without the answer"),
                              (items["default"], f"GRID's sequence_length {SEQUENCE_LENGTH}"))
    return Imported("grid", joined.config, joined.tensors, joined.texts, joined.patterns, index,
                    max_items, has_separator=parts.separator is not None,
                    user_bins=0 if parts.users is None else len(parts.users), settings=settings)


def _feed_forward(state: Tensors, where: str) -> Tensors:
    """The served names of `mlp_layers`: linear layers with ReLU between them, each with a bias."""
    found = dict(state)
    for name, tensor in state.items():
        match = MLP.match(name)
        if not match:
            continue
        del found[name]
        stem = match["block"]
        linear = sorted({int(other["place"]) for other in map(MLP.match, state)
                         if other and other["block"] == stem and other["kind"] == "weight"})
        place = int(match["place"])
        if len(linear) < 2 or place not in linear:
            raise InputError(f"{where}: {name}: mlp_layers", "two linear layers or more",
                             len(linear))
        at = linear.index(place)
        layer = "wi" if at == 0 else "wo" if place == linear[-1] else f"hidden.{at - 1}"
        found[f"{stem}.DenseReluDense.{layer}.{match['kind']}"] = tensor
    return found


def _head_names(state: Tensors, where: str) -> list[str]:
    names: list[str] = []
    while HEAD.format(level=len(names)) in state:
        names.append(HEAD.format(level=len(names)))
    others = [name for name in state
              if name.startswith("decoder.decoder_mlp.") and name not in names]
    if not names or others:
        raise InputError(f"{where}: {HEAD.format(level=len(names))}", "a head per level, without "
                         "bias", others[0] if others else "none")
    return names


def _codes(state: Tensors, names: list[str], where: str) -> list[torch.Tensor]:
    table = state[TABLE]
    if table.dim() != 2 or len(table) % len(names):
        raise InputError(f"{where}: {TABLE}", f"as many codes for each of {len(names)} heads",
                         list(table.shape))
    return list(torch.split(table, len(table) // len(names)))


def _vector(state: Tensors, name: str, where: str) -> torch.Tensor:
    if name not in state:
        raise InputError(f"{where}: {name}", "a learned vector", "none")
    return state[name].flatten()


def _users(args: argparse.Namespace, state: Tensors, settings: Settings) -> torch.Tensor | None:
    users = state.get(USERS)
    bins = 0 if users is None else len(users)
    if args.user_bins is not None and args.user_bins != bins:
        raise InputError("--user-bins", f"{bins}, the rows of {USERS}", args.user_bins)
    settings.note("user-bins", bins, USERS if bins else f"no {USERS}")
    return users


def _told(args: argparse.Namespace, config: RunConfig, settings: Settings) -> dict[str, Any]:
    """Members of T5Config that no tensor tells, of the encoder's and the decoder's alike."""
    told: dict[str, Any] = {}
    for name, given in (("feed_forward_proj", args.feed_forward),
                        ("relative_attention_max_distance", args.max_distance),
                        ("layer_norm_epsilon", None)):
        of_encoder, of_decoder = (config.value(f"model.{stack}.config.{name}")
                                  for stack in ("huggingface_model", "decoder"))
        if of_encoder != of_decoder:
            raise InputError(f"{config.where}: model.decoder.config.{name}",
                             f"{of_encoder!r}, as the encoder has (one config serves both)",
                             of_decoder)
        if given is not None and of_encoder is not None and given != of_encoder:
            raise InputError(f"{config.where}: model.decoder.config.{name}", f"{given!r}, as the "
                             "flag says", of_encoder)
        value = of_encoder if given is None else given
        if value is not None:
            told[name] = value
    settings.take("max-distance", (args.max_distance, "--max-distance"),
                  (told.get("relative_attention_max_distance"), config.where),
                  (128, "T5's default"))
    return told


def _index(args: argparse.Namespace, beside: dict[str, Any], config: RunConfig,
           levels: int) -> tuple[SidIndex, str]:
    ids = read_item_ids(Path(args.item_ids)) if args.item_ids else None
    path = args.index
    if path is None and isinstance(beside.get("codebooks"), torch.Tensor):
        where = "the checkpoint's codebooks"
        return index_of(beside["codebooks"], levels, ids, where, by_column=True), where
    if path is None:
        told = config.value("semantic_id_path")
        path = told if isinstance(told, str) and Path(told).exists() else None
    if path is None:
        raise InputError("--index", "the semantic IDs, merged_predictions_tensor.pt "
                         "(semantic_id_path of the run)", config.value("semantic_id_path"))
    return read_semantic_ids(Path(path), levels, ids, by_column=True), path


def _settle_norm(args: argparse.Namespace, beside: dict[str, Any], config: RunConfig,
                 settings: Settings) -> None:
    norms = {True: "allowed", False: "level"}
    told = config.value("model.should_check_prefix")
    kept = beside.get("should_check_prefix")
    settings.take(
        "norm", (args.norm, "--norm"),
        (norms.get(told) if isinstance(told, bool) else None, "should_check_prefix of the run"),
        (norms.get(kept) if isinstance(kept, bool) else None, "should_check_prefix"),
        ("level", "GRID's should_check_prefix is false"))
