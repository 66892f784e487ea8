"""Gated delta nets in double precision.

transformers computes their rule, their norms and their decays in float32 whatever the type of the
model: `in_double` has modules of the hybrid families compute them in the type of their inputs,
the rule token by token as it is defined.
"""

from unittest.mock import patch

import torch
from torch import nn
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.models.qwen3_5 import modeling_qwen3_5
from transformers.models.qwen3_next import modeling_qwen3_next

FAMILIES = {"Qwen3_5": modeling_qwen3_5, "Qwen3Next": modeling_qwen3_next}
EPSILON = 1e-6


def _unit(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + EPSILON)


def delta_rule(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, g: torch.Tensor,
               beta: torch.Tensor, initial_state: torch.Tensor | None = None,
               output_final_state: bool = False, **_others: object
               ) -> tuple[torch.Tensor, torch.Tensor | None]:
    """[batch, tokens, heads, size] each; g and beta without a size."""
    shared = value.shape[2] // key.shape[2]
    query = _unit(query).repeat_interleave(shared, 2) / query.shape[-1] ** 0.5
    key = _unit(key).repeat_interleave(shared, 2)
    batch, tokens, heads, size = value.shape
    state = initial_state
    if state is None:
        state = value.new_zeros(batch, heads, key.shape[-1], size)
    outputs = torch.empty_like(value)
    for t in range(tokens):
        state = state * g[:, t].exp()[..., None, None]
        seen = torch.einsum("bhkv,bhk->bhv", state, key[:, t])
        change = beta[:, t, :, None] * (value[:, t] - seen)
        state = state + key[:, t, :, :, None] * change[:, :, None]
        outputs[:, t] = torch.einsum("bhkv,bhk->bhv", state, query[:, t])
    return outputs, state if output_final_state else None


def _norm(module: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + module.eps) * (1 + module.weight)


def _gated_norm(module: nn.Module, x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + module.variance_epsilon)
    return module.weight * (x * scale) * functional.silu(gate)


def in_double(model: PreTrainedModel) -> PreTrainedModel:
    """The model itself; nothing changes for those without gated delta nets."""
    for module in model.modules():
        kind = type(module).__name__
        family = next((name for name in FAMILIES if kind.startswith(name)), None)
        if family is None:
            continue
        if kind == f"{family}RMSNorm":
            module.forward = _norm.__get__(module)
        elif kind == f"{family}RMSNormGated":
            module.forward = _gated_norm.__get__(module)
        elif kind == f"{family}GatedDeltaNet":
            module.forward = _delta_net(FAMILIES[family], module.forward)
    return model.double()


def _delta_net(source, forward):
    def exact(*args, **kwargs):
        with patch.object(source, "torch_chunk_gated_delta_rule", delta_rule), \
                patch.object(source, "torch_recurrent_gated_delta_rule", delta_rule), \
                patch.object(torch.Tensor, "float", torch.Tensor.double):
            return forward(*args, **kwargs)
    return exact
