"""Vectors of texts without a model: TF-IDF and a truncated SVD (Deerwester et al. 1990).

The service repeats it bit for bit (`libs/service/catalogue`, `tfidf-embedder.ts`), in float64: the
weight of a word is the square root of how often it occurs, times its idf. A word that is not known
counts as those of its parts (`words.py`) that are. The row of weights has length 1;
its product with the components, words in ascending order, has length 1 and is rounded to float32.
Sums of squares go from the first number to the last.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from ..checkpoint import write_atomically, write_json
from ..data import read_json, read_text
from ..errors import InputError
from .words import parts, words

WORDS_FILE, NUMBERS_FILE = "text.json", "text.safetensors"
KIND = "tfidf-svd"
#: 1 has no parts of words; the same reader takes it.
VERSION = 2
LEAST_TEXTS = 2
MOST_WORDS = 50_000
#: How often a known word counts as each of its parts while components are found.
PART_SHARE = 0.02
POWER_ROUNDS = 6
OVERSAMPLED = 32


def _length(row: np.ndarray) -> np.float64:
    return np.sqrt(np.cumsum(row * row)[-1])


@dataclass(frozen=True)
class TextEmbedding:
    """`words` ascending, `idf` (words) float64, `components` (words, dimension) float32."""

    words: list[str]
    idf: np.ndarray
    components: np.ndarray

    def rows(self, texts: list[str], part_share: float = 0.0
             ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of each text: places of its known words and parts, ascending, and their weights. Parts of
        known words count where their share is not 0."""
        places = {word: place for place, word in enumerate(self.words)}
        found = []
        for text in texts:
            counts: Counter[int] = Counter()
            for word in words(text):
                if word in places:
                    counts[places[word]] += 1
                share = part_share if word in places else 1.0
                for part in parts(word) if share else []:
                    if part in places:
                        counts[places[part]] += share
            at = np.array(sorted(counts), np.int64)
            weights = np.sqrt(np.array([counts[p] for p in at.tolist()], np.float64))
            weights *= self.idf[at]
            found.append((at, weights / _length(weights) if len(at) else weights))
        return found

    def embed(self, texts: list[str]) -> np.ndarray:
        """Vectors (n, dimension) float32; zeros for a text without a known word."""
        out = np.zeros((len(texts), self.components.shape[1]), np.float32)
        for number, (at, weights) in enumerate(self.rows(texts)):
            total = np.zeros(self.components.shape[1])
            for place, weight in zip(at.tolist(), weights):
                total += weight * self.components[place].astype(np.float64)
            length = _length(total)
            if length > 0:
                out[number] = (total / length).astype(np.float32)
        return out

    def write(self, folder: Path) -> None:
        numbers = {"idf": self.idf, "components": np.ascontiguousarray(self.components)}
        write_atomically(folder / NUMBERS_FILE, save(numbers, {"format": KIND}))
        write_json(folder / WORDS_FILE, {"version": VERSION, "kind": KIND, "words": self.words})


def read_text_embedding(folder: Path) -> TextEmbedding:
    """Of a folder that `sids --items` wrote."""
    try:
        document = json.loads(read_text(folder / WORDS_FILE))
        numbers = load_file(folder / NUMBERS_FILE)
        return TextEmbedding(document["words"], numbers["idf"], numbers["components"])
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise InputError(str(folder), f"{WORDS_FILE} and {NUMBERS_FILE}", str(error)) from error


def text_dimension(folder: Path) -> int | None:
    """Dimension of vectors of texts, where the folder makes them by TF-IDF."""
    path = folder / WORDS_FILE
    document = read_json(path) if path.exists() else None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        return None
    return read_text_embedding(folder).components.shape[1]


def fit(texts: list[str], dimension: int, seed: int) -> TextEmbedding:
    """Words of two texts or more (the 50,000 of the most texts), and as many parts of words; idf as
    scikit-learn smooths it. The parts of known words count a little while components are found, so
    that a brand that no text has yet lies beside what is written alike."""
    counts = _frequent(words(text) for text in texts)
    counts |= _frequent([part for word in words(text) for part in parts(word)] for text in texts)
    known = sorted(counts)
    if not known:
        raise InputError("texts", f"a word that {LEAST_TEXTS} of them have", "none")
    idf = np.log((1 + len(texts)) / (1 + np.array([counts[word] for word in known]))) + 1
    bare = TextEmbedding(known, idf, np.zeros((len(known), 1), np.float32))
    rows = bare.rows(texts, PART_SHARE)
    dimension = min(dimension, len(known), len(texts))
    return TextEmbedding(known, idf, _components(rows, len(known), dimension, seed))


def _frequent(texts: Iterable[list[str]]) -> dict[str, int]:
    """Words of two texts or more, and how many texts have them."""
    counts: Counter[str] = Counter()
    for found in texts:
        counts.update(set(found))
    often = [word for word in counts if counts[word] >= LEAST_TEXTS]
    return {word: counts[word]
            for word in sorted(often, key=lambda word: (-counts[word], word))[:MOST_WORDS]}


def _components(rows: list[tuple[np.ndarray, np.ndarray]], size: int, dimension: int,
                seed: int) -> np.ndarray:
    """Right singular vectors (size, dimension) by subspace iteration (Halko et al. 2011)."""
    crossed = [np.full(len(at), number) for number, (at, _) in enumerate(rows)]
    places = np.stack([np.concatenate(crossed), np.concatenate([at for at, _ in rows])])
    weights = np.concatenate([weight for _, weight in rows])
    matrix = torch.sparse_coo_tensor(torch.from_numpy(places), torch.from_numpy(weights),
                                     (len(rows), size), check_invariants=True).coalesce()
    across = matrix.t().coalesce()
    generator = torch.Generator().manual_seed(seed)
    width = min(dimension + OVERSAMPLED, size, len(rows))
    basis = torch.randn(size, width, generator=generator, dtype=torch.float64)
    for _ in range(POWER_ROUNDS):
        basis = torch.linalg.qr(across @ (matrix @ basis)).Q
    _, _, right = torch.linalg.svd(matrix @ basis, full_matrices=False)
    found = (basis @ right.T)[:, :dimension]
    # The sign of a singular vector is arbitrary; the largest member is made positive.
    largest = found.abs().argmax(0)
    found = found * found[largest, torch.arange(dimension)].sign()
    return found.float().numpy()
