"""Cornac's TIGER: the recommender that `save` pickled, or tensors of its TIGERSeq2Seq.

One table has a padding row and behind it the codes of all levels; the start is a vector, the heads
are one per level, and nothing separates items. The last level tells items of equal codes apart, so
that no two items share a semantic ID. Scores are softmaxes over a level.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..data import SidIndex, item_id_of
from ..errors import InputError
from .heads import Parts, join, plain_names, stacks_of
from .imported import Imported, check_index
from .pickles import Inert
from .settings import Settings
from .t5 import Tensors
from .tables import check_ids, index_of, read_item_ids, read_semantic_ids

TABLE, START = "token_emb.weight", "bos"
MAX_ITEMS = 20


def import_cornac(args: argparse.Namespace, state: Tensors, beside: dict[str, Any],
                  where: str) -> Imported:
    """`beside` are the recommender's members beside its module."""
    state = plain_names(state)
    settings = Settings()
    settings.note("library", "cornac", f"its tensor {TABLE}")
    names = _head_names(state, where)
    heads = [state[name] for name in names]
    codes = _codes(state, names, where)
    settings.note("codes", [len(head) for head in heads], "the heads")
    start = state.get(START)
    if start is None:
        raise InputError(f"{where}: {START}", "the vector that the decoder begins with", "none")
    encoder, decoder = stacks_of(state, where)
    parts = Parts(encoder, decoder, codes, heads, names, start.flatten())
    told = {"feed_forward_proj": args.feed_forward,
            "relative_attention_max_distance": args.max_distance}
    joined = join(parts, told, where)
    settings.take("feed-forward", (args.feed_forward, "--feed-forward"),
                  (joined.config["feed_forward_proj"], "as Cornac has it"))
    settings.take("max-distance", (args.max_distance, "--max-distance"),
                  (joined.config["relative_attention_max_distance"], "T5's default"))
    index, index_where = _index(args, beside, len(heads), where)
    check_index(index, [len(head) for head in heads], names, index_where)
    settings.take("norm", (args.norm, "--norm"), ("level", "a head per level"))
    length = beside.get("max_len")
    max_items = settings.take(
        "max-items", (args.max_items, "--max-items"),
        (length if isinstance(length, int) else None, "max_len"),
        (MAX_ITEMS, "Cornac's default"))
    return Imported("cornac", joined.config, joined.tensors, joined.texts, joined.patterns, index,
                    max_items, settings=settings)


def _head_names(state: Tensors, where: str) -> list[str]:
    count = 0
    while f"heads.{count}.weight" in state:
        count += 1
    names = [f"heads.{level}.weight" for level in range(count)]
    others = [name for name in state if name.startswith("heads.") and name not in names]
    if not names or others:
        raise InputError(f"{where}: heads.{count}.weight", "a head per level, without bias",
                         others[0] if others else "none")
    return names


def _codes(state: Tensors, names: list[str], where: str) -> list[torch.Tensor]:
    """Rows of the table by level, without that of padding."""
    sizes = [len(state[name]) for name in names]
    table = state[TABLE]
    if table.dim() != 2 or len(table) != 1 + sum(sizes):
        raise InputError(f"{where}: {TABLE}", f"{1 + sum(sizes)} rows: padding, and the codes of "
                         f"heads of {sizes}", list(table.shape))
    return list(torch.split(table[1:], sizes))


def _index(args: argparse.Namespace, beside: dict[str, Any], levels: int,
           where: str) -> tuple[SidIndex, str]:
    ids = read_item_ids(Path(args.item_ids)) if args.item_ids else None
    if args.index:
        return read_semantic_ids(Path(args.index), levels, ids, by_column=False), args.index
    table = beside.get("sid_table")
    if table is None or isinstance(table, Inert):
        raise InputError("--index", "the semantic IDs, sid_table of the recommender", None)
    place = f"{where}: sid_table"
    return index_of(table, levels, ids or _ids_of(beside, len(table), where), place,
                    by_column=False), place


def _ids_of(beside: dict[str, Any], rows: int, where: str) -> list[str] | None:
    """Ids of the recommender's items, which it numbers in the order of the table."""
    listed = beside.get("item_ids")
    places = beside.get("iid_map")
    if listed is None and isinstance(places, dict):
        numbers = sorted(((int(place), item) for item, place in places.items()
                          if isinstance(place, (int, np.integer)) and place < rows),
                         key=lambda pair: pair[0])
        if [place for place, _ in numbers] != list(range(rows)):
            raise InputError(f"{where}: iid_map", f"an item for each of {rows} rows of sid_table "
                             "(or --item-ids)", len(numbers))
        listed = [item for _, item in numbers]
    if listed is None:
        return None
    ids = [item_id_of(value, f"{where}: item_ids[{place}]")
           for place, value in enumerate(list(listed)[:rows])]
    check_ids(ids, f"{where}: item_ids")
    return ids
