"""Which encoder made the vectors of codebooks: the service takes no other for new texts."""

import re
from pathlib import Path

from ..data import read_json
from ..errors import InputError

KIND = "encoder"
DIGEST = re.compile("[0-9a-f]{64}")

Encoder = dict[str, str | int]


def read_encoder(path: Path) -> Encoder:
    """Output of `npm run embed -- --out` beside the vectors."""
    read = read_json(path)
    found = read if isinstance(read, dict) else {}
    if found.get("version") != 1 or found.get("kind") != KIND:
        raise InputError(str(path), f"version 1 and kind {KIND}", read)
    type_ = found.get("compute_type")
    # Files of earlier releases say nothing of the tokenizer.
    names = [name for name in ("model_digest", "tokens_digest")
             if name == "model_digest" or name in found]
    for name in names:
        digest = found.get(name)
        if not isinstance(digest, str) or not DIGEST.fullmatch(digest):
            raise InputError(f"{path}: {name}", "a SHA-256 in hexadecimal", digest)
    if not isinstance(type_, str) or not type_:
        raise InputError(f"{path}: compute_type", "f32, bf16, w8a8 or w8a8-static", type_)
    return {"version": 1, "kind": KIND, **{name: found[name] for name in names},
            "compute_type": type_}
