"""`python -m trainer fixtures`: small random checkpoints with recorded answers.

Each folder holds config.json, weights, catalogue.jsonl and cases.json. The weights are scaled
up so that logits are well spread; a case is kept only where no decision of the search was
closer than MARGIN, so that float32 engines must give the same list in the same order.
"""

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText

from .checkpoint import write_json
from .constraint import SidTree, reference_beam, transformers_beam
from .encoder_decoder import JoinedRows, load_t5, make_t5
from .exact import in_double

MARGIN = 2e-4
TRIES = 200
LOGITS_SHOWN = 16
HF_TOLERANCE = 1e-3
PROMPT_LENGTHS = (1, 7, 33, 44)


@dataclass(frozen=True)
class Family:
    """One fixture: the architecture's config as its trainers spell it, and its catalogue."""

    name: str
    config: dict[str, Any]
    seed: int
    depth: int = 3
    mixed: bool = False
    codes: int = 12
    sids: int = 150
    dtype: torch.dtype = torch.float32
    shards: int = 1
    terminal: list[int] = field(default_factory=list)
    experts_together: bool = False  # two tensors of all experts; else each has its own
    widths: tuple[tuple[int, ...], ...] = ((50,), (4, 8, 16), (1,), (3, 50, 7))
    lengths: tuple[int, ...] = PROMPT_LENGTHS

    @property
    def is_hybrid(self) -> bool:
        """transformers saves the folder; prompts end on all sides of blocks and chunks."""
        return "layer_types" in (self.config.get("text_config") or self.config)

    @property
    def has_encoder(self) -> bool:
        """Prompts are joined rows (encoder_decoder.py)."""
        return self.config["model_type"] == "t5"


def _config(model_type: str, architecture: str, **fields: Any) -> dict[str, Any]:
    return {"architectures": [architecture], "model_type": model_type, "hidden_act": "silu",
            "rms_norm_eps": 1e-6, "max_position_embeddings": 128, "bos_token_id": 1,
            "eos_token_id": 2, "num_hidden_layers": 2, **fields}


def _hybrid(model_type: str, layers: str, **fields: Any) -> dict[str, Any]:
    """`layers`: a letter for each, d a gated delta net, f full attention."""
    kinds = {"d": "linear_attention", "f": "full_attention"}
    return {"model_type": model_type, "num_hidden_layers": len(layers), "vocab_size": 64,
            "layer_types": [kinds[layer] for layer in layers], "max_position_embeddings": 128,
            "hidden_size": 40, "intermediate_size": 36, "num_attention_heads": 4,
            "num_key_value_heads": 2, "head_dim": 16, "linear_num_key_heads": 2,
            "linear_num_value_heads": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 12,
            "bos_token_id": 1, "eos_token_id": 2, **fields}


def _t5(**fields: Any) -> dict[str, Any]:
    return {"architectures": ["T5ForConditionalGeneration"], "model_type": "t5",
            "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1,
            "is_encoder_decoder": True, "dtype": "float32", **fields}


#: Around a chunk of 16 positions, a block of 32, and over several of both; forty prompts.
HYBRID_PROMPTS = {"lengths": (1, 15, 16, 17, 33, 100, 2, 31) * 5,
                  "widths": ((8,), (4, 8, 3), (1,), (12,), (6,)) * 8}

LLAMA3_ROPE = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
               "high_freq_factor": 4.0, "original_max_position_embeddings": 32}

FAMILIES = [
    Family("qwen3-tied", _config(
        "qwen3", "Qwen3ForCausalLM", vocab_size=97, hidden_size=60, intermediate_size=72,
        num_attention_heads=3, num_key_value_heads=1, head_dim=20, tie_word_embeddings=True,
        attention_bias=False, dtype="float32",
        rope_parameters={"rope_type": "default", "rope_theta": 1000000.0}), seed=11),
    Family("qwen2-bias-untied", _config(
        "qwen2", "Qwen2ForCausalLM", vocab_size=83, hidden_size=48, intermediate_size=80,
        num_attention_heads=6, num_key_value_heads=2, tie_word_embeddings=False,
        torch_dtype="float32", rope_theta=10000.0, use_sliding_window=False), seed=12,
        depth=2, codes=20, sids=120),
    Family("llama-llama3-rope", _config(
        "llama", "LlamaForCausalLM", vocab_size=101, hidden_size=64, intermediate_size=64,
        num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=False,
        attention_bias=False, mlp_bias=False, torch_dtype="float32", rope_theta=10000.0,
        rope_scaling=LLAMA3_ROPE), seed=13, depth=4, codes=10),
    Family("llama-f16-nested-rope", _config(
        "llama", "LlamaForCausalLM", vocab_size=90, hidden_size=72, intermediate_size=96,
        num_attention_heads=3, num_key_value_heads=3, head_dim=24, tie_word_embeddings=True,
        attention_bias=False, mlp_bias=False, dtype="float16",
        rope_parameters={**LLAMA3_ROPE, "rope_theta": 5000.0}), seed=14,
        dtype=torch.float16),
    Family("qwen3-yarn", _config(
        "qwen3", "Qwen3ForCausalLM", vocab_size=67, hidden_size=36, intermediate_size=44,
        num_attention_heads=2, num_key_value_heads=1, head_dim=20, tie_word_embeddings=True,
        attention_bias=False, dtype="float32", rope_parameters={
            "rope_type": "yarn", "rope_theta": 1000000.0, "factor": 4.0,
            "original_max_position_embeddings": 32}), seed=25, sids=60,
        lengths=(7, 31, 60, 120)),
    Family("llama-yarn-mscale", _config(
        "llama", "LlamaForCausalLM", vocab_size=59, hidden_size=32, intermediate_size=40,
        num_attention_heads=2, num_key_value_heads=2, tie_word_embeddings=True,
        attention_bias=False, mlp_bias=False, torch_dtype="float32", rope_theta=500.0,
        original_max_position_embeddings=24, rope_scaling={
            "type": "yarn", "factor": 5.5, "beta_fast": 4, "beta_slow": 0.5, "truncate": False,
            "mscale": 0.8, "mscale_all_dim": 0.4}), seed=27, sids=60, lengths=(7, 24, 60, 120)),
    Family("mistral-bf16", _config(
        "mistral", "MistralForCausalLM", vocab_size=96, hidden_size=80, intermediate_size=112,
        num_attention_heads=5, num_key_value_heads=1, tie_word_embeddings=False,
        sliding_window=None, torch_dtype="bfloat16", rope_theta=100000.0), seed=15,
        dtype=torch.bfloat16, sids=60, codes=8),
    Family("qwen3-sharded-bf16", _config(
        "qwen3", "Qwen3ForCausalLM", vocab_size=128, hidden_size=64, intermediate_size=96,
        num_attention_heads=4, num_key_value_heads=2, head_dim=32, tie_word_embeddings=False,
        attention_bias=False, torch_dtype="bfloat16", rope_theta=1000000.0, rope_scaling=None),
        seed=16, dtype=torch.bfloat16, shards=2, depth=1, codes=100, sids=90),
    Family("qwen3-mixed-depth", _config(
        "qwen3", "Qwen3ForCausalLM", vocab_size=89, hidden_size=56, intermediate_size=64,
        num_attention_heads=7, num_key_value_heads=1, head_dim=12, tie_word_embeddings=True,
        attention_bias=False, dtype="float32",
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0}), seed=17,
        depth=5, mixed=True, codes=9, terminal=[2], widths=((20,), (8,), (1,), (64,))),
    Family("qwen2-two-terminals", _config(
        "qwen2", "Qwen2ForCausalLM", vocab_size=64, hidden_size=48, intermediate_size=56,
        num_attention_heads=4, num_key_value_heads=4, tie_word_embeddings=True,
        dtype="float32", rope_parameters={"rope_type": "default", "rope_theta": 10000.0}),
        seed=19, depth=3, mixed=True, codes=10, sids=100, terminal=[60, 2],
        widths=((25,), (6,), (2,), (80,))),
    Family("qwen3-mixed-no-terminal", _config(
        "qwen3", "Qwen3ForCausalLM", vocab_size=71, hidden_size=40, intermediate_size=48,
        num_attention_heads=2, num_key_value_heads=1, head_dim=20, tie_word_embeddings=True,
        attention_bias=False, dtype="float32",
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0}), seed=18,
        depth=3, mixed=True, codes=9, sids=80, widths=((64,), (5,), (2, 9, 4), (1,))),
    Family("qwen3-moe", _config(
        "qwen3_moe", "Qwen3MoeForCausalLM", vocab_size=79, hidden_size=40, intermediate_size=56,
        moe_intermediate_size=24, num_experts=7, num_experts_per_tok=3, norm_topk_prob=True,
        decoder_sparse_step=1, mlp_only_layers=[1], num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, head_dim=12, tie_word_embeddings=True, attention_bias=False,
        torch_dtype="float32", rope_theta=1000000.0), seed=21),
    Family("qwen3-moe-together-bf16", _config(
        "qwen3_moe", "Qwen3MoeForCausalLM", vocab_size=84, hidden_size=48, intermediate_size=40,
        moe_intermediate_size=36, num_local_experts=9, num_experts_per_tok=2,
        norm_topk_prob=False, decoder_sparse_step=2, mlp_only_layers=[], num_hidden_layers=4,
        num_attention_heads=3, num_key_value_heads=1, head_dim=16, tie_word_embeddings=False,
        attention_bias=False, dtype="bfloat16",
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0}), seed=22,
        dtype=torch.bfloat16, shards=2, depth=2, codes=20, sids=120, experts_together=True),
    Family("qwen2-moe-shared", _config(
        "qwen2_moe", "Qwen2MoeForCausalLM", vocab_size=76, hidden_size=40, intermediate_size=48,
        moe_intermediate_size=20, shared_expert_intermediate_size=52, num_experts=5,
        num_experts_per_tok=2, norm_topk_prob=False, decoder_sparse_step=1, qkv_bias=True,
        num_attention_heads=4, num_key_value_heads=2,
        tie_word_embeddings=False, use_sliding_window=False, dtype="float32",
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0}), seed=23),
    Family("olmoe", _config(
        "olmoe", "OlmoeForCausalLM", vocab_size=82, hidden_size=48, intermediate_size=28,
        num_experts=8, num_experts_per_tok=3, norm_topk_prob=False, num_attention_heads=4,
        num_key_value_heads=2, tie_word_embeddings=False, attention_bias=False, clip_qkv=None,
        pad_token_id=1, dtype="float32",
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0}), seed=24,
        depth=3, mixed=True, codes=9, sids=100, terminal=[2], widths=((20,), (8,), (1,), (64,))),
    Family("qwen3-5-attention", _hybrid(
        "qwen3_5_text", "ff", attention_bias=True, tie_word_embeddings=False), seed=31),
    Family("qwen3-5-text", _hybrid("qwen3_5_text", "dddf", tie_word_embeddings=True), seed=32,
           **HYBRID_PROMPTS),
    Family("qwen3-5-vision-bf16", {
        "model_type": "qwen3_5", "tie_word_embeddings": False,
        "text_config": _hybrid("qwen3_5_text", "fdd", linear_num_value_heads=2,
                               linear_conv_kernel_dim=3),
        "vision_config": {"depth": 1, "hidden_size": 8, "intermediate_size": 8, "num_heads": 1,
                          "patch_size": 2, "spatial_merge_size": 1, "temporal_patch_size": 1,
                          "num_position_embeddings": 4, "out_hidden_size": 40}},
           seed=33, dtype=torch.bfloat16, **HYBRID_PROMPTS),
    Family("qwen3-next-bf16", _hybrid(
        "qwen3_next", "dfdf", tie_word_embeddings=False, mlp_only_layers=[2], num_experts=4,
        num_experts_per_tok=2, moe_intermediate_size=12, shared_expert_intermediate_size=20),
           seed=34, dtype=torch.bfloat16, **HYBRID_PROMPTS),
    Family("t5-tied", _t5(
        vocab_size=61, d_model=48, d_kv=16, d_ff=72, num_layers=2, num_heads=3,
        feed_forward_proj="relu", tie_word_embeddings=True), seed=41, codes=10, sids=120,
        lengths=(2, 34, 120, 201), widths=((40,), (4, 8, 16), (1,), (9,))),
    Family("t5-gated-untied", _t5(
        vocab_size=57, d_model=40, d_kv=12, d_ff=56, num_layers=3, num_decoder_layers=2,
        num_heads=4, feed_forward_proj="gated-gelu", tie_word_embeddings=False,
        relative_attention_num_buckets=16, relative_attention_max_distance=40), seed=42, depth=4,
        codes=9, lengths=(9, 33, 64, 65)),
    Family("t5-ends-bf16", _t5(
        vocab_size=53, d_model=32, d_kv=20, d_ff=44, num_layers=1, num_decoder_layers=3,
        num_heads=2, feed_forward_proj="gated-silu", tie_word_embeddings=True,
        decoder_start_token_id=2, dtype="bfloat16"), seed=43, dtype=torch.bfloat16, depth=4,
        mixed=True, codes=8, sids=90, terminal=[1], lengths=(2, 31, 90, 150),
        widths=((20,), (8,), (1,), (64,))),
    Family("t5-deep", _t5(
        vocab_size=49, d_model=32, d_kv=16, d_ff=40, num_layers=2, num_heads=2,
        feed_forward_proj="relu", feed_forward_layers=3, feed_forward_bias=True,
        tie_word_embeddings=False), seed=45, codes=12, sids=100, lengths=(5, 32, 70, 130)),
]


def run(args: argparse.Namespace) -> None:
    """Writes every family, or the named one."""
    for family in FAMILIES:
        if args.family in (None, family.name):
            write_family(family, Path(args.out) / family.name)


def write_family(family: Family, folder: Path) -> None:
    """Weights, catalogue and recorded cases of one family."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(family.seed)
    if family.is_hybrid:
        _save_hybrid(family, folder, rng)
    else:
        write_json(folder / "config.json", family.config)
        _write_weights(family, folder, rng)
    bases = [3 + level * family.codes for level in range(family.depth)]
    sids = _write_catalogue(family, folder, rng)
    tree = SidTree(sids, lambda level, code: bases[level] + code, family.terminal)
    exact, single = _load(family, folder, torch.float64), _load(family, folder, torch.float32)
    cases = []
    for length, widths in zip(family.lengths, family.widths):
        widths_used = list(widths) if len(widths) == 1 else list(widths)[:family.depth]
        cases.append(_case(exact, single, tree, length, widths_used, bases, rng))
    (folder / "cases.json").write_text(
        "[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{family.name}: {len(sids)} SIDs, {size / 1024:.0f} KiB")


def _save_hybrid(family: Family, folder: Path, rng: np.random.Generator) -> None:
    """As transformers saves it. Of a token, keys lie near the queries, as in trained models: the
    norm of what a delta net reads would divide float32's own error by what they leave of it."""
    config = AutoConfig.for_model(**family.config)
    kind = AutoModelForImageTextToText if "vision_config" in family.config else AutoModelForCausalLM
    model = kind.from_config(config)
    text = config.get_text_config()
    heads, size = text.linear_num_key_heads, text.linear_key_head_dim
    for name, parameter in model.named_parameters():
        value = torch.tensor(rng.standard_normal(tuple(parameter.shape)))
        if name.endswith("A_log"):
            value = torch.log(0.02 + 0.2 * value.abs())
        elif name.endswith("dt_bias"):
            value = 0.5 * value - 1
        elif name.endswith("conv1d.weight"):
            value = 0.3 * value
            value[..., -1] += 1
        elif name.endswith("bias"):
            value = 0.3 * value
        elif value.dim() == 1:
            value = 0.2 * value + (1 if "linear_attn.norm" in name else 0)
        else:
            value = value * (0.3 if "embed" in name else 1.0 / np.sqrt(value.shape[-1]))
        if "in_proj_qkv" in name:  # queries, then keys: of all heads, or head by head
            rows = value.view(heads, -1, value.shape[-1]) if "qkvz" in name else value[None]
            count = size if "qkvz" in name else heads * size
            rows[:, count:2 * count] = 0.9 * rows[:, :count] + 0.4 * rows[:, count:2 * count]
        parameter.data.copy_(value)
    model.to(family.dtype).save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)
    (folder / "generation_config.json").unlink(missing_ok=True)


def _load(family: Family, folder: Path, dtype: torch.dtype):
    settings = {"dtype": dtype, "attn_implementation": "eager"}
    if family.has_encoder:
        return JoinedRows(load_t5(folder, dtype))
    model = AutoModelForCausalLM.from_pretrained(
        folder, experts_implementation="eager", **settings).eval()
    return in_double(model) if dtype == torch.float64 else model


def _write_weights(family: Family, folder: Path, rng: np.random.Generator) -> None:
    config = AutoConfig.from_pretrained(folder)
    model = make_t5(config) if family.has_encoder else AutoModelForCausalLM.from_config(config)
    tensors = {}
    for name, value in sorted(model.state_dict().items()):
        if family.config["tie_word_embeddings"] and name == "lm_head.weight":
            continue
        if ".embed_tokens." in name and family.has_encoder:
            continue
        noise = rng.standard_normal(tuple(value.shape))
        if name.endswith("bias"):
            weights = 0.3 * noise
        elif value.dim() == 1:
            weights = 1.0 + 0.2 * noise
        else:
            weights = noise * _spread(name, value.shape[-1], family)
        tensors[name] = torch.tensor(weights, dtype=torch.float64).to(family.dtype).contiguous()
    if not family.experts_together:
        tensors = _with_experts_apart(tensors)
    if family.shards == 1:
        save_file(tensors, folder / "model.safetensors", {"format": "pt"})
        return
    names = sorted(tensors)
    parts = [names[i::family.shards] for i in range(family.shards)]
    weight_map = {}
    for number, part in enumerate(parts, 1):
        file = f"model-{number:05d}-of-{family.shards:05d}.safetensors"
        save_file({name: tensors[name] for name in part}, folder / file, {"format": "pt"})
        weight_map |= {name: file for name in part}
    total = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    write_json(folder / "model.safetensors.index.json", {
        "metadata": {"total_size": total}, "weight_map": dict(sorted(weight_map.items()))})


def _spread(name: str, inputs: int, family: Family) -> float:
    """Standard deviation of a tensor's weights. Scores of T5 are not divided by sqrt(d_kv)."""
    if "relative_attention_bias" in name or "embed" in name:
        return 1.0 if family.has_encoder else 0.4
    if name == "shared.weight":
        return 3.0 if family.config["tie_word_embeddings"] else 0.4
    return (0.5 if family.has_encoder and "Attention.q" in name else 1.6) / np.sqrt(inputs)


def _with_experts_apart(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Each expert's matrices as tensors of their own, as most trainers save them."""
    apart = {}
    for name, value in tensors.items():
        layer, together, kind = name.partition(".experts.")
        if not together:
            apart[name] = value
            continue
        for expert, matrix in enumerate(value):
            prefix = f"{layer}.experts.{expert}."
            if kind == "down_proj":
                apart[f"{prefix}down_proj.weight"] = matrix.contiguous()
                continue
            gate, up = matrix.chunk(2)
            apart[f"{prefix}gate_proj.weight"] = gate.contiguous()
            apart[f"{prefix}up_proj.weight"] = up.contiguous()
    return apart


def _write_catalogue(family: Family, folder: Path,
                     rng: np.random.Generator) -> list[tuple[int, ...]]:
    sids: set[tuple[int, ...]] = set()
    while len(sids) < family.sids:
        length = int(rng.integers(1, family.depth + 1)) if family.mixed else family.depth
        sids.add(tuple(int(code) for code in rng.integers(family.codes, size=length)))
    ordered = sorted(sids)
    doubled = {int(place) for place in rng.choice(len(ordered), 5, replace=False)}
    lines = []
    for place, sid in enumerate(ordered):
        for copy in range(2 if place in doubled else 1):
            item = f"{place}" if copy == 0 else f"{place}-{copy}"
            lines.append(json.dumps({"item_id": item, "sid": list(sid)}) + "\n")
    (folder / "catalogue.jsonl").write_text("".join(lines))
    return ordered


def _case(exact, single, tree: SidTree, length: int, widths: list[int], bases: list[int],
          rng: np.random.Generator) -> dict[str, Any]:
    vocabulary = exact.config.vocab_size
    for _ in range(TRIES):
        prompt = [int(token) for token in rng.integers(3, vocabulary, size=length)]
        if isinstance(exact, JoinedRows):
            prompt[-1] = exact.config.decoder_start_token_id
        result = reference_beam(exact, prompt, tree, widths)
        if result.margin >= MARGIN:
            break
    else:
        raise RuntimeError(f"no prompt without a near tie in {TRIES} tries")
    # transformers has one width for all steps and ends paths by a token or by their length.
    # A width of one is greedy search there, without scores.
    if not isinstance(exact, JoinedRows) and len(widths) == 1 and widths[0] > 1 and (
            tree.terminal or all(len(sid) == tree.depth for sid in tree.ends)):
        theirs = transformers_beam(single, prompt, tree, widths[0])
        if [a.sid for a in theirs] != [a.sid for a in result.answers]:
            raise RuntimeError("transformers and the double-precision search disagree")
        worst = max(abs(a.score - b.score) for a, b in zip(theirs, result.answers))
        if worst > HF_TOLERANCE:
            raise RuntimeError(f"scores differ by {worst}")
    with torch.inference_mode():
        logits = exact(input_ids=torch.tensor([prompt])).logits[0, -1]
    return {
        "promptTokens": prompt, "widths": widths, "terminalTokens": tree.terminal,
        "levelTokenBase": bases, "scoreNorm": "full", "margin": round(result.margin, 6),
        "expected": [{"sid": list(a.sid), "score": round(a.score, 7)} for a in result.answers],
        "logits_last": [round(value, 7) for value in logits[:LOGITS_SHOWN].tolist()],
    }
