"""`python -m trainer import`: the model of another library in, a served folder out."""

import argparse
from pathlib import Path
from typing import Any

import torch

from ..data import SidIndex, read_index, read_titles
from ..errors import InputError
from . import from_cornac, from_grid
from .files import read_safetensors
from .folder import described, write_folder
from .from_t5 import import_t5
from .hydra import RunConfig, read_run_config
from .imported import Imported
from .pickles import Inert, module_tensors, read_pickle
from .t5 import Tensors

#: Of a Hydra run, below its folder.
RUN_CONFIG = Path(".hydra") / "config.yaml"
NUMBERS = ("token_base", "added_base", "codes", "user_base")
ENDS = ("separator_token", "encoder_end", "answer_end")
#: Flags that say nothing of a library's models, with its name.
UNUSED = {"t5": ("a Hugging Face folder", ("item_ids", "config")),
          "grid": ("GRID", (*NUMBERS, *ENDS)),
          "cornac": ("Cornac", (*NUMBERS, *ENDS, "config", "user_bins"))}
#: Members of a saved object whose module is the model.
MODULES = ("model", "module", "state_dict")


def run(args: argparse.Namespace) -> None:
    out, source = Path(args.out), Path(args.source)
    if out.exists():
        raise InputError("--out", "a name that is free", str(out))
    if not source.exists():
        raise InputError("FROM", "a file or folder", str(source))
    texts = read_titles(Path(args.items)) if args.items else {}
    imported = _imported(args, source)
    write_folder(out, imported, texts, str(source))
    print(described(out, imported))


def _imported(args: argparse.Namespace, source: Path) -> Imported:
    if args.library == "t5" or (source / "config.json").exists():
        if args.library not in (None, "t5"):
            raise InputError("--library", "t5, as the folder's config.json says", args.library)
        if not source.is_dir():
            raise InputError("FROM", "a folder with a config.json", str(source))
        _check_flags(args, "t5")
        index, where = _index_of(args, source)
        return import_t5(args, index, where)
    file = _checkpoint(source) if source.is_dir() else source
    tensors, beside = _opened(file)
    library = args.library or _library_of(tensors, str(file))
    _check_flags(args, library)
    table = {"grid": from_grid.TABLE, "cornac": from_cornac.TABLE}[library]
    tensors = _below(tensors, table)
    if table not in tensors:
        raise InputError(f"{file}: {table}", "the table of codes of "
                         f"{'GRID' if library == 'grid' else 'Cornac'}", sorted(tensors)[:4])
    if library == "cornac":
        return from_cornac.import_cornac(args, tensors, beside, str(file))
    return from_grid.import_grid(args, tensors, beside, _run_config(args, source, file), str(file))


def _check_flags(args: argparse.Namespace, library: str) -> None:
    """Refuses flags that would say nothing; `--no-encoder-end` is true of models without one."""
    name, unused = UNUSED[library]
    for flag in unused:
        value = getattr(args, flag)
        if value is not None and value is not False:
            raise InputError(f"--{flag.replace('_', '-')}", f"no such flag for {name}", value)


def _checkpoint(folder: Path) -> Path:
    """The one checkpoint of GRID's run, or the newest of Cornac's files, which sort by time."""
    found = sorted({*folder.glob("*.ckpt"), *folder.glob("checkpoints/*.ckpt")})
    if len(found) == 1:
        return found[0]
    saved = sorted(folder.glob("*.pkl"))
    if not found and saved:
        return saved[-1]
    raise InputError(str(folder), "a config.json, one checkpoint *.ckpt, or a recommender *.pkl",
                     [path.name for path in found] or sorted(
                         path.name for path in folder.iterdir())[:8])


def _opened(file: Path) -> tuple[Tensors, dict[str, Any]]:
    """Tensors of a checkpoint by name, and the plain values beside them."""
    if file.suffix == ".safetensors":
        return read_safetensors(file), {}
    value = read_pickle(file)
    members = vars(value) if isinstance(value, Inert) else value
    if not isinstance(members, dict):
        raise InputError(str(file), "tensors by name, or an object that has them",
                         type(value).__name__)
    tensors = _tensors_of(members) or module_tensors(value)
    beside = dict(members)
    for name in MODULES:
        tensors = tensors or _tensors_of(members.get(name)) or module_tensors(members.get(name))
    told = members.get("hyper_parameters")
    beside.update(told if isinstance(told, dict) else {})
    if not tensors:
        raise InputError(str(file), "tensors by name, or an object that has them",
                         sorted(map(str, members))[:8])
    return tensors, beside


def _tensors_of(value: Any) -> Tensors:
    """Tensors of a state_dict; none of another value."""
    if not isinstance(value, dict):
        return {}
    found = {str(name): one for name, one in value.items() if isinstance(one, torch.Tensor)}
    return found if len(found) > 1 and any("block." in name for name in found) else {}


def _below(tensors: Tensors, name: str) -> Tensors:
    """Tensors of the module that has `name`, without that module's own name."""
    at = next((key.removesuffix(name) for key in sorted(tensors, key=len) if key.endswith(name)),
              "")
    if at in ("", "_orig_mod.", "module."):
        return tensors
    return {key.removeprefix(at): tensor for key, tensor in tensors.items() if key.startswith(at)}


def _library_of(tensors: Tensors, where: str) -> str:
    for library, name in (("grid", from_grid.TABLE), ("cornac", from_cornac.TABLE)):
        if any(key.endswith(name) for key in tensors):
            return library
    if any(name.startswith("backbone.") for name in tensors):
        raise InputError(where, "GRID's SemanticIDEncoderDecoder", "its SemanticIDDecoderOnly")
    if "shared.weight" in tensors:
        raise InputError(where, "the folder of a T5ForConditionalGeneration, with its config.json",
                         "its tensors alone")
    raise InputError(where, f"a model of GRID ({from_grid.TABLE}) or Cornac "
                     f"({from_cornac.TABLE})", sorted(tensors)[:4])


def _run_config(args: argparse.Namespace, source: Path, file: Path) -> RunConfig:
    if args.config:
        return read_run_config(Path(args.config))
    for folder in (source, file.parent, file.parent.parent):
        if (folder / RUN_CONFIG).exists():
            return read_run_config(folder / RUN_CONFIG)
    return RunConfig({}, str(RUN_CONFIG))


def _index_of(args: argparse.Namespace, folder: Path) -> tuple[SidIndex, str]:
    if args.index:
        return read_index(Path(args.index)), args.index
    # The parts of weights have an index of that name too.
    beside = [path for path in sorted({*folder.glob("*.index.json"), *folder.glob("index.json")})
              if ".safetensors." not in path.name and ".bin." not in path.name]
    if len(beside) != 1:
        raise InputError("--index", f"the semantic IDs of the items (or one *.index.json in "
                         f"{folder})", [path.name for path in beside] or None)
    return read_index(beside[0]), str(beside[0])
