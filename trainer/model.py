"""Qwen3 from scratch or a checkpoint, with the dropout that published architectures lack."""

from pathlib import Path

import torch
from torch import nn
from transformers import (
    AutoModelForCausalLM,
    PreTrainedModel,
    Qwen3_5ForCausalLM,
    Qwen3_5TextConfig,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from .errors import InputError
from .settings import Shape


#: Families that the service serves (native/src/model/family.cc).
FAMILIES = ("qwen3", "qwen2", "llama", "mistral", "qwen3_moe", "qwen2_moe", "olmoe",
            "qwen3_5_text", "qwen3_next")

#: Layers from one of attention to the next, of a hybrid.
ATTENTION_INTERVAL = 4


def build_model(shape: Shape, vocabulary_size: int, positions: int, bos: int, eos: int,
                pad: int) -> PreTrainedModel:
    """A freshly initialised model; seed torch before."""
    common = dict(
        vocab_size=vocabulary_size, hidden_size=shape.hidden,
        intermediate_size=shape.intermediate, num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads, num_key_value_heads=shape.kv_heads,
        head_dim=shape.head_dim, max_position_embeddings=positions,
        tie_word_embeddings=shape.tie_embeddings, rms_norm_eps=1e-6,
        bos_token_id=bos, eos_token_id=eos, pad_token_id=pad, use_cache=True,
        attn_implementation="sdpa")
    if shape.family == "qwen3":
        return Qwen3ForCausalLM(Qwen3Config(rope_theta=10000.0, **common))
    # The last layer is of attention, however many there are.
    kinds = ["full_attention" if layer % ATTENTION_INTERVAL == 0 else "linear_attention"
             for layer in range(shape.layers)][::-1]
    return Qwen3_5ForCausalLM(Qwen3_5TextConfig(
        layer_types=kinds, linear_num_key_heads=shape.kv_heads,
        linear_num_value_heads=shape.heads, linear_key_head_dim=shape.head_dim,
        linear_value_head_dim=shape.head_dim, **common))


def is_hybrid(model: PreTrainedModel) -> bool:
    """Some of its layers keep a state in place of keys and values."""
    return "linear_attention" in (getattr(model.config, "layer_types", None) or [])


def start_from(folder: Path, vocabulary_size: int, positions: int, bos: int, eos: int, pad: int
               ) -> PreTrainedModel:
    """The model of a Hugging Face folder, with a row for each token of a larger vocabulary; new
    rows begin around the mean of those there are (transformers' `mean_resizing`)."""
    try:
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32,
                                                     local_files_only=True,
                                                     trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise InputError("--from", "a folder of a Hugging Face checkpoint", str(error)) from error
    if model.config.model_type not in FAMILIES:
        raise InputError("--from", f"a model that is served, one of {', '.join(FAMILIES)}",
                         model.config.model_type)
    if model.config.max_position_embeddings < positions:
        raise InputError("--from", f"a model of {positions} positions or more (--max-items)",
                         model.config.max_position_embeddings)
    model.resize_token_embeddings(max(vocabulary_size, model.config.vocab_size))
    model.config.bos_token_id, model.config.eos_token_id = bos, eos
    model.config.pad_token_id = pad
    return model


#: Of the numbers of a codebook, below which its codes are alike.
LEAST_SPREAD = 1e-6


@torch.no_grad()
def embed_codes(model: PreTrainedModel, books: list[torch.Tensor],
                level_tokens: list[dict[int, int]]) -> None:
    """Codes of a level that lie near each other begin with embeddings that do: a random projection
    of the codebook, as large as the rows that it takes the place of."""
    rows = model.get_input_embeddings().weight
    for book, tokens in zip(books, level_tokens, strict=True):
        places = torch.tensor([tokens[code] for code in range(len(book))])
        centred = (book - book.mean(0)) @ torch.randn(book.shape[1], rows.shape[1])
        spread = float(centred.std())
        # The codes of a level that no item needs are alike: there is nothing to tell apart.
        if spread > LEAST_SPREAD:
            rows[places] = rows[places] + centred * (rows[places].std() / spread)


def add_dropout(model: PreTrainedModel, rate: float) -> None:
    """Drops parts of the embeddings and of each residual branch, in training mode only.

    Hooks leave no trace in the saved weights, so the export is a plain Hugging Face model.
    """
    def drop(module: nn.Module, _inputs, output: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(output, rate, module.training)

    model.model.embed_tokens.register_forward_hook(drop)
    for layer in model.model.layers:
        mixer = getattr(layer, "linear_attn", None)
        (layer.self_attn.o_proj if mixer is None else mixer.out_proj).register_forward_hook(drop)
        layer.mlp.register_forward_hook(drop)


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """Weight decay acts on matrices, not on norm gains."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    gains = [p for p in model.parameters() if p.dim() <= 1]
    return [{"params": matrices, "weight_decay": weight_decay},
            {"params": gains, "weight_decay": 0.0}]


def count_parameters(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())
