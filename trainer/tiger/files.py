"""Tensors of safetensors and torch files. Nothing of a file is ever run."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from ..data import read_json
from ..errors import InputError
from .t5 import Tensors

WEIGHTS = "model.safetensors"
TORCH_WEIGHTS = "pytorch_model.bin"


def read_folder_tensors(folder: Path) -> tuple[Tensors, str]:
    """Tensors of a Hugging Face folder, in one file or several, and the file to blame."""
    for name, read in ((WEIGHTS, read_safetensors), (TORCH_WEIGHTS, read_torch_tensors)):
        parts = folder / f"{name}.index.json"
        if (folder / name).exists():
            return read(folder / name), str(folder / name)
        if parts.exists():
            return _of_parts(folder, parts, read), str(parts)
    raise InputError(str(folder), f"{WEIGHTS} or {TORCH_WEIGHTS}", sorted(
        path.name for path in folder.iterdir())[:8])


def _of_parts(folder: Path, parts: Path, read) -> Tensors:
    document = read_json(parts)
    places = document.get("weight_map") if isinstance(document, dict) else None
    if not isinstance(places, dict) or not places:
        raise InputError(f"{parts}: weight_map", "an object {tensor: file}", places)
    found: Tensors = {}
    for name in sorted(set(map(str, places.values()))):
        if Path(name).name != name:
            raise InputError(f"{parts}: weight_map", "names of files beside it", name)
        found.update(read(folder / name))
    return found


def read_safetensors(path: Path) -> Tensors:
    try:
        return load_file(path)
    except (OSError, SafetensorError, ValueError) as error:
        raise InputError(str(path), "a whole safetensors file", str(error)) from error


def read_torch_tensors(path: Path) -> Tensors:
    """A state_dict by name. Errors: InputError where the file holds more than tensors."""
    loaded = read_torch(path)
    if not isinstance(loaded, dict) or not loaded or not all(
            isinstance(value, torch.Tensor) for value in loaded.values()):
        raise InputError(str(path), "a state_dict, tensors by name", _kind(loaded))
    return dict(loaded)


def read_torch(path: Path) -> Any:
    """Tensors and plain values that torch.save wrote."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise InputError(str(path), "a readable file", error.strerror or str(error)) from error
    except Exception as error:  # whatever unpickling a damaged file raises
        raise InputError(str(path), "a file of tensors that torch.load reads with weights_only "
                         "(save a state_dict, not the object that has it)",
                         _first_line(error)) from error


def _kind(value: Any) -> str:
    if not isinstance(value, dict):
        return type(value).__name__
    kinds = {name: type(one).__name__ for name, one in list(value.items())[:6]}
    return json.dumps(kinds)


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    found = next((line for line in text.splitlines() if "Unsupported" in line), None)
    return (found or text.splitlines()[0] if text else type(error).__name__).strip()
