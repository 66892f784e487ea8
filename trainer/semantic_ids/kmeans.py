"""K-means with k-means++ seeds, no empty code and, where asked for, no crowded one."""

from collections.abc import Callable

import numpy as np
import torch

ROUNDS = 30


def _distances(points: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    return (points.pow(2).sum(1, keepdim=True) - 2 * points @ centres.T
            + centres.pow(2).sum(1)).clamp_(min=0)


def _seeds(points: torch.Tensor, codes: int, rng: np.random.Generator) -> torch.Tensor:
    """k-means++: each next seed by its squared distance to those there are."""
    chosen = [int(rng.integers(len(points)))]
    nearest = _distances(points, points[chosen[:1]])[:, 0]
    for _ in range(codes - 1):
        weights = nearest.double().cumsum(0)
        total = float(weights[-1])
        # Fewer distinct points than codes: the rest of the seeds lie on points.
        found = (int(torch.searchsorted(weights, rng.random() * total)) if total > 0
                 else int(rng.integers(len(points))))
        chosen.append(min(found, len(points) - 1))
        nearest = torch.minimum(nearest, _distances(points, points[chosen[-1:]])[:, 0])
    return points[chosen].clone()


def balanced(distances: torch.Tensor, most: int) -> torch.Tensor:
    """Codes of points (n, codes) such that no code has more than `most`: in rounds, each point
    without a code asks the nearest that has room, which takes the nearest that ask."""
    found = torch.full((len(distances),), -1)
    open_distances = distances.clone()
    room = torch.full((distances.shape[1],), most)
    waiting = torch.arange(len(distances))
    while len(waiting):
        least, wanted = open_distances[waiting].min(1)
        order = torch.argsort(least, stable=True)
        order = order[torch.argsort(wanted[order], stable=True)]
        asked = wanted[order]
        starts = torch.searchsorted(asked, torch.arange(len(room)))
        place = torch.arange(len(asked)) - starts[asked]
        taken = order[place < room[asked]]
        found[waiting[taken]] = wanted[taken]
        room -= torch.bincount(wanted[taken], minlength=len(room))
        open_distances[:, room == 0] = torch.inf
        waiting = waiting[found[waiting] < 0]
    return found


def means(points: torch.Tensor, assigned: torch.Tensor, codes: int) -> torch.Tensor:
    """Mean point of each code. A code without points takes the farthest of what the fullest has.
    Where no code has points that differ, it repeats another's centre: no point needs it."""
    counts = torch.bincount(assigned, minlength=codes)
    sums = torch.zeros(codes, points.shape[1]).index_add_(0, assigned, points)
    centres = sums / counts.clamp(min=1).unsqueeze(1)
    used = counts.nonzero().flatten().tolist()
    empty = (counts == 0).nonzero().flatten().tolist()
    apart = (points - centres[assigned]).pow(2).sum(1) if empty else torch.empty(0)
    while empty and int(counts.max()) > 0:
        full = int(counts.argmax())
        members = (assigned == full).nonzero().flatten()
        farthest = int(members[apart[members].argmax()])
        if apart[farthest] <= 0:
            counts[full] = 0
            continue
        centres[empty.pop(0)] = points[farthest]
        counts[full] = int(counts[full]) // 2
        # Neither the point nor its equals are another code's centre.
        apart[members[(points[members] == points[farthest]).all(1)]] = 0
    for place, code in enumerate(empty):
        centres[code] = centres[used[place % len(used)]]
    return centres


def kmeans(points: torch.Tensor, codes: int, balance: float, rng: np.random.Generator,
           progress: Callable[[int, float], None], rounds: int = ROUNDS) -> torch.Tensor:
    """Centres (codes, dimension). `balance`: how many times its equal share of the points a code
    may have while centres are found; 0 sets no bound. `progress` gets round and mean error."""
    centres = _seeds(points, codes, rng)
    most = int(np.ceil(balance * len(points) / codes))
    for done in range(rounds):
        distances = _distances(points, centres)
        assigned = balanced(distances, max(1, most)) if balance else distances.argmin(1)
        progress(done + 1, float(distances.gather(1, assigned[:, None]).mean()))
        centres = means(points, assigned, codes)
    return centres
