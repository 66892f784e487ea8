"""Atomic files: a reader sees the old content or the new, never half of either."""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import torch
from safetensors import SafetensorError

from .errors import InputError


@contextmanager
def _replaced(path: Path) -> Iterator[BinaryIO]:
    """A file to write into, which replaces that of its name when it is whole. Errors: InputError
    where the name is that of a folder or a device; OSError, with the path."""
    if path.exists() and not path.is_file():
        raise InputError(str(path), "a file, or a name that is free",
                         "a folder" if path.is_dir() else "a device")
    temporary = path.with_name(path.name + ".partial")
    try:
        with temporary.open("wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            error.filename = str(path)
        raise


def write_atomically(path: Path, content: bytes) -> None:
    with _replaced(path) as out:
        out.write(content)


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
    except BaseException as error:
        shutil.rmtree(partial, ignore_errors=True)
        if isinstance(error, SafetensorError):
            raise OSError(errno.EIO, str(error), str(out)) from error
        raise


def save_state(path: Path, state: dict[str, Any]) -> None:
    """Training state, replaced as a whole."""
    with _replaced(path) as out:
        try:
            torch.save(state, out)
        except RuntimeError as error:  # PyTorch's, raised while a failed write was handled
            if isinstance(error.__context__, OSError):
                raise error.__context__ from None
            raise


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
