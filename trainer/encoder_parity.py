"""`python -m trainer encoder-parity --model DIR`: `npm run embed` against SentenceTransformers.

Texts of 1 to 512 tokens in several scripts; prints the lowest cosine, and fails below 0.99999.
With --record DIR it writes texts and SentenceTransformers' vectors instead, for `npm run
test:weights`. Needs sentence-transformers, which the trainer itself does not.
"""

import argparse
import json
import random
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from .checkpoint import write_atomically, write_json

LOWEST_COSINE = 0.99999
WORDS = (
    "argan oil shampoo serum vitamin C brightening 30 ml cream Crème brûlée für trockene Haut "
    "有机 护发油 洗发水 防晒 Увлажняющий крем для лица увлажнение कार्बनिक तेल शैम्पू "
    "زيت الأرغان شامبو オーガニック アルガンオイル 샴푸 유기농 ¡Oferta! 50% (new) e-mail's"
).split()


def run(args: argparse.Namespace) -> int:
    """Compares; 1 where a vector is too far away."""
    texts = _texts(args.texts, args.seed)
    if args.record:
        return _record(args.model, texts, Path(args.record))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.json"
        path.write_text(json.dumps(texts))
        command = ["node", "dist/tools/embed.js", "--model", args.model,
                   "--texts", str(path), "--dtype", args.dtype, "--json"]
        answer = subprocess.run(command, check=True, capture_output=True, text=True)
    ours = np.array(json.loads(answer.stdout), dtype=np.float64)
    theirs = _their_vectors(args.model, texts).astype(np.float64)
    lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    cosines = (ours * theirs).sum(axis=1) / lengths
    print(f"{len(texts)} texts: lowest cosine {cosines.min():.8f}, "
          f"greatest difference {np.abs(ours - theirs).max():.2e}")
    return 0 if args.dtype != "f32" or cosines.min() >= LOWEST_COSINE else 1


def _their_vectors(folder: str, texts: list[str]) -> np.ndarray:
    from sentence_transformers import SentenceTransformer
    model = SentenceTransformer(folder, device="cpu")
    return np.asarray(model.encode(texts, batch_size=1))


def _record(folder: str, texts: list[str], out: Path) -> int:
    """texts.json, and vectors.f16: rounding to half changes no cosine by more than 1e-7."""
    vectors = _their_vectors(folder, texts)
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "texts.json", texts)
    write_atomically(out / "vectors.f16", vectors.astype("<f2").tobytes())
    print(f"{len(texts)} vectors of {vectors.shape[1]} numbers: {out}")
    return 0


def _texts(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    lengths = [1, 2, 512] + [min(512, max(1, round(rng.lognormvariate(3.2, 1.1))))
                             for _ in range(count)]
    return [" ".join(rng.choice(WORDS) for _ in range(length)) for length in lengths[:count]]
