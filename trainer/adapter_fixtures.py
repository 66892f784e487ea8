"""`python -m trainer adapter-fixtures`: small random adapters with recorded logits.

Each folder holds an adapter as PEFT saves it, for a checkpoint of test/fixtures/parity, and
cases.json: prompts and the logits of transformers and PEFT in double precision.
"""

import argparse
import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import (AutoModelForCausalLM, AutoModelForImageTextToText,
                          AutoModelForSeq2SeqLM, PreTrainedModel)

from .checkpoint import write_json
from .encoder_decoder import JoinedRows
from .exact import in_double

PROMPT_LENGTHS = (1, 9, 40)
SHOWN_ROWS = 5  # tokens whose rows are replaced are in every prompt


@dataclass(frozen=True)
class Fixture:
    """One adapter: the checkpoint it is for and PEFT's configuration."""

    name: str
    model: str
    config: dict[str, Any]
    seed: int
    dtype: torch.dtype = torch.float32
    changed_rows: int = 4  # of a whole matrix that is saved
    steps: int = 0  # of training; 0: random numbers
    whole: bool = False  # with the vision tower beside the decoder

    @property
    def has_encoder(self) -> bool:
        """Prompts are joined rows (encoder_decoder.py)."""
        return self.model.startswith("t5-")


FIXTURES = [
    Fixture("all-linear", "qwen3-tied", {
        "r": 4, "lora_alpha": 8, "target_modules": "all-linear"}, seed=21),
    Fixture("patterns-rslora", "qwen3-tied", {
        "r": 6, "lora_alpha": 9, "use_rslora": True,
        "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj",
                           "down_proj"],
        "rank_pattern": {"q_proj": 1, "layers.1.self_attn.o_proj": 33, r"mlp\.(up|down)_proj": 17,
                         "model.layers.0.self_attn.k_proj": 128},
        "alpha_pattern": {"layers.0.mlp.gate_proj": 3, "^.*v_proj": 20}}, seed=22),
    Fixture("regex-bf16", "llama-llama3-rope", {
        "r": 5, "lora_alpha": 5,
        "target_modules": r"model\.layers\.[1-9]\..*\.(q_proj|up_proj|down_proj)"},
        seed=23, dtype=torch.bfloat16),
    Fixture("one-layer-f16", "qwen2-bias-untied", {
        "r": 3, "lora_alpha": 12, "target_modules": ["v_proj", "down_proj"],
        "layers_to_transform": [1]}, seed=24, dtype=torch.float16),
    Fixture("tokens-tied", "qwen3-tied", {
        "r": 2, "lora_alpha": 4, "target_modules": ["q_proj", "v_proj"],
        "trainable_token_indices": [70, 5, 33, 34]}, seed=25),
    Fixture("tokens-untied", "qwen2-bias-untied", {
        "r": 2, "lora_alpha": 4, "target_modules": ["o_proj"],
        "trainable_token_indices": {"embed_tokens": [9, 4], "lm_head": [80, 4, 31]}}, seed=26),
    Fixture("modules-embedding-tied", "qwen3-tied", {
        "r": 2, "lora_alpha": 4, "target_modules": ["k_proj"],
        "modules_to_save": ["embed_tokens"]}, seed=27),
    Fixture("modules-head-tied", "qwen3-tied", {
        "r": 2, "lora_alpha": 4, "target_modules": ["k_proj"],
        "modules_to_save": ["lm_head"]}, seed=28),
    Fixture("modules-untied", "qwen2-bias-untied", {
        "r": 2, "lora_alpha": 4, "target_modules": ["gate_proj"],
        "modules_to_save": ["embed_tokens", "lm_head"]}, seed=29),
    Fixture("experts-together", "qwen3-moe", {
        "r": 3, "lora_alpha": 6, "target_modules": ["q_proj"],
        "target_parameters": ["mlp.experts.gate_up_proj", "mlp.experts.down_proj"],
        "rank_pattern": {"experts.down_proj": 2}}, seed=31),
    Fixture("experts-down", "olmoe", {
        "r": 4, "lora_alpha": 8, "target_modules": [],
        "target_parameters": ["experts.down_proj"]}, seed=32, dtype=torch.bfloat16),
    Fixture("shared-expert", "qwen2-moe-shared", {
        "r": 3, "lora_alpha": 6, "target_modules": ["v_proj", "gate_proj", "down_proj"]}, seed=33),
    Fixture("factors-of-head", "qwen2-bias-untied", {
        "r": 3, "lora_alpha": 6, "target_modules": ["v_proj", "lm_head"],
        "rank_pattern": {"lm_head": 5}}, seed=34),
    Fixture("factors-of-embedding-tied", "qwen3-tied", {
        "r": 3, "lora_alpha": 7, "target_modules": ["embed_tokens", "q_proj"]}, seed=35),
    Fixture("factors-of-both-bf16", "qwen2-bias-untied", {
        "r": 2, "lora_alpha": 4, "use_rslora": True,
        "target_modules": ["embed_tokens", "lm_head", "up_proj"]}, seed=36, dtype=torch.bfloat16),
    Fixture("look-ahead", "qwen3-tied", {
        "r": 2, "lora_alpha": 4,
        "target_modules": r"model\.layers\.\d+\.(?!mlp).*\.(q_proj|v_proj)",
        "rank_pattern": {r"(?<!self_attn\.)v_proj": 9, "q_proj": 3}}, seed=37),
    Fixture("gated-attention", "qwen3-5-attention", {
        "r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "k_proj", "o_proj"]}, seed=38),
    Fixture("hybrid-all-linear", "qwen3-5-text", {
        "r": 4, "lora_alpha": 8, "target_modules": "all-linear",
        "rank_pattern": {"in_proj_b": 2, "layers.1.linear_attn.out_proj": 9}}, seed=39),
    Fixture("hybrid-with-vision", "qwen3-5-vision-bf16", {
        "r": 2, "lora_alpha": 4, "target_modules": "all-linear"}, seed=40, whole=True),
    Fixture("hybrid-of-vision", "qwen3-5-vision-bf16", {
        "r": 3, "lora_alpha": 6, "target_modules": r"model\.layers\..*\.(in_proj_qkv|in_proj_a)"},
        seed=41),
    Fixture("hybrid-experts", "qwen3-next-bf16", {
        "r": 3, "lora_alpha": 6, "target_modules": [
            "in_proj_qkvz", "in_proj_ba", "out_proj", "v_proj"]}, seed=42),
    Fixture("dora-tied", "qwen3-tied", {
        "r": 3, "lora_alpha": 9, "use_rslora": True, "use_dora": True,
        "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj",
                           "down_proj", "lm_head"],
        "rank_pattern": {"v_proj": 7, "lm_head": 2}, "alpha_pattern": {"up_proj": 2}}, seed=38),
    Fixture("dora-biases", "qwen2-bias-untied", {
        "r": 3, "lora_alpha": 6, "use_dora": True,
        "target_modules": ["q_proj", "v_proj", "down_proj", "embed_tokens", "lm_head"]}, seed=39),
    Fixture("hybrid-dora", "qwen3-5-text", {
        "r": 3, "lora_alpha": 6, "use_dora": True, "target_modules": "all-linear"}, seed=43),
    Fixture("t5-both-stacks", "t5-gated-untied", {
        "r": 4, "lora_alpha": 8, "target_modules": ["q", "k", "v", "o", "wi_0", "wi_1", "wo"],
        "rank_pattern": {"decoder.block.1.layer.1.EncDecAttention.k": 9}}, seed=44),
    Fixture("trained-demo", "../../../models/demo", {
        "r": 4, "lora_alpha": 8, "target_modules": "all-linear",
        "trainable_token_indices": list(range(40, 56))}, seed=30, dtype=torch.bfloat16, steps=60),
]


def run(args: argparse.Namespace) -> None:
    """Writes every adapter, or the named one."""
    for fixture in FIXTURES:
        if args.name in (None, fixture.name):
            write_fixture(fixture, Path(args.models), Path(args.out) / fixture.name)


def write_fixture(fixture: Fixture, models: Path, folder: Path) -> None:
    """The adapter and its recorded cases."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rng = np.random.default_rng(fixture.seed)
    kind = "SEQ_2_SEQ_LM" if fixture.has_encoder else "CAUSAL_LM"
    model = get_peft_model(_base(fixture, models, torch.float32),
                           LoraConfig(task_type=kind, **fixture.config))
    if fixture.steps > 0:
        rows = _train(model, fixture, rng)
    else:
        rows = randomise(model, rng, fixture.changed_rows)
    model.to(fixture.dtype)
    save_adapter(model, folder, Path(fixture.model).name)
    exact = in_double(PeftModel.from_pretrained(_base(fixture, models, torch.float64), folder))
    exact.eval()
    exact = JoinedRows(exact) if fixture.has_encoder else exact
    cases = [_case(exact, length, rows, rng) for length in PROMPT_LENGTHS]
    (folder / "cases.json").write_text(json.dumps(
        {"model": fixture.model, "cases": cases}, separators=(",", ":")) + "\n")
    print(f"{fixture.name}: {sum(p.stat().st_size for p in folder.iterdir()) / 1024:.0f} KiB")


def _base(fixture: Fixture, models: Path, dtype: torch.dtype) -> PreTrainedModel:
    settings = {"dtype": dtype, "attn_implementation": "eager"}
    if fixture.has_encoder:
        return AutoModelForSeq2SeqLM.from_pretrained(models / fixture.model, **settings)
    kind = AutoModelForImageTextToText if fixture.whole else AutoModelForCausalLM
    return kind.from_pretrained(
        models / fixture.model, experts_implementation="eager", **settings)


def save_adapter(model, folder: Path, base_model: str) -> None:
    """As PEFT saves it, and the same each time."""
    with tempfile.TemporaryDirectory() as saved:
        model.save_pretrained(saved)
        for file in ("adapter_config.json", "adapter_model.safetensors"):
            shutil.copyfile(Path(saved) / file, folder / file)
    config = json.loads((folder / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = base_model
    for field in ("target_modules", "target_parameters"):
        if isinstance(config[field], list):
            config[field].sort()
    write_json(folder / "adapter_config.json", config)


def randomise(model, rng: np.random.Generator, changed_rows: int) -> list[int]:
    """Random factors and rows; returns tokens whose rows are replaced."""
    rows: list[int] = []
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.tensor(rng.standard_normal(tuple(value.shape)), dtype=value.dtype)
            if "lora_A" in name:
                value.copy_(noise / np.sqrt(value.shape[1]))
            elif "lora_B" in name:
                value.copy_(0.5 * noise / np.sqrt(value.shape[1]))
            elif "lora_magnitude_vector" in name:
                value.mul_(1 + 0.2 * noise)
            elif "lora_embedding" in name:
                value.copy_(0.3 * noise / np.sqrt(min(value.shape)))
            elif "trainable_tokens_delta" in name:
                value.copy_(0.4 * noise)
            elif "modules_to_save" in name:
                chosen = rng.choice(value.shape[0], changed_rows, replace=False)
                value[chosen] = 0.4 * noise[chosen]
                rows.extend(int(row) for row in chosen)
    indices = model.peft_config["default"].trainable_token_indices or []
    for ids in indices.values() if isinstance(indices, dict) else [indices]:
        rows.extend(ids)
    return rows


def _train(model, fixture: Fixture, rng: np.random.Generator) -> list[int]:
    """Trains on rows in which each token has one that follows it; returns the retrained tokens."""
    torch.manual_seed(fixture.seed)
    follower = rng.permutation(model.config.vocab_size)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=5e-3)
    losses = []
    for _ in range(fixture.steps):
        tokens = [rng.integers(model.config.vocab_size, size=16)]
        for _ in range(23):
            tokens.append(follower[tokens[-1]])
        batch = torch.tensor(np.stack(tokens, axis=1))
        loss = model(input_ids=batch, labels=batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    if losses[-1] > 0.9 * losses[0]:
        raise RuntimeError(f"the adapter did not learn: {losses[0]:.2f} to {losses[-1]:.2f}")
    return list(fixture.config["trainable_token_indices"])


def _case(exact, length: int, rows: list[int], rng: np.random.Generator) -> dict[str, Any]:
    vocabulary = exact.config.get_text_config().vocab_size
    prompt = [int(token) for token in rng.integers(3, vocabulary, size=length)]
    for place, row in enumerate(rows[:SHOWN_ROWS]):
        if place < length:
            prompt[(place * 7) % length] = row
    if isinstance(exact, JoinedRows):
        prompt.append(exact.config.decoder_start_token_id)
    with torch.inference_mode():
        logits = exact(input_ids=torch.tensor([prompt])).logits[0, -1]
    return {"promptTokens": prompt, "logits": [round(value, 7) for value in logits.tolist()],
            "logSumExp": round(float(torch.logsumexp(logits, 0)), 7)}
