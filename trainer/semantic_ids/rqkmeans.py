"""Residual k-means: codebooks level by level, then all levels against one another."""

from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from ..checkpoint import load_state, save_state
from .kmeans import kmeans
from .settings import QuantiserPlan

#: Rounds in which each level is fitted to what all others leave.
REFINING = 20


def _codes(levels: list[torch.Tensor], points: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Nearest codes (n, levels), greedily, and the residual."""
    rest = points
    found = []
    for book in levels:
        code = ((book * book).sum(1) - 2 * rest @ book.T).argmin(1)
        rest = rest - book[code]
        found.append(code)
    return torch.stack(found, 1), rest


def refine(levels: list[torch.Tensor], points: torch.Tensor, rounds: int) -> list[torch.Tensor]:
    """Sets each code to the mean of what its points need of it, the other levels given. Greedy
    codes may get worse by that, so the best levels of all rounds are kept."""
    levels = [book.clone() for book in levels]
    codes, rest = _codes(levels, points)
    best, least = [book.clone() for book in levels], float(rest.pow(2).sum())
    for _ in range(rounds):
        for level, book in enumerate(levels):
            mine = codes[:, level]
            wanted = rest + book[mine]
            counts = torch.bincount(mine, minlength=len(book)).unsqueeze(1)
            sums = torch.zeros_like(book).index_add_(0, mine, wanted)
            levels[level] = torch.where(counts > 0, sums / counts.clamp(min=1), book)
            rest = wanted - levels[level][mine]
        codes, rest = _codes(levels, points)
        error = float(rest.pow(2).sum())
        if error < least:
            best, least = [book.clone() for book in levels], error
    return best


def train(vectors: np.ndarray, plan: QuantiserPlan, state_file: Path, mark: str
          ) -> list[np.ndarray]:
    """Codebooks, each (codes, dimension). Goes on after the last whole level of a run before."""
    points = torch.from_numpy(vectors)
    state = load_state(state_file, mark)
    levels: list[torch.Tensor] = list(state["levels"]) if state else []
    for book in levels:
        _, points = _codes([book], points)
    for level in range(len(levels), plan.levels):
        rng = np.random.default_rng([plan.seed, level])
        with tqdm(total=plan.rounds, desc=f"level {level + 1}/{plan.levels}", unit="round") as bar:
            def shown(_done: int, error: float, bar=bar) -> None:
                bar.update()
                bar.set_postfix(error=f"{error:.5f}", refresh=False)

            # A bound on crowds helps the first levels; at the last it only costs precision.
            balance = plan.balance if level + 1 < plan.levels else 0.0
            book = kmeans(points, plan.codes, balance, rng, shown, plan.rounds)
        _, points = _codes([book], points)
        levels.append(book)
        save_state(state_file, {"fingerprint": mark, "levels": levels})
    return [book.numpy() for book in refine(levels, torch.from_numpy(vectors), REFINING)]
