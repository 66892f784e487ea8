"""Qwen3 from scratch, with the dropout that the published architecture lacks."""

import torch
from torch import nn
from transformers import Qwen3Config, Qwen3ForCausalLM

from .settings import Shape


def build_model(shape: Shape, vocabulary_size: int, positions: int, bos: int, eos: int,
                pad: int) -> Qwen3ForCausalLM:
    """A freshly initialised model; seed torch before."""
    config = Qwen3Config(
        vocab_size=vocabulary_size, hidden_size=shape.hidden,
        intermediate_size=shape.intermediate, num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads, num_key_value_heads=shape.kv_heads,
        head_dim=shape.head_dim, max_position_embeddings=positions,
        tie_word_embeddings=shape.tie_embeddings, rope_theta=10000.0, rms_norm_eps=1e-6,
        bos_token_id=bos, eos_token_id=eos, pad_token_id=pad, use_cache=True,
        attn_implementation="sdpa")
    return Qwen3ForCausalLM(config)


def add_dropout(model: Qwen3ForCausalLM, rate: float) -> None:
    """Drops parts of the embeddings and of each residual branch, in training mode only.

    Hooks leave no trace in the saved weights, so the export is a plain Hugging Face model.
    """
    def drop(module: nn.Module, _inputs, output: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(output, rate, module.training)

    model.model.embed_tokens.register_forward_hook(drop)
    for layer in model.model.layers:
        layer.self_attn.o_proj.register_forward_hook(drop)
        layer.mlp.down_proj.register_forward_hook(drop)


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """Weight decay acts on matrices, not on norm gains."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    gains = [p for p in model.parameters() if p.dim() <= 1]
    return [{"params": matrices, "weight_decay": weight_decay},
            {"params": gains, "weight_decay": 0.0}]


def count_parameters(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())
