"""An encoder-decoder of transformers that is called as a decoder is.

A row is what the encoder reads, the token that the decoder begins with, and what the decoder has
written, one behind the other: the form of the engine's prompts.
"""

from pathlib import Path
from types import SimpleNamespace

import torch
from safetensors.torch import load_file
from torch import nn
from transformers import T5Config, T5ForConditionalGeneration


class DeepFeedForward(nn.Module):
    """Several inner layers, as GRID's `mlp_layers` makes them; transformers has one.

    `feed_forward_layers` and `feed_forward_bias` of config.json say so (t5_config.cc).
    """

    def __init__(self, config: T5Config) -> None:
        super().__init__()
        size, inner = config.d_model, config.d_ff
        bias = getattr(config, "feed_forward_bias", False)
        layers = getattr(config, "feed_forward_layers", 1)
        self.wi = nn.Linear(size, inner, bias=bias)
        self.hidden = nn.ModuleList(nn.Linear(inner, inner, bias=bias)
                                    for _ in range(layers - 1))
        self.wo = nn.Linear(inner, size, bias=bias)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        rows = self.wi(rows).relu()
        for layer in self.hidden:
            rows = layer(rows).relu()
        return self.wo(rows)


def make_t5(config: T5Config) -> T5ForConditionalGeneration:
    """The model of a configuration, with random weights."""
    model = T5ForConditionalGeneration(config)
    if any(hasattr(config, name) for name in ("feed_forward_layers", "feed_forward_bias")):
        for stack in (model.encoder, model.decoder):
            for block in stack.block:
                block.layer[-1].DenseReluDense = DeepFeedForward(config)
    return model


def load_t5(folder: Path, dtype: torch.dtype) -> T5ForConditionalGeneration:
    """A folder's model, its head tied where it has none of its own, to compute with."""
    model = make_t5(T5Config.from_pretrained(folder))
    tensors = load_file(folder / "model.safetensors")
    if "lm_head.weight" in tensors:  # transformers ties whatever config.json says
        model.lm_head.weight = nn.Parameter(torch.empty_like(model.lm_head.weight))
    _, strange = model.load_state_dict(tensors, strict=False)
    if strange:
        raise ValueError(f"{folder}: tensors that the model has not: {strange}")
    return model.to(dtype).eval()


class JoinedRows:
    """Logits of joined rows; those of positions that the encoder reads are zeros."""

    def __init__(self, model: T5ForConditionalGeneration) -> None:
        self.model = model
        self.config = model.config

    def __call__(self, input_ids: torch.Tensor, **_others: object) -> SimpleNamespace:
        """`input_ids`: [rows][positions]; all rows begin the decoder at the same position."""
        start = self.config.decoder_start_token_id
        encoded = input_ids[0].tolist().index(start)
        read, written = input_ids[:, :encoded], input_ids[:, encoded:]
        logits = self.model(input_ids=read, attention_mask=torch.ones_like(read),
                            decoder_input_ids=written, use_cache=False).logits
        zeros = logits.new_zeros(len(input_ids), encoded, logits.shape[-1])
        return SimpleNamespace(logits=torch.cat([zeros, logits], 1))
