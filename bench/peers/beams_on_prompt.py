"""Beams on one prompt over transformers, as somebody writes it who counts bytes.

The prompt is computed by the library's own pass. A step computes one token for each beam, with the
library's layers but for attention: all beams read the prompt's keys and values where they are, once
for all, and only the few positions of their own are kept and reordered for each beam. States of
gated delta nets are the library's: one for each beam, copied and reordered. For decoders whose
attention is that of Qwen3 (queries and keys with a norm of their own, rotary positions) or of
Qwen3.5 (an output gate beside the queries).
"""

import sys

import torch
from transformers import DynamicCache


class BeamsOnPrompt:
    def __init__(self, model: torch.nn.Module) -> None:
        self.model, self.body = model, model.model
        config = model.config
        self.kv_heads, self.head_dim = config.num_key_value_heads, config.head_dim
        self.group = config.num_attention_heads // self.kv_heads
        self.prompt: list[tuple[torch.Tensor, torch.Tensor] | None] = []
        self.states: dict = {}  # layers of the library's cache, of gated delta nets
        self.rotate = sys.modules[type(self.body).__module__].apply_rotary_pos_emb
        self.own: list[tuple[torch.Tensor, torch.Tensor] | None] = []
        self.length = 0

    def prefill(self, tokens: list[int]) -> torch.Tensor:
        """Logits after the prompt, [1, vocabulary]."""
        cache = DynamicCache(config=self.model.config)
        ids = torch.tensor([tokens])
        out = self.model(ids, past_key_values=cache, logits_to_keep=1)
        self.cache, self.beams = cache, 1
        self.states = {
            index: layer
            for index, layer in enumerate(cache.layers)
            if hasattr(layer, "recurrent_states")
        }
        # [kv heads, positions, head size], keys with the positions last.
        self.prompt = [
            None
            if index in self.states
            else (layer.keys[0].transpose(1, 2).contiguous(), layer.values[0].contiguous())
            for index, layer in enumerate(cache.layers)
        ]
        self.own = [None] * len(self.prompt)
        self.length = len(tokens)
        return out.logits[:, -1].float()

    def reorder(self, parents: torch.Tensor) -> None:
        self.own = [
            None if pair is None else (pair[0][parents], pair[1][parents]) for pair in self.own
        ]
        # Those of the prompt are one: the first step copies them.
        if self.beams > 1:
            self.order_states(parents)

    def order_states(self, parents: torch.Tensor) -> None:
        for layer in self.states.values():
            layer.reorder_cache(parents)
        self.beams = len(parents)

    def step(self, tokens: list[int]) -> torch.Tensor:
        """One token for each beam: logits [beams, vocabulary]."""
        ids = torch.tensor(tokens)
        if self.beams != len(ids):
            self.order_states(torch.zeros(len(ids), dtype=torch.long))
        hidden = self.body.embed_tokens(ids)[:, None]
        position = torch.full((1, 1), self.length)
        rotary = self.body.rotary_emb(hidden, position)
        for index, layer in enumerate(self.body.layers):
            normed = layer.input_layernorm(hidden)
            if index in self.states:
                mixed = layer.linear_attn(normed, cache_params=self.cache)
            else:
                mixed = self.attend(layer.self_attn, index, normed, rotary)
            hidden = hidden + mixed
            hidden = hidden + layer.mlp(layer.post_attention_layernorm(hidden))
        self.length += 1
        return self.model.lm_head(self.body.norm(hidden))[:, 0].float()

    def attend(
        self,
        attention: torch.nn.Module,
        index: int,
        hidden: torch.Tensor,
        rotary: tuple[torch.Tensor, torch.Tensor],
    ) -> torch.Tensor:
        beams, size = len(hidden), self.head_dim
        heads = (beams, 1, -1, size)
        projected = attention.q_proj(hidden).view(beams, 1, self.group * self.kv_heads, -1)
        # Of head_dim numbers, or of as many gates behind them.
        gate = projected[..., size:].reshape(beams, 1, -1)
        queries = attention.q_norm(projected[..., :size]).transpose(1, 2)
        keys = attention.k_norm(attention.k_proj(hidden).view(heads)).transpose(1, 2)
        values = attention.v_proj(hidden).view(heads).transpose(1, 2)
        queries, keys = self.rotate(queries, keys, *rotary)
        if self.own[index] is not None:
            before_keys, before_values = self.own[index]
            keys = torch.cat([before_keys, keys], 2)
            values = torch.cat([before_values, values], 2)
        self.own[index] = (keys, values)
        grouped = queries.reshape(beams, self.kv_heads, self.group, size)
        rows = grouped.transpose(0, 1).reshape(self.kv_heads, beams * self.group, size)
        prompt_keys, prompt_values = self.prompt[index]
        shape = (self.kv_heads, beams, self.group, -1)
        scores = torch.cat(
            [
                torch.bmm(rows, prompt_keys).view(shape).transpose(0, 1),
                torch.matmul(grouped, keys.transpose(2, 3)),
            ],
            -1,
        )
        weights = torch.softmax(scores.float() * attention.scaling, -1).to(scores.dtype)
        of_prompt, of_own = weights.split([prompt_keys.shape[2], keys.shape[2]], -1)
        rows = of_prompt.transpose(0, 1).reshape(self.kv_heads, beams * self.group, -1)
        mixed = torch.bmm(rows, prompt_values).view(shape).transpose(0, 1)
        mixed = mixed + torch.matmul(of_own, values)
        mixed = mixed.reshape(beams, 1, -1)
        return attention.o_proj(mixed * torch.sigmoid(gate) if gate.shape[-1] else mixed)
