"""Codebooks, and the one rule by which a vector gets its codes.

The rule is the service's too (`native/src/catalogue/codebooks.cc`), bit for bit. All numbers are
float32, and every operation is rounded by itself. A sum over dimensions has 16 lanes: dimension d
is added to lane d mod 16, the lowest d first; then lane j takes lane j + 8, j + 4, j + 2, j + 1. A
vector first passes the layers of the encoder, where there are any (weight times vector, plus bias;
between layers what is negative becomes 0). Then, level by level, it gets the code whose squared
distance is the smallest, the lower code of equals, and the difference goes on to the next level.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from ..checkpoint import write_atomically
from ..errors import InputError
from .replaced import replaced
from .text_embedding import NUMBERS_FILE, WORDS_FILE, text_dimension

LANES = 16
FORMAT = "tessera-codebooks"
FILE = "codebooks.safetensors"
ROWS_AT_ONCE = 4096

Sid = tuple[int, ...]


def lane_sums(terms: np.ndarray) -> np.ndarray:
    """Sums over the last axis of float32 numbers, in the order of the rule."""
    short = -terms.shape[-1] % LANES
    if short:
        terms = np.concatenate([terms, np.zeros((*terms.shape[:-1], short), np.float32)], -1)
    blocks = terms.reshape(*terms.shape[:-1], -1, LANES)
    lanes = np.zeros((*terms.shape[:-1], LANES), np.float32)
    for block in range(blocks.shape[-2]):
        lanes += blocks[..., block, :]
    half = LANES // 2
    while half:
        lanes = lanes[..., :half] + lanes[..., half:2 * half]
        half //= 2
    return lanes[..., 0]


@dataclass(frozen=True)
class Layer:
    """`weight` (out, in) and `bias` (out), float32."""

    weight: np.ndarray
    bias: np.ndarray


@dataclass(frozen=True)
class Codebooks:
    """`levels[l]` is (codes, dimension) float32. `capacity`: how many items a semantic ID takes."""

    levels: list[np.ndarray]
    capacity: int = 1
    encoder: list[Layer] = field(default_factory=list)

    @property
    def dimension(self) -> int:
        """Of the vectors that get codes."""
        return (self.encoder[0].weight if self.encoder else self.levels[0]).shape[1]

    def encoded(self, vectors: np.ndarray) -> np.ndarray:
        """Output of the encoder for vectors (n, dimension): the values that are quantised."""
        rows = np.ascontiguousarray(vectors, np.float32)
        for place, layer in enumerate(self.encoder):
            out = np.empty((len(rows), len(layer.weight)), np.float32)
            step = max(1, ROWS_AT_ONCE * 64 // len(layer.weight))
            for start in range(0, len(rows), step):
                part = rows[start:start + step, None, :] * layer.weight[None]
                out[start:start + step] = lane_sums(part) + layer.bias
            rows = np.maximum(out, np.float32(0)) if place + 1 < len(self.encoder) else out
        return rows

    def distances(self, level: int, residual: np.ndarray) -> np.ndarray:
        """Squared distances of one residual to all codes of a level, by the rule."""
        difference = residual[None, :] - self.levels[level]
        return lane_sums(difference * difference)

    def encode(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes (n, levels) and what the last level leaves of each encoded vector."""
        residual = self.encoded(vectors)
        codes = np.empty((len(residual), len(self.levels)), np.int64)
        for level, book in enumerate(self.levels):
            codes[:, level] = self._nearest(level, residual)
            residual = residual - book[codes[:, level]]
        return codes, residual

    def _nearest(self, level: int, residual: np.ndarray) -> np.ndarray:
        """By float64 where that leaves no doubt, by the rule where codes are nearly as near."""
        book = self.levels[level].astype(np.float64)
        squares = (book * book).sum(1)
        # A float32 sum of squares is off by less than this share of itself.
        doubt = 4 * (book.shape[1] / LANES + 8) * 2.0**-24
        nearest = np.empty(len(residual), np.int64)
        for start in range(0, len(residual), ROWS_AT_ONCE):
            rows = residual[start:start + ROWS_AT_ONCE].astype(np.float64)
            lengths = (rows * rows).sum(1, keepdims=True)
            found = lengths - 2 * rows @ book.T + squares
            least = found.min(1, keepdims=True)
            margin = doubt * np.abs(least) + 1e-12 * (lengths + squares.max())
            close = (found <= least + margin).sum(1)
            nearest[start:start + len(rows)] = found.argmin(1)
            for row in np.flatnonzero(close > 1):
                nearest[start + row] = self.distances(level, residual[start + row]).argmin()
        return nearest

    def ways(self, vector: np.ndarray) -> Iterator[Sid]:
        """All semantic IDs in the order in which an item takes the first that has room: nearest
        code first at each level, and the last level changes first."""
        yield from self._ways((), self.encoded(vector[None])[0])

    def _ways(self, before: Sid, residual: np.ndarray) -> Iterator[Sid]:
        level = len(before)
        for code in np.argsort(self.distances(level, residual), kind="stable").tolist():
            if level + 1 == len(self.levels):
                yield (*before, code)
            else:
                yield from self._ways((*before, code), residual - self.levels[level][code])

    def tensors(self) -> dict[str, np.ndarray]:
        """By their names in the file."""
        found = {f"level.{i}": book for i, book in enumerate(self.levels)}
        for i, layer in enumerate(self.encoder):
            found |= {f"encoder.{i}.weight": layer.weight, f"encoder.{i}.bias": layer.bias}
        return {name: np.ascontiguousarray(tensor) for name, tensor in found.items()}

    def not_finite(self) -> str | None:
        """Name of a tensor with infinities or NaN."""
        return next((name for name, tensor in self.tensors().items()
                     if not np.isfinite(tensor).all()), None)

    def serialised(self) -> bytes:
        """Content of `codebooks.safetensors`; its SHA-256 is the digest of the codebooks."""
        # One entry: their order would differ from run to run, and with it the digest.
        described = json.dumps({"version": 1, "capacity": self.capacity})
        return save(self.tensors(), {FORMAT: described})

    def write(self, folder: Path) -> str:
        """Returns the digest."""
        content = self.serialised()
        write_atomically(folder / FILE, content)
        return hashlib.sha256(content).hexdigest()


def copy_codebooks(source: Path, folder: Path) -> None:
    """Codebooks, and how texts become vectors where the source says that, to a model's folder."""
    read_codebooks(source)
    names = (NUMBERS_FILE, WORDS_FILE, FILE)
    with replaced(folder, names) as partial:
        for name in names:
            if (source / name).exists():
                write_atomically(partial / name, (source / name).read_bytes())


def read_codebooks(folder: Path) -> Codebooks:
    """Of a folder that `sids` wrote. Errors: InputError, also where texts become vectors of another
    dimension."""
    path = folder / FILE
    try:
        with safe_open(path, "numpy") as file:
            metadata = json.loads((file.metadata() or {}).get(FORMAT, "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}
    except (OSError, TypeError, SafetensorError) as error:
        raise InputError(str(path), "codebooks that `sids` wrote", str(error)) from error
    except ValueError as error:
        raise InputError(f"{path}: {FORMAT}", "JSON", str(error)) from error
    if not isinstance(metadata, dict) or metadata.get("version") != 1:
        raise InputError(str(path), f"{FORMAT}, version 1", metadata)
    capacity = metadata.get("capacity")
    if not isinstance(capacity, int) or capacity < 1:
        raise InputError(f"{path}: capacity", "an integer of 1 or more", capacity)
    counts = [sum(name.startswith("level.") for name in tensors),
              sum(name.endswith(".weight") for name in tensors)]
    levels = [_floats(tensors, f"level.{i}", 2, path) for i in range(max(1, counts[0]))]
    encoder = [Layer(_floats(tensors, f"encoder.{i}.weight", 2, path),
                     _floats(tensors, f"encoder.{i}.bias", 1, path)) for i in range(counts[1])]
    codebooks = Codebooks(levels, capacity, encoder)
    bad = codebooks.not_finite()
    if bad:
        raise InputError(f"{path}: {bad}", "finite numbers", "others among them")
    dimension = text_dimension(folder)
    if dimension not in (None, codebooks.dimension):
        raise InputError(str(path), f"vectors of {dimension} numbers, as texts have by "
                         f"{NUMBERS_FILE}", codebooks.dimension)
    return codebooks


def _floats(tensors: dict[str, np.ndarray], name: str, dimensions: int, path: Path) -> np.ndarray:
    found = tensors.get(name)
    if found is None or found.ndim != dimensions or found.dtype != np.float32:
        got = None if found is None else f"{found.dtype} {list(found.shape)}"
        raise InputError(f"{path}: {name}", f"F32 of {dimensions} dimensions", got)
    return found
