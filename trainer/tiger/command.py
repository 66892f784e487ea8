"""`python -m trainer import`: the model of another library in, a served folder out."""

import argparse
from pathlib import Path

from ..data import SidIndex, read_index, read_titles
from ..errors import InputError
from .folder import described, write_folder
from .from_t5 import import_t5
from .imported import Imported


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
    index, where = _index_of(args, source)
    return import_t5(args, index, where)


def _index_of(args: argparse.Namespace, folder: Path) -> tuple[SidIndex, str]:
    if args.index:
        return read_index(Path(args.index)), args.index
    beside = sorted(folder.glob("*.index.json")) or sorted(folder.glob("index.json"))
    # The parts of weights have an index of that name too.
    beside = [path for path in beside if ".safetensors." not in path.name
              and ".bin." not in path.name]
    if len(beside) != 1:
        raise InputError("--index", f"the semantic IDs of the items (or one *.index.json in "
                         f"{folder})", [path.name for path in beside] or None)
    return read_index(beside[0]), str(beside[0])
