"""`python test/folders/saved.py`: folders as today's libraries save them, for `npm test`.

Each folder of test/fixtures/folders is of a form that people save; test/folders/folders.spec.ts
compares it with its `expected.json`, and copies that are spoilt with the refusals they shall get.
"""

import json
import random
import shutil
from pathlib import Path

import torch
from drawn import config_of, model_of, tokenizer_of
from make import expected_of
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.models import (
    Dense,
    Dropout,
    LayerNorm,
    Normalize,
    Pooling,
    Transformer,
)
from spoilt import PROMPTS, edit

OUT = Path(__file__).parents[1] / "fixtures" / "folders"
SEED = 5


def base_of(folder: Path, family: str, task: str, **fields) -> str:
    """A checkpoint of transformers of the smallest size, in `folder`.base."""
    base = folder.with_suffix(".base")
    rng = random.Random(SEED)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
             "intermediate_size": 40}
    if family in ("qwen3", "llama", "mistral"):
        sizes |= {"num_key_value_heads": 1, "head_dim": 8}
    model_of(rng, config_of(rng, family, False, **sizes | fields), task).save_pretrained(base)
    tokenizer_of(rng, family, base)
    return str(base)


def embedder(folder: Path, family: str, mode: str, *more, task: str = "rows", fields=None,
             **settings) -> None:
    """Modules over an encoder."""
    transformer = Transformer(base_of(folder, family, task, **fields or {}))
    pooling = Pooling(transformer.get_embedding_dimension(), mode)
    SentenceTransformer(modules=[transformer, pooling, *more], **settings).save_pretrained(
        str(folder))


def reranker(folder: Path, family: str, activation=None) -> None:
    """The whole of a classifier as one module."""
    base = base_of(folder, family, "classification", num_labels=1)
    CrossEncoder(base, activation_fn=activation).save_pretrained(str(folder))


def untyped(folder: Path) -> None:
    """A BERT whose tokenizer, of a team's own, gives all tokens of a pair one type."""
    reranker(folder, "bert")
    edit(folder / "tokenizer_config.json", tokenizer_class="TokenizersBackend",
         model_input_names=None)


def ettin(folder: Path) -> None:
    """A reranker of five modules."""
    transformer = Transformer(base_of(folder, "modernbert", "rows"))
    modules = [transformer, Pooling(16, "cls"), Dense(16, 12, activation_function=torch.nn.GELU()),
               LayerNorm(12),
               Dense(12, 1, activation_function=None, module_output_name="scores")]
    CrossEncoder(modules=modules, activation_fn=torch.nn.Identity()).save_pretrained(str(folder))


FORMS = {
    "bert-prompts": lambda to: embedder(
        to, "bert", "mean", Normalize(), prompts=PROMPTS, default_prompt_name="query"),
    "roberta-truncated": lambda to: embedder(to, "roberta", "cls", Normalize(), truncate_dim=8),
    "modernbert-modules": lambda to: embedder(
        to, "modernbert", "max", Dense(16, 12, activation_function=torch.nn.ReLU()), Dropout(0.2),
        LayerNorm(12), Dense(12, 20, bias=False, activation_function=torch.nn.Sigmoid())),
    "qwen3-model": lambda to: embedder(to, "qwen3", "lasttoken", Normalize()),
    "llama-both-ways": lambda to: embedder(to, "llama", "mean", fields={"is_causal": False}),
    "mistral-generator": lambda to: shutil.move(base_of(to, "mistral", "generation"), to),
    "bert-reranker": lambda to: reranker(to, "bert", torch.nn.Identity()),
    "bert-untyped-reranker": untyped,
    "xlm-roberta-reranker": lambda to: reranker(to, "xlm-roberta", torch.nn.Tanh()),
    "qwen3-reranker": lambda to: reranker(to, "qwen3"),
    "modernbert-ettin": ettin,
}


def main() -> None:
    shutil.rmtree(OUT, ignore_errors=True)
    for name, form in FORMS.items():
        folder = OUT / name
        torch.manual_seed(SEED)
        form(folder)
        shutil.rmtree(folder.with_suffix(".base"), ignore_errors=True)
        (folder / "README.md").unlink(missing_ok=True)
        kind = "reranker" if name.endswith(("reranker", "ettin")) else "embedding"
        expected = {"kind": kind, "change": ""} | expected_of(kind, folder)
        (folder / "expected.json").write_text(json.dumps(expected))
        print(f"{name}: {sum(path.stat().st_size for path in folder.rglob('*.*')) // 1024} KiB")


if __name__ == "__main__":
    main()
