"""Models of two T5 stacks with a head per level -> T5ForConditionalGeneration.

Vectors that the model learned beside its table of codes become rows of one vocabulary: the start,
the separator and the users. The heads become rows of one head: that of the token of (level, code)
is the code's row of the level's head, and other tokens' rows are zeros. So the logits of a level's
tokens are those of its head, and scores are softmaxes over a level (`level` or `allowed`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from ..data import level_pattern
from ..errors import InputError
from .imported import END, PAD, SEPARATOR, START, USER_AFTER, USER_BEFORE, Rows
from .t5 import BLOCK, CROSS, EPSILON, MAX_DISTANCE, SELF, Tensors, shape_of

FINAL_NORM = "final_layer_norm.weight"


@dataclass
class Parts:
    """`codes[l]` and `heads[l]` are (codes of level l, d_model); `names[l]` is the name of the
    head's tensor. Vectors are (d_model), `users` (bins, d_model)."""

    encoder: Tensors
    decoder: Tensors
    codes: list[torch.Tensor]
    heads: list[torch.Tensor]
    names: list[str]
    start: torch.Tensor
    separator: torch.Tensor | None = None
    users: torch.Tensor | None = None


@dataclass
class Joined:
    config: dict[str, Any]
    tensors: Tensors
    texts: dict[str, int]
    patterns: list[str]


def join(parts: Parts, told: Mapping[str, Any], where: str) -> Joined:
    """`told` has the members of T5Config that no tensor tells."""
    shape = shape_of(parts.encoder, parts.decoder, where)
    gated = shape.pop("gated")
    feed_forward = told.get("feed_forward_proj") or ("gated-gelu" if gated else "relu")
    if feed_forward.startswith("gated-") != gated:
        raise InputError(f"{where}: feed_forward_proj", "a gated one, as the tensors wi_0 and wi_1 "
                         "are" if gated else "one that is not gated, as the tensors wi are",
                         feed_forward)
    width = shape["d_model"]
    _check_widths(parts, width, where)
    rows = Rows()
    rows.add([PAD, END, START], torch.cat([torch.zeros(2, width), parts.start.float()[None]]))
    if parts.separator is not None:
        rows.add([SEPARATOR], parts.separator[None])
    patterns = [level_pattern(level) for level in range(len(parts.heads))]
    places = [rows.add([pattern.format(code=code) for code in range(len(table))], table)
              for pattern, table in zip(patterns, parts.codes)]
    if parts.users is not None:
        rows.add([f"{USER_BEFORE}{user}{USER_AFTER}" for user in range(len(parts.users))],
                 parts.users)
    table = rows.table()
    head = torch.zeros_like(table)
    for place, weight in zip(places, parts.heads):
        head[place.start:place.stop] = weight.float()
    usual = {"feed_forward_layers": 1, "feed_forward_bias": False}
    config = {
        **{name: value for name, value in shape.items() if usual.get(name) != value},
        "vocab_size": len(table), "feed_forward_proj": feed_forward,
        "relative_attention_max_distance": told.get("relative_attention_max_distance")
        or MAX_DISTANCE,
        "layer_norm_epsilon": told.get("layer_norm_epsilon", EPSILON),
        "decoder_start_token_id": rows.texts[START], "eos_token_id": rows.texts[END],
        "pad_token_id": rows.texts[PAD],
    }
    tensors = {"shared.weight": table, "lm_head.weight": head, **parts.encoder, **parts.decoder}
    return Joined(config, tensors, rows.texts, patterns)


def _check_widths(parts: Parts, width: int, where: str) -> None:
    """Every vector has d_model numbers, and a level as many codes as its head has rows."""
    for name, table, head in zip(parts.names, parts.codes, parts.heads):
        if tuple(head.shape) != (len(table), width):
            raise InputError(f"{where}: {name}", f"shape {[len(table), width]}, as the table has "
                             "codes of this level", list(head.shape))
    named = {"codes": parts.codes[0], "start": parts.start[None],
             "separator": None if parts.separator is None else parts.separator[None],
             "users": parts.users}
    for name, table in named.items():
        if table is not None and (table.dim() != 2 or table.shape[1] != width):
            raise InputError(f"{where}: {name}", f"vectors of {width} numbers, as the encoder has",
                             list(table.shape))
        if table is not None and not torch.isfinite(table).all():
            raise InputError(f"{where}: {name}", "finite numbers", "others among them")


def plain_names(tensors: Tensors) -> Tensors:
    """Without the prefixes of torch.compile and of data parallelism."""
    found = {}
    for name, tensor in tensors.items():
        name = name.replace("_orig_mod.", "")
        found[name.removeprefix("module.")] = tensor
    return found


def stacks_of(tensors: Tensors, where: str) -> tuple[Tensors, Tensors]:
    """The encoder's and the decoder's tensors under T5's names. A stack that a module holds in two
    places is saved twice."""
    groups: dict[str, Tensors] = {}
    for name, tensor in tensors.items():
        match = BLOCK.match(name)
        if match:
            groups.setdefault(match["stack"], {})[name[len(match["stack"]):]] = tensor
    for prefix, group in groups.items():
        if prefix + FINAL_NORM in tensors:
            group[FINAL_NORM] = tensors[prefix + FINAL_NORM]
    crossing = f"block.0.{CROSS}.q.weight"
    found = {}
    for stack, has_cross in (("encoder", False), ("decoder", True)):
        mine = {prefix: group for prefix, group in groups.items()
                if (crossing in group) == has_cross}
        # That under its own name first: GRID's base module holds the encoder as `model` too.
        prefixes = sorted(mine, key=lambda prefix: (not prefix.startswith(stack), prefix))
        if not prefixes:
            raise InputError(f"{where}: {stack}", f"a stack of T5's blocks, such as "
                             f"{stack}.block.0.{CROSS if has_cross else SELF}.q.weight", "none")
        first = mine[prefixes[0]]
        for prefix in prefixes[1:]:
            if not _equal(first, mine[prefix]):
                raise InputError(f"{where}: {prefix}block", f"the tensors of {prefixes[0]}block, "
                                 f"or one {stack}", "others")
        found[stack] = {f"{stack}.{name}": tensor for name, tensor in first.items()}
    return found["encoder"], found["decoder"]


def _equal(one: Tensors, other: Tensors) -> bool:
    return one.keys() == other.keys() and all(torch.equal(tensor, other[name])
                                              for name, tensor in one.items())
