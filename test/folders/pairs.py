"""`python test/folders/pairs.py --out DIR`: PEFT adapters of each pair of features.

The features that are right alone may be wrong together: each pair of them is saved for a tied and
for an untied base, with the logits of PEFT in double precision, as make.py does. A pair that PEFT
itself refuses is not made. `dist/test/folders/main.js --folders DIR` compares.
"""

import argparse
import itertools
import json
import random
import shutil
import warnings
from pathlib import Path

import torch
from drawn import config_of, model_of
from make import expected_of
from peft import LoraConfig, get_peft_model

SEED = 11
SEVEN = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
#: Each adds to lists of the configuration and sets its other fields.
FEATURES = {
    "rows": {"trainable_token_indices": [5, 9, 60]},
    "rows-of-both": {"trainable_token_indices": {"embed_tokens": [5, 9], "lm_head": [5, 9]}},
    "other-rows-of-both": {"trainable_token_indices": {"embed_tokens": [5, 9], "lm_head": [7]}},
    "rows-of-head": {"trainable_token_indices": {"lm_head": [6, 11]}},
    "saved-embedding": {"modules_to_save": ["embed_tokens"]},
    "saved-head": {"modules_to_save": ["lm_head"]},
    "head": {"target_modules": ["lm_head"]},
    "embedding": {"target_modules": ["embed_tokens"]},
    "rslora": {"use_rslora": True},
    "ranks": {"rank_pattern": {"q_proj": 2, "lm_head": 3, "embed_tokens": 5, "1.mlp.up_proj": 7}},
    "alphas": {"alpha_pattern": {"v_proj": 3, "lm_head": 5, "embed_tokens": 9}},
    "tied-weights": {"ensure_weight_tying": True},
    "exclude": {"exclude_modules": ["layers.0.self_attn.k_proj", "down_proj"]},
    "layer": {"layers_to_transform": [1]},
    "expression": {"target_modules": r".*\.(?!k_proj)[a-z]+_proj"},
    "all-linear": {"target_modules": "all-linear"},
    "dora": {"use_dora": True},
    "biases": {"bias": "lora_only"},
    "other-base": {},  # what is saved of the base beside factors is not what is served
}


def fields_of(names: tuple[str, ...]) -> dict:
    """One configuration of features; the targets are the seven and those that features add."""
    fields = {"r": 4, "lora_alpha": 6, "target_modules": list(SEVEN)}
    for name in names:
        for key, value in FEATURES[name].items():
            listed = isinstance(value, list) and isinstance(fields.get(key), list)
            if key in fields and not listed and key != "target_modules":
                raise ValueError(f"two values of {key}")
            fields[key] = fields[key] + value if listed else value
    return fields


def make_pair(names: tuple[str, ...], is_tied: bool, folder: Path) -> None:
    rng = random.Random(SEED)
    torch.manual_seed(SEED)
    model = model_of(rng, config_of(rng, "qwen3", False, tie_word_embeddings=is_tied,
                                    num_hidden_layers=2), "generation")
    model.save_pretrained(folder / "base")
    tuned = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", **fields_of(names)))
    generator = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for name, value in tuned.named_parameters():
            is_other = "other-base" in names and ("embed_tokens" in name or "lm_head" in name)
            if value.requires_grad or is_other:
                noise = torch.randn(value.shape, generator=generator) / value.shape[-1] ** 0.5
                value.copy_(noise if "lora" in name else value + 0.4 * noise)
    tuned.save_pretrained(folder / "adapter")
    (folder / "expected.json").write_text(json.dumps(
        {"kind": "adapter", "change": ""} | expected_of("adapter", folder)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    pairs = [(one,) for one in FEATURES] + list(itertools.combinations(FEATURES, 2))
    for is_tied, names in itertools.product((True, False), pairs):
        folder = args.out / "-".join(["tied" if is_tied else "untied", *names])
        try:
            make_pair(names, is_tied, folder)
        except Exception as error:
            shutil.rmtree(folder, ignore_errors=True)
            print(f"{folder.name}: not made: {type(error).__name__}: {str(error)[:160]}",
                  flush=True)


if __name__ == "__main__":
    main()
