"""`python -m trainer.semantic_ids.fixtures`: writes test/fixtures/sids, a folder as `sids` writes
it with the vectors and codes of some texts, and prints what
`native/src/catalogue/placement_test.cc` expects: hashes of the codes that the trainer gives vectors
which both sides draw alike."""

import json
import tempfile
from pathlib import Path

import numpy as np

from . import rqkmeans
from .codebooks import Codebooks, Layer
from .settings import QuantiserPlan
from .text_embedding import fit

MASK = (1 << 64) - 1
VECTORS, LEVELS, CODES, LATENT = 10_000, 4, 32, 12
#: Seed, dimension, width of the encoder (0: none), steps of the grid on each side of 0.
CASES = ((1, 128, 0, 1 << 20), (2, 37, 0, 2), (3, 5, 0, 1), (4, 24, 40, 1 << 20), (5, 24, 40, 1))


class Draws:
    """A 64-bit linear congruential generator; its upper bits on a grid."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def many(self, shape: tuple[int, ...], steps: int) -> np.ndarray:
        numbers = np.empty(int(np.prod(shape)), np.float32)
        state = self.state
        for i in range(len(numbers)):
            state = (state * 6364136223846793005 + 1442695040888963407) & MASK
            numbers[i] = np.float32((state >> 33) % (2 * steps + 1) - steps) / np.float32(steps)
        self.state = state
        return numbers.reshape(shape)


def codes_hash(seed: int, dimension: int, hidden: int, steps: int) -> int:
    """FNV-1a of the codes, vector by vector."""
    draws = Draws(seed)
    encoder = []
    width = dimension
    if hidden:
        for out in (hidden, LATENT):
            weight = draws.many((out, width), steps)
            encoder.append(Layer(weight, draws.many((out,), steps)))
            width = out
    levels = [draws.many((CODES, width), steps) for _ in range(LEVELS)]
    codes, _ = Codebooks(levels, 1, encoder).encode(draws.many((VECTORS, dimension), steps))
    found = 14695981039346656037
    for code in codes.flatten().tolist():
        found = ((found ^ code) * 1099511628211) & MASK
    return found


FOLDER = Path("test/fixtures/sids")
MAKERS = ("Bellamar", "Nordlys", "Östra", "Kōya", "Ferme d'été", "Лада", "花見", "ครีม")
KINDS = ("eye shadow palette", "hand cream", "dry shampoo", "lip balm, mint", "口红 套装",
         "Крем для рук", "sun spray SPF 50", "ﬁne-toothed comb")
SIZES = ("30 ml", "50 ml", "100 ml", "2.5 oz", "4 pack", "refill")
UNSEEN = ("Nordlys hand hand hand cream", "shampoo, dry; unheard-of words", "保湿口红",
          "COMB comb Comb", "Nordlysia", "Bellamaris Δelta")


def write_folder() -> None:
    """Levels and codes as the random catalogues of test/e2e have them."""
    rng = np.random.default_rng(3)
    texts = [f"{rng.choice(MAKERS)} {rng.choice(KINDS)} {rng.choice(SIZES)}" for _ in range(200)]
    embedding = fit(texts, 12, seed=3)
    vectors = embedding.embed(texts)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        levels = rqkmeans.train(vectors, QuantiserPlan(levels=3, codes=8), Path(folder) / "s", "")
    codebooks = Codebooks(levels, 2)
    embedding.write(FOLDER)
    digest = codebooks.write(FOLDER)
    shown = [*texts[:40], *UNSEEN]
    made = embedding.embed(shown)
    codes, _ = codebooks.encode(made)
    cases = [{"text": text, "vector": vector.tolist(), "codes": of_text}
             for text, vector, of_text in zip(shown, made.astype(float), codes.tolist())]
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    (FOLDER / "cases.json").write_text(f'{{"digest": "{digest}", "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    write_folder()
    for case in CASES:
        print(*case, f"{codes_hash(*case)}U")
