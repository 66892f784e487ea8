"""Settings of a training of codebooks; read without PyTorch."""

from dataclasses import dataclass

METHODS = ("rqkmeans", "rqvae")


#: Items that share a code of a level on average at least, where nobody says how many codes.
ITEMS_PER_CODE = 4
CODES_MAX, CODES_MIN = 256, 2


def codes_for(items: int, levels: int, capacity: int) -> int:
    """Codes a level where --codes is left out: a power of two up to 256, and fewer where codes
    would stand for single items; enough for all items to have a semantic ID."""
    codes = CODES_MIN
    while codes < CODES_MAX and (codes * ITEMS_PER_CODE < items
                                 or codes ** levels * capacity < 2 * items):
        codes *= 2
    return codes


@dataclass(frozen=True)
class QuantiserPlan:
    """`balance`: times its equal share that a code may have while k-means runs (0: no bound).
    The rest is for RQ-VAE: widths of the encoder and of what is quantised, epochs, batch, rate."""

    levels: int = 4
    codes: int = 256
    seed: int = 1
    rounds: int = 30
    balance: float = 0.0
    hidden: int = 256
    latent: int = 64
    epochs: int = 60
    batch_size: int = 1024
    lr: float = 1e-3
