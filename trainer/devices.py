"""Device of the training: `cpu`, `cuda`, or another device that PyTorch has."""

import os

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
