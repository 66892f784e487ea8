"""Writes the served folder of an imported model, whole or not at all."""

import json
from pathlib import Path
from typing import Any

from safetensors.torch import save
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from ..checkpoint import whole_folder, write_atomically, write_json
from ..data import ItemText
from ..export import catalogue_lines
from .imported import END, PAD, POSITIONS, START, Imported
from .t5 import check_config, check_tensors, one_type


def write_folder(out: Path, imported: Imported, texts: dict[str, ItemText], where: str) -> None:
    """Checks everything, then writes it. Errors: InputError, and no folder."""
    check_config(imported.config, where)
    check_tensors(imported.tensors, imported.config, where)
    tensors, kind = one_type(imported.tensors)
    config = _config(imported, kind)
    with whole_folder(out) as folder:
        write_json(folder / "config.json", config)
        write_json(folder / "generation_config.json", {
            name: config[name] for name in ("decoder_start_token_id", "eos_token_id",
                                            "pad_token_id")} | {"do_sample": False})
        write_atomically(folder / "model.safetensors", save(tensors, {"format": "pt"}))
        tokenizer_of(imported.texts).save(str(folder / "tokenizer.json"))
        write_json(folder / "tokenizer_config.json", _tokenizer_config(imported, config))
        write_json(folder / "prompt.json", imported.prompt())
        lines = catalogue_lines(imported.index, texts)
        write_atomically(folder / "catalogue.jsonl", "".join(lines).encode())
        write_json(folder / "import.json", {
            "library": imported.library, "settings": imported.settings.rows})


def _config(imported: Imported, kind: str) -> dict[str, Any]:
    """T5Config's members as transformers writes them. `tie_word_embeddings` is true where the head
    is the table, and then the last hidden state is scaled by d_model^-0.5; never else."""
    needed = imported.prompt_tokens + imported.depth + imported.answer_end
    config = {
        "architectures": ["T5ForConditionalGeneration"], "model_type": "t5",
        "dropout_rate": 0.1, "initializer_factor": 1.0, "is_encoder_decoder": True,
        "dtype": kind, "use_cache": True, **imported.config,
        "n_positions": max(needed, imported.config.get("n_positions") or POSITIONS),
        "tie_word_embeddings": "lm_head.weight" not in imported.tensors,
    }
    return dict(sorted(config.items()))


def tokenizer_of(texts: dict[str, int]) -> Tokenizer:
    """Finds the tokens of `texts` under their ids, wherever they stand, and no other."""
    tokenizer = Tokenizer(models.BPE(vocab=texts, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(text, normalized=False, special=True)
                                  for text in sorted(texts, key=texts.__getitem__)])
    for text, place in texts.items():
        if tokenizer.token_to_id(text) != place:
            raise ValueError(f"token {text!r} has id {tokenizer.token_to_id(text)}, not {place}")
    return tokenizer


def _tokenizer_config(imported: Imported, config: dict[str, Any]) -> dict[str, Any]:
    texts = imported.texts
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        **({"eos_token": END} if END in texts else {}),
        "pad_token": PAD if PAD in texts else START,
        "model_max_length": config["n_positions"], "clean_up_tokenization_spaces": False,
    }


def described(out: Path, imported: Imported) -> str:
    """The lines that the command ends with."""
    parameters = sum(tensor.numel() for tensor in imported.tensors.values())
    sids = len(set(imported.index.codes.values()))
    shared = len(imported.index.codes) - sids
    norm = json.dumps(imported.settings.value("norm"))
    return "\n".join([
        *imported.settings.lines(),
        f"{parameters:,} parameters, {imported.config['vocab_size']:,} rows of the vocabulary, "
        f"{len(imported.texts):,} named",
        f"{len(imported.index.codes):,} items on {sids:,} semantic IDs"
        + (f": {shared:,} share one" if shared else ""),
        f'{out}: requests that name no scoreNorm have {norm}'])
