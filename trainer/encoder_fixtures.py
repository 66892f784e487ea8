"""`python -m trainer encoder-fixtures`: small random encoders with recorded vectors.

Each folder is one that SentenceTransformers or transformers would save: config.json, weights,
tokenizer.json, modules.json with what it names, or a classifier. cases.json has texts, the tokens
that the tokenizer library gives them, and the vectors of transformers in double precision.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
)

from .checkpoint import write_json

VOCABULARY = 180
LENGTHS = (1, 2, 31, 32, 33, 64, 65, 255, 256, 257, 300)  # of cases without a text
TEXTS = (
    "Organic argan oil shampoo",
    "shampoo",
    "Vitamin C serum, 30 ml (1 fl oz): brightening!",
    "Crème brûlée body lotion für trockene Haut",
    "有机护发油 洗发水",
    "Увлажняющий крем для лица 50 мл",
    "  two   spaces, a\ttab and UPPER lower ",
    "argan oil " * 40,
    "?",
)


@dataclass(frozen=True)
class Fixture:
    """One folder: the encoder's config, and how its rows become a vector."""

    name: str
    config: dict[str, Any]
    seed: int
    tokenizer: str  # wordpiece, unigram or bpe
    pooling: str = "mean"
    dense: tuple[int, str] | None = None  # outputs and the activation of torch
    normalises: bool = True
    labels: int = 0  # of a classifier; 0: it is none
    keeps_prefix: bool = False  # saved below a model with a head


def _config(model_type: str, architecture: str, **fields: Any) -> dict[str, Any]:
    return {"architectures": [architecture], "model_type": model_type, "vocab_size": VOCABULARY,
            "hidden_size": 36, "num_hidden_layers": 2, "num_attention_heads": 3,
            "intermediate_size": 52, "max_position_embeddings": 304, "dtype": "float32", **fields}


FIXTURES = [
    Fixture("bert-mean", _config("bert", "BertModel", hidden_act="gelu"), 31, "wordpiece"),
    Fixture("bert-max-dense", _config(
        "bert", "BertForMaskedLM", layer_norm_eps=1e-6, hidden_size=40, num_attention_heads=4),
        32, "wordpiece", pooling="max", dense=(20, "Tanh"), keeps_prefix=True),
    Fixture("bert-classifier", _config(
        "bert", "BertForSequenceClassification", type_vocab_size=2), 33, "wordpiece", labels=3),
    Fixture("roberta-cls", _config(
        "roberta", "RobertaModel", max_position_embeddings=306, type_vocab_size=1,
        pad_token_id=1, layer_norm_eps=1e-5), 34, "bpe", pooling="cls", normalises=False),
    Fixture("xlm-roberta-classifier", _config(
        "xlm-roberta", "XLMRobertaForSequenceClassification", max_position_embeddings=306,
        type_vocab_size=1, pad_token_id=1, layer_norm_eps=1e-5), 35, "unigram", labels=1),
    Fixture("modernbert-mean", _config(
        "modernbert", "ModernBertModel", num_hidden_layers=4, local_attention=22,
        max_position_embeddings=512, pad_token_id=0, cls_token_id=1, sep_token_id=2,
        bos_token_id=1, eos_token_id=2), 36, "bpe"),
    Fixture("modernbert-classifier", _config(
        "modernbert", "ModernBertForSequenceClassification", global_attn_every_n_layers=2,
        local_attention=128, max_position_embeddings=512, pad_token_id=0, cls_token_id=1,
        sep_token_id=2, bos_token_id=1, eos_token_id=2, classifier_pooling="mean"),
        37, "bpe", labels=2),
    Fixture("qwen3-last", _config(
        "qwen3", "Qwen3ForCausalLM", num_key_value_heads=1, head_dim=12, hidden_act="silu",
        rms_norm_eps=1e-6, rope_theta=10000.0, tie_word_embeddings=True, attention_bias=False,
        bos_token_id=1, eos_token_id=2), 38, "bpe", pooling="lasttoken"),
]


def run(args: argparse.Namespace) -> None:
    """Writes every fixture, or the named one."""
    for fixture in FIXTURES:
        if args.fixture in (None, fixture.name):
            write_fixture(fixture, Path(args.out) / fixture.name)


def write_fixture(fixture: Fixture, folder: Path) -> None:
    """Configuration, weights, tokenizer and recorded vectors of one fixture."""
    folder.mkdir(parents=True, exist_ok=True)
    config = dict(fixture.config)
    if fixture.labels > 0:
        config["id2label"] = {str(label): f"label {label}" for label in range(fixture.labels)}
    write_json(folder / "config.json", config)
    rng = np.random.default_rng(fixture.seed)
    model = _write_weights(fixture, folder, rng)
    tokenizer = _write_tokenizer(fixture, folder)
    dense = _write_modules(fixture, folder, rng)
    cases = [{"text": text, "tokens": tokenizer.encode(text).ids[:_positions(fixture)]}
             for text in TEXTS]
    cases += [{"tokens": [int(token) for token in rng.integers(3, VOCABULARY, size=length)]}
              for length in LENGTHS]
    for case in cases:
        case["vector"] = [round(float(value), 9) for value in _vector(fixture, model, dense,
                                                                      case["tokens"])]
    (folder / "cases.json").write_text(
        "[\n" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "\n]\n")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{fixture.name}: {len(cases)} cases, {size / 1024:.0f} KiB")


def _positions(fixture: Fixture) -> int:
    first = 2 if "roberta" in fixture.config["model_type"] else 0
    return fixture.config["max_position_embeddings"] - first


def _model(fixture: Fixture, folder: Path, **options: Any) -> torch.nn.Module:
    kind = AutoModelForSequenceClassification if fixture.labels else AutoModel
    return kind.from_pretrained(folder, attn_implementation="eager", **options).eval()


def _write_weights(fixture: Fixture, folder: Path, rng: np.random.Generator) -> torch.nn.Module:
    settings = AutoConfig.from_pretrained(folder)
    settings._attn_implementation = "eager"
    if fixture.labels:
        kind = AutoModelForSequenceClassification
    elif fixture.keeps_prefix:
        kind = AutoModelForMaskedLM
    else:
        kind = AutoModel
    tensors = {}
    for name, value in sorted(kind.from_config(settings).state_dict().items()):
        if not value.is_floating_point() or name.startswith(("cls.", "lm_head.")):
            continue
        noise = rng.standard_normal(tuple(value.shape))
        if name.endswith("bias"):
            weights = 0.2 * noise
        elif value.dim() == 1:
            weights = 1.0 + 0.2 * noise
        else:
            weights = noise * (0.6 if "embed" in name else 1.6 / np.sqrt(value.shape[-1]))
        tensors[name] = torch.tensor(weights, dtype=torch.float32).contiguous()
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    return _model(fixture, folder, dtype=torch.float64)


def _corpus() -> list[str]:
    return [*TEXTS, "the quick brown fox jumps over the lazy dog", "0123456789 .,;:!?()[]{}-_"]


def _write_tokenizer(fixture: Fixture, folder: Path) -> Tokenizer:
    modern = fixture.config["model_type"] == "modernbert"
    if fixture.tokenizer == "wordpiece":
        special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece()
        trainer = trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=special)
    elif fixture.tokenizer == "unigram":
        special = ["<s>", "<pad>", "</s>", "<unk>"]
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer = normalizers.NFKC()
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.decoder = decoders.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=VOCABULARY, special_tokens=special, unk_token="<unk>")
    else:
        special = ["[PAD]", "[CLS]", "[SEP]"] if modern else ["<s>", "<pad>", "</s>"]
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=VOCABULARY, special_tokens=special, show_progress=False,
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())[:VOCABULARY - 20])
    tokenizer.train_from_iterator(_corpus(), trainer)
    first, last = special[0 if fixture.tokenizer != "wordpiece" and not modern else 1], special[2]
    template = f"{first} $A {last}" if fixture.config["model_type"] != "qwen3" else f"$A {last}"
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template, pair=f"{template} $B {last}",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (first, last)])
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(folder / "tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": _positions(fixture)})
    return tokenizer


def _write_modules(fixture: Fixture, folder: Path,
                   rng: np.random.Generator) -> list[torch.Tensor]:
    if fixture.labels > 0:
        return []
    kinds = ["Transformer", "Pooling"]
    dense: list[torch.Tensor] = []
    hidden = fixture.config["hidden_size"]
    fields = {"mean": "mean_tokens", "max": "max_tokens", "cls": "cls_token"}
    (folder / "1_Pooling").mkdir(exist_ok=True)
    write_json(folder / "1_Pooling" / "config.json", {
        "word_embedding_dimension": hidden,
        f"pooling_mode_{fields.get(fixture.pooling, fixture.pooling)}": True})
    if fixture.dense is not None:
        outputs, activation = fixture.dense
        kinds.append("Dense")
        dense = [torch.tensor(rng.standard_normal((outputs, hidden)) / np.sqrt(hidden)),
                 torch.tensor(0.1 * rng.standard_normal(outputs))]
        dense = [tensor.float() for tensor in dense]
        (folder / "2_Dense").mkdir(exist_ok=True)
        write_json(folder / "2_Dense" / "config.json", {
            "in_features": hidden, "out_features": outputs, "bias": True,
            "activation_function": f"torch.nn.modules.activation.{activation}"})
        save_file({"linear.weight": dense[0], "linear.bias": dense[1]},
                  folder / "2_Dense" / "model.safetensors", {"format": "pt"})
    if fixture.normalises:
        kinds.append("Normalize")
    write_json(folder / "modules.json", [
        {"idx": index, "name": str(index), "path": "" if index == 0 else f"{index}_{kind}",
         "type": f"sentence_transformers.models.{kind}"} for index, kind in enumerate(kinds)])
    return dense


@torch.inference_mode()
def _vector(fixture: Fixture, model: torch.nn.Module, dense: list[torch.Tensor],
            tokens: list[int]) -> torch.Tensor:
    batch = {"input_ids": torch.tensor([tokens]), "attention_mask": torch.ones(1, len(tokens))}
    if fixture.labels > 0:
        return model(**batch).logits[0]
    rows = model(**batch).last_hidden_state[0]
    pooled = {"mean": lambda: rows.mean(0), "max": lambda: rows.max(0).values,
              "cls": lambda: rows[0], "lasttoken": lambda: rows[-1]}[fixture.pooling]()
    if dense:
        pooled = torch.tanh(pooled @ dense[0].double().T + dense[1].double())
    return pooled / pooled.norm() if fixture.normalises else pooled
