"""Checks of flags against each other, before anything is read or written."""

import os
from pathlib import Path

from .errors import InputError


def check_shape(heads: int, kv_heads: int, head_dim: int) -> None:
    """Checks of the shape that attention needs."""
    if heads % kv_heads:
        raise InputError("--kv-heads", f"a divisor of --heads {heads}", kv_heads)
    if head_dim % 2:
        raise InputError("--head-dim", "an even number", head_dim)


def writable_folder(path: str) -> Path:
    """The folder of --out, which is made where there is none."""
    out = Path(path)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        got = f"{path}: {error.strerror}"
        raise InputError("--out", "a folder that can be made", got) from error
    if not os.access(out, os.W_OK | os.X_OK):
        raise InputError("--out", "a folder that can be written to", path)
    return out
