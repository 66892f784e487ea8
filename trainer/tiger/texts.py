"""The tokens that a Hugging Face folder names, from whichever file has them."""

from pathlib import Path
from typing import Any

from ..data import read_json
from ..errors import InputError


def token_texts(folder: Path, size: int) -> tuple[dict[str, int], str]:
    """Ids below `size` by text, and the files that name them."""
    found: dict[str, int] = {}
    sources: list[str] = []
    for name, read in (("tokenizer.json", _of_tokenizer), ("added_tokens.json", _of_added),
                       ("tokenizer_config.json", _of_config)):
        if not (folder / name).exists():
            continue
        document = read_json(folder / name)
        if not isinstance(document, dict):
            raise InputError(str(folder / name), "an object", document)
        mine = read(document)
        for text, place in mine:
            if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < size:
                raise InputError(f"{folder / name}: token {text!r}", f"an id below {size}, as "
                                 "shared.weight has rows", place)
            if found.setdefault(text, place) != place:
                raise InputError(f"{folder / name}: token {text!r}", f"id {found[text]}, as "
                                 f"{sources[0] if sources else name} has it", place)
        if mine:
            sources.append(name)
    return found, ", ".join(sources) or "a tokenizer, which the folder lacks"


def _of_tokenizer(document: dict[str, Any]) -> list[tuple[str, Any]]:
    model = document.get("model")
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    pairs: list[tuple[str, Any]] = []
    if isinstance(vocabulary, dict):
        pairs += vocabulary.items()
    elif isinstance(vocabulary, list):
        # Unigram: pairs of a piece and its score, by id.
        pairs += [(piece[0], place) for place, piece in enumerate(vocabulary)
                  if isinstance(piece, list) and piece and isinstance(piece[0], str)]
    added = document.get("added_tokens")
    for token in added if isinstance(added, list) else []:
        if isinstance(token, dict) and isinstance(token.get("content"), str):
            pairs.append((token["content"], token.get("id")))
    return pairs


def _of_added(document: dict[str, Any]) -> list[tuple[str, Any]]:
    return list(document.items())


def _of_config(document: dict[str, Any]) -> list[tuple[str, Any]]:
    added = document.get("added_tokens_decoder")
    if not isinstance(added, dict):
        return []
    return [(token["content"], int(place)) for place, token in added.items()
            if isinstance(token, dict) and isinstance(token.get("content"), str)
            and str(place).isdigit()]
