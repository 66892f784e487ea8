"""Device of the training: `cpu`, `cuda`, or another device that PyTorch has."""

import os
from pathlib import Path

import torch

from .errors import InputError


def device_of(name: str) -> torch.device:
    """The device of --device; with `torchrun`, the card of this process where none is numbered."""
    try:
        device = torch.device(name)
        if device.type == "cuda" and device.index is None:
            device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        said = str(error).splitlines()[0]
        raise InputError("--device", "a device that PyTorch has here", f"{name}: {said}") from error
    if device.type == "cuda":
        torch.cuda.set_device(device)
    return device


#: Flags of processors that multiply BF16 numbers; PyTorch emulates it elsewhere, many times slower.
BF16_FLAGS = frozenset({"avx512_bf16", "amx_bf16", "bf16"})


def has_bf16(device: torch.device, info: Path = Path("/proc/cpuinfo")) -> bool:
    """True where products of BF16 numbers are faster than those of F32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device.type != "cpu" or not info.exists():
        return False
    flags = (line.split(":", 1)[1].split() for line in info.read_text().splitlines()
             if line.lower().startswith(("flags", "features")))
    return not BF16_FLAGS.isdisjoint(next(flags, []))
