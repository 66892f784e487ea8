"""What a training of codebooks may be asked for; read without PyTorch."""

from dataclasses import dataclass

METHODS = ("rqkmeans", "rqvae")


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
