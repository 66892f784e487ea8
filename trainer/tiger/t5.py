"""The tensors and settings of T5ForConditionalGeneration, as transformers names them."""

import re
from collections.abc import Mapping
from typing import Any

import torch

from ..errors import InputError

Tensors = dict[str, torch.Tensor]
Shape = tuple[int, ...]

#: Of feed_forward_proj; `gated-` may stand before each.
ACTIVATIONS = ("relu", "gelu", "gelu_new", "silu", "swish")
EPSILON = 1e-6
MAX_DISTANCE = 128

SELF = "layer.0.SelfAttention"
CROSS = "layer.1.EncDecAttention"
#: Table that transformers before version 4 saved and never read.
UNREAD = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
BLOCK = re.compile(r"^(?P<stack>.*?)block\.(?P<layer>\d+)\.(?P<rest>.+)$")

COUNTS = ("d_model", "d_kv", "d_ff", "num_layers", "num_decoder_layers", "num_heads",
          "relative_attention_num_buckets", "relative_attention_max_distance")


def is_gated(config: Mapping[str, Any]) -> bool:
    return config["feed_forward_proj"].startswith("gated-")


def check_config(config: Mapping[str, Any], where: str) -> None:
    """Errors: InputError with the first field that no T5 has."""
    for name in (*COUNTS, "n_positions"):
        value = config.get(name)
        if name == "n_positions" and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(f"{where}: {name}", "a count of 1 or more", value)
    buckets = config["relative_attention_num_buckets"]
    if buckets % 2 or buckets < 4:
        raise InputError(f"{where}: relative_attention_num_buckets", "an even number of 4 or more, "
                         "since the encoder has half of them for each direction", buckets)
    distance = config["relative_attention_max_distance"]
    if distance <= buckets // 2:
        raise InputError(f"{where}: relative_attention_max_distance",
                         f"more than {buckets // 2}, half of the buckets", distance)
    feed_forward = config["feed_forward_proj"]
    known = [*ACTIVATIONS, *(f"gated-{name}" for name in ACTIVATIONS)]
    if feed_forward not in known:
        raise InputError(f"{where}: feed_forward_proj", f"one of {', '.join(known)}", feed_forward)
    epsilon = config["layer_norm_epsilon"]
    if not isinstance(epsilon, (int, float)) or not 0 <= epsilon < 1:
        raise InputError(f"{where}: layer_norm_epsilon", "a number of 0 or more, below 1", epsilon)


def stack_shapes(stack: str, config: Mapping[str, Any]) -> dict[str, Shape]:
    """Names and shapes of the tensors of the encoder or the decoder."""
    width, inner = config["d_model"], config["num_heads"] * config["d_kv"]
    is_decoder = stack == "decoder"
    layers = config["num_decoder_layers" if is_decoder else "num_layers"]
    bias = (config["relative_attention_num_buckets"], config["num_heads"])
    forward = f"layer.{2 if is_decoder else 1}"
    inputs = ("wi_0", "wi_1") if is_gated(config) else ("wi",)
    shapes: dict[str, Shape] = {f"{stack}.final_layer_norm.weight": (width,)}
    for layer in range(layers):
        block = f"{stack}.block.{layer}"
        for attention in (SELF, CROSS) if is_decoder else (SELF,):
            for name in ("q", "k", "v"):
                shapes[f"{block}.{attention}.{name}.weight"] = (inner, width)
            shapes[f"{block}.{attention}.o.weight"] = (width, inner)
            shapes[f"{block}.{attention.rsplit('.', 1)[0]}.layer_norm.weight"] = (width,)
        linear: dict[str, Shape] = {name: (config["d_ff"], width) for name in inputs}
        for more in range(config.get("feed_forward_layers", 1) - 1):
            linear[f"hidden.{more}"] = (config["d_ff"], config["d_ff"])
        linear["wo"] = (width, config["d_ff"])
        for name, shape in linear.items():
            shapes[f"{block}.{forward}.DenseReluDense.{name}.weight"] = shape
            if config.get("feed_forward_bias", False):
                shapes[f"{block}.{forward}.DenseReluDense.{name}.bias"] = shape[:1]
        shapes[f"{block}.{forward}.layer_norm.weight"] = (width,)
    shapes[f"{stack}.block.0.{SELF}.relative_attention_bias.weight"] = bias
    return shapes


def check_tensors(tensors: Tensors, config: Mapping[str, Any], where: str) -> None:
    """Compares names, shapes and numbers with those of the config. Errors: InputError with the
    first tensor that differs."""
    table = (config["vocab_size"], config["d_model"])
    expected = {"shared.weight": table, **stack_shapes("encoder", config),
                **stack_shapes("decoder", config)}
    if "lm_head.weight" in tensors:
        expected["lm_head.weight"] = table
    for name, shape in expected.items():
        if name not in tensors:
            raise InputError(f"{where}: {name}", f"a tensor of shape {list(shape)}", "none")
        found = tensors[name]
        if tuple(found.shape) != shape:
            raise InputError(f"{where}: {name}", f"shape {list(shape)}", list(found.shape))
        if not found.dtype.is_floating_point:
            raise InputError(f"{where}: {name}", "floating-point numbers", str(found.dtype))
        if not torch.isfinite(found).all():
            raise InputError(f"{where}: {name}", "finite numbers", "others among them")
    for name in tensors:
        if name not in expected:
            raise InputError(f"{where}: {name}", "a tensor that T5ForConditionalGeneration has",
                             list(tensors[name].shape))


def one_type(tensors: Tensors) -> tuple[Tensors, str]:
    """All in BF16 where all are, else in F32: T5 overflows in F16, since nothing scales the scores
    of its attention."""
    name = "float32"
    if all(tensor.dtype == torch.bfloat16 for tensor in tensors.values()):
        name = "bfloat16"
    kind = getattr(torch, name)
    return {key: tensor.detach().to(kind).contiguous() for key, tensor in tensors.items()}, name


def shape_of(encoder: Tensors, decoder: Tensors, where: str) -> dict[str, Any]:
    """Counts of a pair of stacks, whose tensors are named as in `stack_shapes`."""
    bias_name = f"block.0.{SELF}.relative_attention_bias.weight"
    found: dict[str, Any] = {}
    for stack, tensors in (("encoder", encoder), ("decoder", decoder)):
        bias = _of(tensors, f"{stack}.{bias_name}", 2, where)
        query = _of(tensors, f"{stack}.block.0.{SELF}.q.weight", 2, where)
        heads = bias.shape[1]
        if query.shape[0] % heads:
            raise InputError(f"{where}: {stack}.block.0.{SELF}.q.weight",
                             f"rows for each of {heads} heads", query.shape[0])
        forward = f"{stack}.block.0.layer.{1 if stack == 'encoder' else 2}.DenseReluDense"
        wide = _of(tensors, f"{forward}.wo.weight", 2, where)
        mine = {"d_model": query.shape[1], "d_kv": query.shape[0] // heads, "num_heads": heads,
                "d_ff": wide.shape[1], "relative_attention_num_buckets": bias.shape[0],
                "gated": f"{forward}.wi_0.weight" in tensors,
                "feed_forward_layers": 1 + sum(name.startswith(f"{forward}.hidden.") and
                                               name.endswith(".weight") for name in tensors),
                "feed_forward_bias": f"{forward}.wo.bias" in tensors}
        for name, value in mine.items():
            if found.setdefault(name, value) != value:
                raise InputError(f"{where}: {stack}: {name}",
                                 f"{found[name]}, as the encoder has (one config serves both)",
                                 value)
    found["num_layers"] = _layers(encoder)
    found["num_decoder_layers"] = _layers(decoder)
    return found


def _of(tensors: Tensors, name: str, dimensions: int, where: str) -> torch.Tensor:
    found = tensors.get(name)
    if found is None or found.dim() != dimensions:
        raise InputError(f"{where}: {name}", f"a tensor of {dimensions} dimensions",
                         None if found is None else list(found.shape))
    return found


def _layers(stack: Tensors) -> int:
    places = [int(match["layer"]) for match in map(BLOCK.match, stack) if match]
    return max(places, default=-1) + 1
