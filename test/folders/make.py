"""`python test/folders/make.py --out DIR --count 320 --seed 7`: model folders to be compared.

Each is saved by today's transformers, sentence-transformers or PEFT with settings that are drawn,
and some are changed behind the library's back as people do. `expected.json` in it says what kind of
folder it is and what the library itself, which loads it again, makes of some inputs in double
precision; or that it does not load it. `dist/test/folders/main.js DIR` compares.
"""

import argparse
import json
import os
import random
import shutil
from pathlib import Path

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import torch
from drawn import DECODERS, ENCODERS, TEXTS, config_of, model_of, tokenizer_of
from peft import LoraConfig, PeftModel, get_peft_model
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.models import (
    Dense,
    Dropout,
    LayerNorm,
    Normalize,
    Pooling,
    Transformer,
)
from spoilt import PROMPTS, edit, spoil
from transformers import AutoModelForCausalLM

DOUBLE = {"dtype": torch.float64}
SPOILT = 0.45
PAIRS = [["shampoo", text] for text in TEXTS]
ACTIVATIONS = [None, None, torch.nn.Identity(), torch.nn.Tanh(), torch.nn.Sigmoid(),
               torch.nn.ReLU()]


def base_of(rng: random.Random, family: str, task: str, folder: Path, **fields) -> None:
    """A checkpoint of transformers with its tokenizer."""
    twist = rng.random() < 0.3
    model_of(rng, config_of(rng, family, twist, **fields), task).save_pretrained(folder)
    tokenizer_of(rng, family, folder)


def make_embedder(rng: random.Random, folder: Path) -> dict:
    """Modules of sentence-transformers over an encoder or a decoder."""
    family = rng.choice([*ENCODERS, *DECODERS])
    base = folder.with_suffix(".base")
    task = "generation" if family in DECODERS and rng.random() < 0.4 else "rows"
    base_of(rng, family, task, base)
    if rng.random() < 0.15:
        shutil.move(base, folder)  # of transformers alone: the mean of the rows
        return {"kind": "embedding"}
    transformer = Transformer(str(base))
    hidden = transformer.get_embedding_dimension()
    modes = ["mean", "cls", "max", "mean_sqrt_len_tokens", "lasttoken", "weightedmean"]
    mode = rng.choices(modes, weights=[4, 3, 2, 1, 4 if family in DECODERS else 1, 1])[0]
    modules = [transformer, Pooling(hidden, mode, include_prompt=rng.random() < 0.93)]
    for _ in range(rng.choice((0, 0, 1, 2))):
        size = modules[-1].get_embedding_dimension() if len(modules) > 2 else hidden
        hidden = rng.choice((16, 24))
        activation = rng.choice([torch.nn.Tanh(), torch.nn.Identity(), torch.nn.GELU(),
                                 torch.nn.ReLU(), torch.nn.Sigmoid(), torch.nn.SiLU()])
        modules.append(Dense(size, hidden, bias=rng.random() < 0.7, activation_function=activation,
                             use_residual=rng.random() < 0.1))
    if rng.random() < 0.15:
        modules.append(Dropout(0.3))
    if rng.random() < 0.15:
        modules.append(LayerNorm(hidden))
    if rng.random() < 0.6:
        modules.append(Normalize())
    extra = {}
    if rng.random() < 0.4:
        extra["prompts"] = PROMPTS
        if rng.random() < 0.6:
            extra["default_prompt_name"] = rng.choice([*PROMPTS])
    if rng.random() < 0.25:
        extra["truncate_dim"] = rng.choice((8, 12))
    SentenceTransformer(modules=modules, **extra).save_pretrained(str(folder))
    shutil.rmtree(base)
    return {"kind": "embedding"}


def make_reranker(rng: random.Random, folder: Path) -> dict:
    """A classifier of pairs, as sentence-transformers or transformers saves it."""
    family = rng.choice([*ENCODERS, *ENCODERS, "qwen3", "llama"])
    base = folder.with_suffix(".base")
    if family in ENCODERS and rng.random() < 0.2:
        base_of(rng, family, "rows", base)
        transformer = Transformer(str(base))
        hidden = transformer.get_embedding_dimension()
        modules = [transformer, Pooling(hidden, rng.choice(["cls", "mean"])),
                   Dense(hidden, 16, activation_function=torch.nn.GELU()), LayerNorm(16),
                   Dense(16, 1, activation_function=None, module_output_name="scores")]
        model = CrossEncoder(modules=modules, activation_fn=rng.choice(ACTIVATIONS))
    else:
        base_of(rng, family, "classification", base, num_labels=rng.choice((1, 1, 1, 1, 3)))
        saved_by_transformers = rng.random() < 0.3
        if saved_by_transformers:
            shutil.move(base, folder)
            old = rng.choice([None, "torch.nn.modules.linear.Identity",
                              "torch.nn.modules.activation.Sigmoid", "my.own.Activation"])
            edit(folder / "config.json", sbert_ce_default_activation_function=old)
            return {"kind": "reranker"}
        model = CrossEncoder(str(base), activation_fn=rng.choice(ACTIVATIONS))
        if rng.random() < 0.1:
            model.prompts, model.default_prompt_name = PROMPTS, "query"
    model.save_pretrained(str(folder))
    shutil.rmtree(base)
    return {"kind": "reranker"}


def make_decoder(rng: random.Random, folder: Path) -> dict:
    """A model that recalls are served by: its next tokens are compared."""
    family = rng.choice([*DECODERS])
    base_of(rng, family, rng.choice(["generation"] * 5 + ["rows"]), folder)
    return {"kind": "decoder"}


def make_adapter(rng: random.Random, folder: Path) -> dict:
    """A PEFT adapter in `adapter`, of the decoder beside it."""
    family = rng.choice([*DECODERS])
    config = config_of(rng, family, False)
    base = folder / "base"
    model = model_of(rng, config, "generation")
    model.save_pretrained(base)
    tokenizer_of(rng, family, base)
    targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    fields = {"r": rng.choice((1, 4, 8)), "lora_alpha": rng.choice((4, 8, 16)),
              "target_modules": rng.sample(targets, rng.randint(1, 7))}
    fields |= rng.choice([{}, {}, {}, {"use_rslora": True}, {"use_dora": True},
                          {"bias": "lora_only"}, {"target_modules": "all-linear"},
                          {"rank_pattern": {"q_proj": 2}}, {"alpha_pattern": {"v_proj": 3}},
                          {"layers_to_transform": [0]}, {"lora_bias": True},
                          {"modules_to_save": ["embed_tokens"]}, {"modules_to_save": ["lm_head"]},
                          {"trainable_token_indices": [5, 9]}])
    tuned = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", **fields))
    generator = torch.Generator().manual_seed(rng.randrange(1 << 30))
    with torch.no_grad():
        for name, value in tuned.named_parameters():
            if value.requires_grad:
                noise = torch.randn(value.shape, generator=generator) / value.shape[-1] ** 0.5
                value.copy_(noise if "lora" in name else value + 0.1 * noise)
    tuned.save_pretrained(folder / "adapter")
    return {"kind": "adapter"}


@torch.inference_mode()
def expected_of(kind: str, folder: Path) -> dict:
    """Result of the library that saved a folder."""
    if kind == "embedding":
        model = SentenceTransformer(str(folder), device="cpu", model_kwargs=DOUBLE).double().eval()
        texts = [*TEXTS, "an <pad> inside"]
        return {"texts": texts, "vectors": model.encode(texts, batch_size=1).tolist()}
    if kind == "reranker":
        model = CrossEncoder(str(folder), device="cpu", model_kwargs=DOUBLE).double().eval()
        return {"pairs": PAIRS, "scores": model.predict(PAIRS, batch_size=1).tolist()}
    base = folder / "base" if kind == "adapter" else folder
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float64,
                                                 attn_implementation="eager",
                                                 experts_implementation="eager")
    if kind == "adapter":
        model = PeftModel.from_pretrained(model, folder / "adapter").double()
    model.eval()
    prompts = [[(7 * i + j) % 60 + 3 for i in range(length)] for j, length in enumerate((1, 9, 17))]
    logits = [model(torch.tensor([prompt])).logits[0, -1].tolist() for prompt in prompts]
    return {"prompts": prompts, "logits": logits}


KINDS = {"embedding": make_embedder, "reranker": make_reranker, "decoder": make_decoder,
         "adapter": make_adapter}


def make(seed: int, kind: str, folder: Path) -> str:
    """One folder and what is expected of it; returns the library's verdict."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        KINDS[kind](rng, folder)
    except Exception as error:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(folder.with_suffix(".base"), ignore_errors=True)
        return f"not made: {type(error).__name__}: {str(error)[:80]}"
    change = spoil(rng, folder, kind) if kind != "adapter" and rng.random() < SPOILT else ""
    expected = {"kind": kind, "seed": seed, "change": change}
    try:
        expected |= expected_of(kind, folder)
        verdict = "loaded"
    except Exception as error:
        expected["error"] = verdict = f"{type(error).__name__}: {str(error)[:200]}"
    (folder / "expected.json").write_text(json.dumps(expected))
    return verdict


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=320)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    torch.set_num_threads(1)
    weights = {"embedding": 9, "reranker": 7, "decoder": 4, "adapter": 4}
    kinds = random.Random(args.seed).choices([*weights], weights=[*weights.values()], k=args.count)
    args.out.mkdir(parents=True, exist_ok=True)
    for number, kind in enumerate(kinds):
        verdict = make(args.seed * 100_000 + number, kind, args.out / f"{number:04}-{kind}")
        print(f"{number:04}-{kind}: {verdict}", flush=True)


if __name__ == "__main__":
    main()
