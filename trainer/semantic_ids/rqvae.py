"""RQ-VAE (Lee et al. 2022; TIGER, Rajput et al. 2023): an encoder whose output is quantised.

Codebooks begin as k-means of the first outputs, codes that an epoch has not used begin again at
what the level must quantise, and at the last level Sinkhorn spreads a batch over the codes.
"""

import math
from pathlib import Path
from typing import NoReturn

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from tqdm import tqdm

from ..checkpoint import load_state, save_state
from ..errors import InputError
from .codebooks import Layer
from .kmeans import kmeans
from .settings import QuantiserPlan

COMMITMENT = 0.25
SINKHORN_ROUNDS = 30
SINKHORN_SHARPNESS = 0.05
POINTS_PER_CODE = 64


def sinkhorn(distances: torch.Tensor) -> torch.Tensor:
    """Codes of a batch (n, codes) by a plan of transport that gives all codes equal shares."""
    centred = distances - distances.min(1, keepdim=True).values
    scale = centred.mean().clamp(min=1e-12)
    plan = torch.exp(-centred.double() / (SINKHORN_SHARPNESS * scale))
    for _ in range(SINKHORN_ROUNDS):
        plan = plan / plan.sum(0, keepdim=True).clamp(min=1e-300) / plan.shape[1]
        plan = plan / plan.sum(1, keepdim=True).clamp(min=1e-300) / plan.shape[0]
    return plan.argmax(1)


class ResidualVae(nn.Module):
    """Encoder and decoder of one hidden layer, and `plan.levels` codebooks of the latent width."""

    def __init__(self, dimension: int, plan: QuantiserPlan) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(dimension, plan.hidden), nn.ReLU(),
                                     nn.Linear(plan.hidden, plan.latent))
        self.decoder = nn.Sequential(nn.Linear(plan.latent, plan.hidden), nn.ReLU(),
                                     nn.Linear(plan.hidden, dimension))
        self.books = nn.ParameterList([nn.Parameter(torch.zeros(plan.codes, plan.latent))
                                       for _ in range(plan.levels)])
        self.register_buffer("used", torch.zeros(plan.levels, plan.codes, dtype=torch.long))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """The loss of a batch; counts the codes that it uses."""
        latent = self.encoder(rows)
        rest, total, loss = latent, torch.zeros_like(latent), rows.new_zeros(())
        for level, book in enumerate(self.books):
            code = self._codes(level, rest.detach())
            self.used[level] += torch.bincount(code, minlength=len(book))
            quantised = functional.embedding(code, book)
            loss = loss + functional.mse_loss(quantised, rest.detach())
            loss = loss + COMMITMENT * functional.mse_loss(rest, quantised.detach())
            rest = rest - quantised.detach()
            total = total + quantised
        straight = latent + (total - latent).detach()
        return functional.mse_loss(self.decoder(straight), rows) * rows.shape[1] + loss

    def _codes(self, level: int, rest: torch.Tensor) -> torch.Tensor:
        distances = torch.cdist(rest, self.books[level].detach()).pow(2)
        if self.training and level + 1 == len(self.books):
            return sinkhorn(distances)
        return distances.argmin(1)

    @torch.no_grad()
    def begin(self, rows: torch.Tensor, plan: QuantiserPlan, rng: np.random.Generator) -> None:
        """Codebooks as k-means of what the encoder gives for some rows."""
        rest = self.encoder(rows)
        for book in self.books:
            book.copy_(kmeans(rest, plan.codes, 0.0, rng, lambda *_: None, 10))
            rest = rest - book[torch.cdist(rest, book).argmin(1)]

    @torch.no_grad()
    def revive(self, rows: torch.Tensor, rng: np.random.Generator) -> int:
        """Puts codes that were not used where points are; returns how many."""
        rest = self.encoder(rows)
        count = 0
        for level, book in enumerate(self.books):
            dead = (self.used[level] == 0).nonzero().flatten()
            if len(dead):
                chosen = rng.choice(len(rest), len(dead), replace=len(dead) > len(rest))
                book[dead] = rest[torch.from_numpy(chosen)]
                count += len(dead)
            rest = rest - book[torch.cdist(rest, book).argmin(1)]
        self.used.zero_()
        return count


def train(vectors: np.ndarray, plan: QuantiserPlan, state_file: Path, mark: str
          ) -> tuple[list[np.ndarray], list[Layer]]:
    """Codebooks and encoder. Goes on after the last whole epoch of a run before.
    Errors: InputError where the loss is not finite."""
    points = torch.from_numpy(vectors)
    torch.manual_seed(plan.seed)
    model = ResidualVae(points.shape[1], plan)
    optimizer = torch.optim.AdamW(model.parameters(), lr=plan.lr, weight_decay=0.0)
    state = load_state(state_file, mark)
    first = 0
    if state:
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["epoch"]
    else:
        rng = np.random.default_rng([plan.seed, 0])
        model.begin(_some(points, plan.codes * POINTS_PER_CODE, rng), plan, rng)
    for epoch in tqdm(range(first, plan.epochs), desc="rqvae", unit="epoch", initial=first,
                      total=plan.epochs):
        rng = np.random.default_rng([plan.seed, epoch + 1])
        loss = _epoch(model, optimizer, points, plan, rng)
        if not math.isfinite(loss):
            refuse_rate(plan, state_file)
        # Codes that are set anew in the last epochs would never be trained.
        last = epoch + 1 >= plan.epochs * 0.9
        revived = 0 if last else model.revive(_some(points, 8 * plan.codes, rng), rng)
        if epoch == first or (epoch + 1) % 10 == 0:
            tqdm.write(f"epoch {epoch + 1}  loss {loss:.5f}  {revived} codes began again")
        save_state(state_file, {"fingerprint": mark, "epoch": epoch + 1,
                                "model": model.state_dict(), "optimizer": optimizer.state_dict()})
    layers = [Layer(layer.weight.detach().numpy(), layer.bias.detach().numpy())
              for layer in model.encoder if isinstance(layer, nn.Linear)]
    return [book.detach().numpy() for book in model.books], layers


def refuse_rate(plan: QuantiserPlan, state_file: Path) -> NoReturn:
    """Ends a training that diverged, without its state, which would diverge again."""
    state_file.unlink(missing_ok=True)
    raise InputError("--lr", "a rate at which loss and codebooks stay finite", plan.lr)


def _some(points: torch.Tensor, count: int, rng: np.random.Generator) -> torch.Tensor:
    if len(points) <= count:
        return points
    return points[torch.from_numpy(rng.choice(len(points), count, replace=False))]


def _epoch(model: ResidualVae, optimizer: torch.optim.Optimizer, points: torch.Tensor,
           plan: QuantiserPlan, rng: np.random.Generator) -> float:
    model.train()
    order = torch.from_numpy(rng.permutation(len(points)))
    total = 0.0
    for start in range(0, len(order), plan.batch_size):
        rows = points[order[start:start + plan.batch_size]]
        loss = model(rows)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    return total / len(points)
