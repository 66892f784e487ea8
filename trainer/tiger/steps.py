"""Steps of a search by an encoder-decoder."""

from typing import Any

import torch
from transformers import T5Config, T5ForConditionalGeneration


class EncoderDecoderSteps:
    """Logits of a search: the encoder's output of equally long prompts is kept, and the decoder
    computes the few tokens of each beam anew."""

    def __init__(self, model: T5ForConditionalGeneration) -> None:
        self.model = model

    def first(self, prompts: torch.Tensor) -> torch.Tensor:
        """Logits (batch, 1, vocabulary) behind prompts (batch, length)."""
        prompts = prompts.to(self.model.device)
        self.states = self.model.encoder(input_ids=prompts[:, :-1]).last_hidden_state
        self.answers = prompts[:, -1:]
        return self._logits().unsqueeze(1)

    def next(self, parents: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Logits (batch, beams, vocabulary) behind tokens (batch, beams), which go on from rows
        `parents` of those before."""
        rows = parents.flatten().to(self.model.device)
        self.states = self.states[rows]
        self.answers = torch.cat([self.answers[rows], tokens.view(-1, 1).to(self.model.device)], 1)
        return self._logits().view(*tokens.shape, -1)

    def _logits(self) -> torch.Tensor:
        found: Any = self.model(encoder_outputs=(self.states,), decoder_input_ids=self.answers,
                                use_cache=False)
        return found.logits[:, -1].cpu()


def floats_per_beam(config: T5Config, longest: int) -> int:
    """Numbers that a search holds for a beam: the encoder's output, and a layer's keys and
    values of it."""
    return longest * (config.d_model + 2 * config.num_heads * config.d_kv)
