"""Checks of flags against each other, before anything is read or written."""

import argparse
import os
import re
from pathlib import Path

from .errors import InputError


def check_shape(heads: int, kv_heads: int, head_dim: int, is_hybrid: bool = False) -> None:
    """Checks of the shape that attention needs; of a hybrid a quarter of a head is rotated."""
    if heads % kv_heads:
        raise InputError("--kv-heads", f"a divisor of --heads {heads}", kv_heads)
    if head_dim % 2:
        raise InputError("--head-dim", "an even number", head_dim)
    if is_hybrid and head_dim % 8:
        raise InputError("--head-dim", "a multiple of 8", head_dim)


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


def count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("expected a count of 1 or more")
    return value


def seed(text: str) -> int:
    value = int(text)
    if not 0 <= value < 1 << 63:
        raise argparse.ArgumentTypeError("expected an integer of 0 or more, below 2^63")
    return value


def amount(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError("expected a number of 0 or more")
    return value


def balance(text: str) -> float:
    value = amount(text)
    if 0 < value < 1:
        raise argparse.ArgumentTypeError("expected 0, or 1 or more: codes must hold all points")
    return value


def share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError("expected a share of 0 to 1")
    return value


def part(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError("expected a share of 0 or more, below 1")
    return value


def name(text: str) -> str:
    """Of an adapter, as the service takes it (docs/operate/adapter-versions.md)."""
    if not re.fullmatch("[a-z0-9][a-z0-9._-]{0,63}", text) or text == "base":
        raise argparse.ArgumentTypeError("expected 1..64 of a-z, 0-9, '.', '_' and '-', a letter "
                                         "or digit first, and not 'base'")
    return text
