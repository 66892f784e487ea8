"""A T5 from scratch: its rows, its loss and its prompts, beside what all trainings have.

A row is a prompt that ends with the start token, and the answer: the encoder gets the tokens before
the start token, the decoder begins with it. One token stands behind each item, as in GRID.
"""

import numpy as np
import torch
from torch import nn
from transformers import T5Config, T5ForConditionalGeneration

from ..errors import InputError
from ..samples import IGNORED, Row
from ..settings import Shape
from ..template import Template, TextSegment, parse_template
from ..training import Training
from ..user_rows import UserRows
from .imported import SEPARATOR, START
from .t5 import EPSILON, MAX_DISTANCE

#: Of a prompt that shows at least one token to the encoder.
LEAST_TOKENS = 2
BUCKETS = 32


def build_t5(shape: Shape, vocabulary_size: int, positions: int, start: int, eos: int, pad: int
             ) -> T5ForConditionalGeneration:
    """As many layers in the encoder as in the decoder; the head is the table. Seed torch before."""
    if not shape.tie_embeddings:
        raise InputError("--tie-embeddings", "tied embeddings of a t5", False)
    config = T5Config(
        vocab_size=vocabulary_size, d_model=shape.hidden, d_kv=shape.head_dim,
        d_ff=shape.intermediate, num_layers=shape.layers, num_decoder_layers=shape.layers,
        num_heads=shape.heads, relative_attention_num_buckets=BUCKETS,
        relative_attention_max_distance=MAX_DISTANCE, layer_norm_epsilon=EPSILON,
        feed_forward_proj="relu", decoder_start_token_id=start, eos_token_id=eos,
        pad_token_id=pad, n_positions=positions)
    return T5ForConditionalGeneration(config)


def set_dropout(model: T5ForConditionalGeneration, rate: float) -> None:
    """T5's own, on embeddings, residual branches, attention and feed-forward."""
    model.config.dropout_rate = rate
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = rate
        elif isinstance(getattr(module, "dropout", None), float):
            module.dropout = rate


def t5_template(patterns: list[str], shown: int) -> Template:
    """The newest items, and the start token."""
    return parse_template({
        "version": 1, "name": "sequence", "levels": patterns,
        "item": {"prefix": "", "suffix": SEPARATOR}, "answer": {"prefix": "", "terminal": []},
        "segments": [{"slot": "history", "separator": "", "before": "", "after": "",
                      "maxItems": shown}, {"text": START}],
        "maxPromptTokens": shown * (len(patterns) + 1) + 1, "trimStep": 1})


def check_t5_template(template: Template, where: str) -> None:
    last = template.segments[-1]
    if not isinstance(last, TextSegment) or not last.text.endswith(START):
        raise InputError(f"{where}: segments[{len(template.segments) - 1}]", f"a text that ends "
                         f"with {START}, where the decoder begins", last)
    if template.answer_prefix:
        raise InputError(f"{where}: answer.prefix", f"none behind {START}", template.answer_prefix)
    texts = template.texts()
    if sum(text.count(START) for text in texts) > 1:
        raise InputError(f"{where}: segments", f"{START} once", "more")


class AnswerRows(UserRows):
    """A row for each behaviour that may be an answer and has a history; the loss counts it alone,
    since the encoder's input is never predicted."""

    def epoch(self, rng: np.random.Generator) -> list[Row]:
        """One pass over all answers. Those with nothing to show before them are left out."""
        rows = [self._row(user, place, rng)[0]
                for user, places in self.users for place in places if place > 0]
        return [row for row in map(self._answer_alone, rows)
                if row.counted.index(True) >= LEAST_TOKENS]

    def _answer_alone(self, row: Row) -> Row:
        begin = row.tokens.index(self.writer.tokenizer.token_to_id(START)) + 1
        return Row(row.tokens, [place >= begin for place in range(len(row.tokens))])


class EncoderDecoderTraining(Training):
    def predictions(self, inputs: torch.Tensor, labels: torch.Tensor
                    ) -> tuple[torch.Tensor, torch.Tensor]:
        config = self.model.config
        parts = divided(inputs, labels, config.decoder_start_token_id, config.pad_token_id)
        hidden = self.model(input_ids=parts["encoder"], attention_mask=parts["mask"],
                            decoder_input_ids=parts["decoder"], use_cache=False).logits
        counted = parts["targets"] != IGNORED
        return hidden[counted], parts["targets"][counted]


def divided(inputs: torch.Tensor, labels: torch.Tensor, start: int, pad: int
            ) -> dict[str, torch.Tensor]:
    """Rows padded on the right, at their start tokens: what the encoder gets and its mask, what the
    decoder gets, and what it is to answer with."""
    begins = (inputs == start).int().argmax(1)
    width = int(begins.max())
    mask = torch.arange(width, device=inputs.device) < begins.unsqueeze(1)
    steps = int((labels != IGNORED).sum(1).max())
    places = begins.unsqueeze(1) + torch.arange(steps, device=inputs.device)
    last = inputs.shape[1] - 1
    targets = labels.gather(1, (places + 1).clamp(max=last))
    return {
        "encoder": inputs[:, :width].masked_fill(~mask, pad), "mask": mask.long(),
        "decoder": inputs.gather(1, places.clamp(max=last)),
        "targets": targets.masked_fill(places + 1 > last, IGNORED),
    }
