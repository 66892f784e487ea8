"""Curves of a training for TensorBoard, in the folder `tensorboard` beside what it writes."""

import math
from collections.abc import Mapping
from pathlib import Path

from .errors import InputError

FOLDER = "tensorboard"


class Curves:
    """Nothing is written before the first `add`. Errors: InputError without the package."""

    def __init__(self, beside: Path) -> None:
        self.folder = beside / FOLDER
        self.writer = None

    def add(self, step: int, values: Mapping[str, float]) -> None:
        """Numbers at a step; those that are none are left out."""
        if self.writer is None:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ModuleNotFoundError as absent:
                raise InputError("tensorboard", "what trainer/requirements.txt installs",
                                 "no such module") from absent
            self.writer = SummaryWriter(str(self.folder))
        for name, value in values.items():
            if math.isfinite(value):
                self.writer.add_scalar(name, value, step)
        self.writer.flush()

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
