"""`python -m trainer cross-encoder-fixtures`: random classifiers of pairs with recorded scores.

Each folder is a model as transformers saves it, one label over the encoder. cases.json has a query,
documents and what transformers scores them in double precision: the sigmoid of the logit. Documents
that are too long are truncated by their own tokens alone (`only_second`).
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, processors

from .checkpoint import write_json
from .encoder_fixtures import TEXTS, Fixture, _config, _positions, _write_tokenizer, _write_weights

POSITIONS = 64
QUERIES = ("shampoo with argan oil", "有机 крем: для лица?")

FIXTURES = [
    Fixture("bert", _config("bert", "BertForSequenceClassification", type_vocab_size=2), 51,
            "wordpiece", labels=1),
    Fixture("xlm-roberta", _config(
        "xlm-roberta", "XLMRobertaForSequenceClassification", type_vocab_size=1, pad_token_id=1,
        layer_norm_eps=1e-5), 52, "unigram", labels=1),
    Fixture("modernbert", _config(
        "modernbert", "ModernBertForSequenceClassification", global_attn_every_n_layers=2,
        local_attention=22, pad_token_id=0, cls_token_id=1, sep_token_id=2, bos_token_id=1,
        eos_token_id=2, classifier_pooling="cls"), 53, "bpe", labels=1),
]


def run(args: argparse.Namespace) -> None:
    """Writes every fixture."""
    for fixture in FIXTURES:
        first = 2 if "roberta" in fixture.config["model_type"] else 0
        fixture.config["max_position_embeddings"] = POSITIONS + first
        _write(fixture, Path(args.out) / fixture.name)


def _write(fixture: Fixture, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    config = dict(fixture.config)
    config["id2label"] = {"0": "LABEL_0"}
    if fixture.name == "modernbert":
        # As newer releases of sentence-transformers save what becomes of the logit.
        config["sentence_transformers"] = {
            "activation_fn": "torch.nn.modules.linear.Identity", "version": "5.0.0"}
    write_json(folder / "config.json", config)
    model = _write_weights(fixture, folder, np.random.default_rng(fixture.seed))
    tokenizer = _pairing(fixture, _write_tokenizer(fixture, folder))
    tokenizer.save(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(_positions(fixture), strategy="only_second")
    documents = [text for text in TEXTS if text.strip() != ""]
    cases = [{"query": query, "documents": documents,
              "expected": [_score(fixture, model, tokenizer, query, text) for text in documents]}
             for query in QUERIES]
    (folder / "cases.json").write_text(
        "[\n" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "\n]\n")
    print(f"{fixture.name}: {len(cases)} queries of {len(documents)} documents")


def _pairing(fixture: Fixture, tokenizer: Tokenizer) -> Tokenizer:
    """The same tokenizer, with pairs as those of the model's family are written."""
    templates = {
        "bert": ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"),
        "xlm-roberta": ("<s> $A </s>", "<s> $A </s> </s> $B </s>"),
        "modernbert": ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]"),
    }
    single, pair = templates[fixture.name]
    tokens = {word.split(":")[0] for word in pair.split() if not word.startswith("$")}
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair,
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in sorted(tokens)])
    return tokenizer


@torch.inference_mode()
def _score(fixture: Fixture, model: torch.nn.Module, tokenizer: Tokenizer, query: str,
           document: str) -> float:
    encoded = tokenizer.encode(query, document)
    batch = {"input_ids": torch.tensor([encoded.ids]),
             "attention_mask": torch.ones(1, len(encoded.ids))}
    if fixture.name == "bert":
        batch["token_type_ids"] = torch.tensor([encoded.type_ids])
    logit = model(**batch).logits[0, 0]
    is_raw = fixture.name == "modernbert"
    return round(float(logit if is_raw else torch.sigmoid(logit)), 9)
