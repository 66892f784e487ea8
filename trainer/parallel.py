"""Several processes that train one model: `torchrun --nproc-per-node N -m trainer train ...`.

Each computes its rows of every batch; gradients are summed, so that the weights stay equal, and the
loss is that of the whole batch. The first process alone validates and writes.
"""

import os
from dataclasses import dataclass
from typing import Any

import torch
from torch import distributed


@dataclass(frozen=True)
class Processes:
    """`number` of this process, from 0, of `count`."""

    number: int = 0
    count: int = 1
    device: torch.device = torch.device("cpu")

    @property
    def is_first(self) -> bool:
        return self.number == 0

    def rows(self, batch: torch.Tensor) -> torch.Tensor:
        """This process' rows of a batch."""
        return batch[self.number::self.count]

    def sum_gradients(self, model: torch.nn.Module) -> None:
        if self.count == 1:
            return
        trained = [value for value in model.parameters() if value.requires_grad]
        for value in trained:
            if value.grad is None:
                value.grad = torch.zeros_like(value)
        flat = torch.cat([value.grad.flatten() for value in trained])
        distributed.all_reduce(flat)
        for value, part in zip(trained, flat.split([value.numel() for value in trained])):
            value.grad.copy_(part.view_as(value))

    def sum(self, value: float) -> float:
        if self.count == 1:
            return value
        total = torch.tensor(value, dtype=torch.float64, device=self.device)
        distributed.all_reduce(total)
        return total.item()

    def of_first(self, value: Any) -> Any:
        """The first process's value, on all of them."""
        if self.count == 1:
            return value
        held = [value]
        distributed.broadcast_object_list(held)
        return held[0]


def join(device: torch.device) -> Processes:
    """The processes that `torchrun` started, each on a device; one alone without it."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        return Processes(device=device)
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    return Processes(distributed.get_rank(), count, device)


def leave(processes: Processes) -> None:
    if processes.count > 1:
        distributed.destroy_process_group()
