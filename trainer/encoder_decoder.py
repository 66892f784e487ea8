"""An encoder-decoder of transformers that is called as a decoder is.

A row is what the encoder reads, the token that the decoder begins with, and what the decoder has
written, one behind the other: the form of the engine's prompts.
"""

from types import SimpleNamespace

import torch
from transformers import T5ForConditionalGeneration


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
