"""Tables of codes, a row or a column an item -> semantic IDs under the items' ids."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..arrays import read_array
from ..data import MAX_CODE, SidIndex, item_id_of, level_pattern, read_index, read_text
from ..errors import InputError
from .files import read_torch


def read_semantic_ids(path: Path, levels: int, ids: list[str] | None,
                      by_column: bool) -> SidIndex:
    """Semantic IDs of index.json, as for train, or of a table, FILE.pt or FILE.npy."""
    if path.suffix == ".npy":
        table = read_array(path)
    elif path.suffix in (".pt", ".pth", ".bin"):
        table = read_torch(path)
    else:
        if ids is not None:
            raise InputError("--item-ids", "an --index that is a table, FILE.pt or FILE.npy (that "
                             "of an index.json has the ids)", str(path))
        return read_index(path)
    return index_of(table, levels, ids, str(path), by_column)


def index_of(table: Any, levels: int, ids: list[str] | None, where: str,
             by_column: bool) -> SidIndex:
    """`by_column`: how a table as wide as high is read."""
    if isinstance(table, torch.Tensor):
        table = table.numpy() if table.dtype != torch.bfloat16 else table.float().numpy()
    if not isinstance(table, np.ndarray) or table.ndim != 2 or table.dtype.kind not in "iuf":
        raise InputError(where, "a table of codes (items, levels)",
                         getattr(table, "shape", type(table).__name__))
    rows, columns = table.shape
    if columns != levels or (rows == levels and by_column):
        table = table.T
    if table.shape[1] != levels:
        raise InputError(where, f"{levels} codes an item, as many as there are heads",
                         [rows, columns])
    if len(table) == 0:
        raise InputError(where, "at least one item", "none")
    bad = np.argwhere((table != np.floor(table)) | (table < 0) | (table >= MAX_CODE))
    if len(bad):
        row, level = map(int, bad[0])
        raise InputError(f"{where}: row {row} level {level}", f"a code from 0 to {MAX_CODE - 1}",
                         table[row, level].item())
    if ids is not None and len(ids) != len(table):
        raise InputError("--item-ids", f"an id for each of {len(table)} rows", len(ids))
    named = ids or [str(row) for row in range(len(table))]
    codes = {item: tuple(sid) for item, sid in zip(named, table.astype(np.int64).tolist())}
    return SidIndex(codes, levels, [level_pattern(level) for level in range(levels)], False)


def read_item_ids(path: Path) -> list[str]:
    """A JSON array, or a line each."""
    text = read_text(path)
    try:
        values = json.loads(text) if text.lstrip().startswith("[") else text.splitlines()
    except ValueError as error:
        raise InputError(str(path), "a JSON array of ids", str(error)) from error
    ids = [item_id_of(value, f"{path}: id {place}") for place, value in enumerate(values)]
    check_ids(ids, str(path))
    return ids


def check_ids(ids: list[str], where: str) -> None:
    seen: set[str] = set()
    for item in ids:
        if item in seen:
            raise InputError(where, "ids that differ", item)
        seen.add(item)
