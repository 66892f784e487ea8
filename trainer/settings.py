"""Settings of a training; read without PyTorch."""

from dataclasses import dataclass

#: Of the weights that are written, as PyTorch names them.
DTYPES = ("bfloat16", "float32")

#: Of models that are trained from scratch: attention alone; a hybrid, whose layers are gated delta
#: nets but for every fourth; an encoder-decoder.
FAMILIES = ("qwen3", "qwen3_5", "t5")

#: How test and validation are held out (held_out.py).
SPLITS = ("last", "time", "none")

#: Of a run's minutes: training with its validations ends after the one, a validation takes the
#: other at most, and the test has what is left.
TRAINING_SHARE = 0.8
VALIDATION_SHARE = 0.08


@dataclass(frozen=True)
class Shape:
    """Size of the decoder."""

    layers: int = 4
    hidden: int = 192
    heads: int = 6
    kv_heads: int = 2
    head_dim: int = 32
    intermediate: int = 512
    tie_embeddings: bool = True
    family: str = FAMILIES[0]


@dataclass(frozen=True)
class Plan:
    """How to train. `minutes` bounds the whole run with its validations and its test (0: no bound).
    The learning rate rises in the first `warmup` share of the training, and falls by a cosine in
    the last `decay` share to reach its floor when the epochs or the training's minutes end,
    whichever comes first."""

    epochs: int = 30
    batch_size: int = 256
    lr: float = 1e-3
    warmup: float = 0.05
    decay: float = 0.6
    floor: float = 0.02
    weight_decay: float = 0.05
    label_smoothing: float = 0.0
    clip: float = 1.0
    seed: int = 1
    minutes: float = 0.0
    validate_every: int = 2
    patience: int = 4
    autocast: bool = False

    @property
    def training_seconds(self) -> float:
        """Until a training ends that has more epochs; 0: no bound."""
        return 60 * self.minutes * TRAINING_SHARE

    @property
    def validation_seconds(self) -> float | None:
        """Of one validation; None: no bound."""
        return 60 * self.minutes * VALIDATION_SHARE if self.minutes else None
