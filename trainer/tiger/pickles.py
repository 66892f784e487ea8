"""Pickles of other libraries, read for their tensors and plain values alone.

Checkpoints of Lightning and recommenders of Cornac hold objects beside tensors: optimizers,
partial functions, whole modules. `weights_only` refuses them. Here their classes are never
imported and nothing of them is called: each object becomes an `Inert` one that has its members.
"""

import io
import pickle
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import torch

from ..errors import InputError
from .t5 import Tensors


class Inert:
    """An object of the file, without the code of its class."""

    def __new__(cls, *_args, **_members):
        return object.__new__(cls)

    def __init__(self, *_args, **_members) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, dict):
            self.__dict__.update({str(name): value for name, value in state.items()})

    def __setitem__(self, _key: Any, _value: Any) -> None:
        pass

    def append(self, _value: Any) -> None:
        pass

    def extend(self, _values: Any) -> None:
        pass


def _storage_of(data: bytes) -> Any:
    return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)


_PLAIN = {"set", "frozenset", "list", "dict", "tuple", "int", "float", "complex", "bool", "str"}
#: Callables that build tensors, arrays and collections, and no others.
_ALLOWED = {
    "builtins": _PLAIN,
    "collections": {"OrderedDict", "defaultdict"},
    "_codecs": {"encode"},
    "torch": {"Size"},
    "torch._utils": {"_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_parameter"},
    "numpy": {"ndarray", "dtype"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy.core.numeric": {"_frombuffer"},
    "numpy._core.numeric": {"_frombuffer"},
}


class Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module == "torch.storage" and name == "_load_from_bytes":
            return _storage_of
        if module == "torch" and isinstance(getattr(torch, name, None), torch.dtype):
            return getattr(torch, name)
        if name in _ALLOWED.get(module, ()):
            return super().find_class(module, name)
        return type(name, (Inert,), {"__module__": module})


def read_pickle(path: Path) -> Any:
    """The value of a torch file or a pickle. Errors: InputError where it is neither."""
    try:
        return _of_archive(path) if zipfile.is_zipfile(path) else _of_stream(path)
    except OSError as error:
        raise InputError(str(path), "a readable file", error.strerror or str(error)) from error
    except Exception as error:  # whatever unpickling a damaged file raises
        raise InputError(str(path), "a torch file or a pickle of tensors and plain values",
                         str(error).splitlines()[0] if str(error) else type(error).__name__
                         ) from error


def _of_archive(path: Path) -> Any:
    with zipfile.ZipFile(path) as archive:
        if any(name.endswith("constants.pkl") for name in archive.namelist()):
            raise ValueError("a program of TorchScript")
    # torch takes `Unpickler` of the module that it is given, here this one.
    return torch.load(path, map_location="cpu", weights_only=False,
                      pickle_module=sys.modules[__name__])


def _of_stream(path: Path) -> Any:
    """A torch file of before the archives, or a plain pickle."""
    try:
        with warnings.catch_warnings():
            # It warns of the protocol of a plain pickle before it refuses it.
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        with path.open("rb") as file:
            return Unpickler(file).load()


def module_tensors(module: Any) -> Tensors:
    """Parameters and buffers of a module that was saved whole, by name; none of other values."""
    members = vars(module) if isinstance(module, Inert) else {}
    found: Tensors = {}
    for kind in ("_parameters", "_buffers"):
        for name, tensor in _items(members.get(kind)):
            if isinstance(tensor, torch.Tensor):
                found[name] = tensor.detach()
    for name, child in _items(members.get("_modules")):
        found.update({f"{name}.{inner}": tensor
                      for inner, tensor in module_tensors(child).items()})
    return found


def _items(value: Any) -> list[tuple[str, Any]]:
    return [(str(name), one) for name, one in value.items()] if isinstance(value, dict) else []
