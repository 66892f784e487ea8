"""Atomic files: a reader sees the old content or the new, never half of either."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from .errors import InputError


def write_atomically(path: Path, content: bytes) -> None:
    temporary = path.with_name(path.name + ".partial")
    with temporary.open("wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    temporary.replace(path)


def write_json(path: Path, value: Any) -> None:
    write_atomically(path, (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode())


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A folder to write into, which appears under its name when it is whole. Errors: InputError
    where the name is taken."""
    if out.exists():
        raise InputError(str(out), "a name that is free", "a file or folder")
    partial = out.with_name(out.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
        os.replace(partial, out)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def save_state(path: Path, state: dict[str, Any]) -> None:
    """Training state, replaced as a whole."""
    temporary = path.with_name(path.name + ".partial")
    torch.save(state, temporary)
    temporary.replace(path)


def load_state(path: Path, fingerprint: str) -> dict[str, Any] | None:
    """The state that the same arguments and data left; None when there is none. One of others is
    refused: training anew would overwrite the model beside it."""
    if not path.exists():
        return None
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        found = state["fingerprint"]
    except Exception as error:  # whatever unpickling a damaged file raises
        raise InputError(str(path), "the state of a training, or no such file", error) from error
    if found != fingerprint:
        raise InputError(str(path), "the state of a training with these arguments and data "
                         "(another --out trains anew; so does this one without the file)",
                         "that of others")
    return state


def fingerprint(settings: dict[str, Any], files: list[Path]) -> str:
    """Digest of everything that decides the result of a training."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    for path in files:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
