"""The vectorised sparse-matrix method of constrained beam search on PyTorch.

A catalogue's transitions are one sparse matrix in rows (a row per node, its entries the codes that
may follow and the nodes they lead to). A step gathers a fixed number of entries of every beam's
row, the most that any row of the level has, masks what lies beyond the row, and takes the best of
all beams at once (STATIC: github.com/youtube/static-constraint-decoding). Its first layers may be
dense: a row of a table over all codes in place of the gather.

usage: sparse_constraint_peer.py time SIDS LEVELS CODES cpu|cuda WIDTHS ROUNDS
         prints {"card", "results"}: microseconds of a step by level, widths separated by commas
       sparse_constraint_peer.py search SIDS LEVELS CODES cpu|cuda
         stdin: a request a line, {"width": W, "denseLayers": N, "logits": [one number per code,
         per level]};
         stdout: a line each, {"paths": [{"score", "sid"}], "allowed": [codes of each best path's
         node, per level]}
"""

import json
import statistics
import sys
import time

import numpy as np
import torch

NORM = 10.0  # no logit is higher
WARM_UP = 3


class Transitions:
    """Nodes of a level are numbered in the order of their paths; the root is node 0 of level 0."""

    def __init__(self, sids: np.ndarray, codes: int, device: str, dense_layers: int) -> None:
        self.codes, self.levels = codes, sids.shape[1]
        self.dense_layers = dense_layers
        self.begins, self.entries, self.most, self.dense = [], [], [], []
        parents = np.zeros(1, np.int64)  # keys of the nodes of the level above
        keys = np.zeros(len(sids), np.int64)
        for level in range(self.levels):
            keys = keys * codes + sids[:, level]
            nodes = np.unique(keys)
            begins = np.searchsorted(nodes, np.append(parents, parents[-1] + 1) * codes)
            self.begins.append(torch.from_numpy(begins).to(device))
            self.entries.append(torch.from_numpy(nodes % codes).to(device))
            self.most.append(int(np.diff(begins).max()))
            self.dense.append(self.table(begins, nodes, device) if level < dense_layers else None)
            parents = nodes

    def table(self, begins: np.ndarray, nodes: np.ndarray, device: str) -> torch.Tensor:
        """Next node by node and code; -1: none."""
        table = np.full((len(begins) - 1, self.codes), -1, np.int32)
        rows = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
        table[rows, nodes % self.codes] = np.arange(len(nodes))
        return torch.from_numpy(table).to(device)

    def step(
        self,
        level: int,
        nodes: torch.Tensor,
        scores: torch.Tensor,
        log_probs: torch.Tensor,
        width: int,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """log_probs: [beams][codes]. The best: nodes, scores, beams they come from, codes."""
        if level < self.dense_layers:
            table = self.dense[level][nodes]
            candidates = torch.where(table >= 0, scores[:, None] + log_probs, -torch.inf)
            best = torch.topk(candidates.flatten(), min(width, candidates.numel()))
            beams = best.indices // self.codes
            codes = best.indices % self.codes
            return table[beams, codes].long(), best.values, beams, codes
        most = self.most[level]
        at = self.begins[level][nodes][:, None] + torch.arange(most, device=nodes.device)
        is_entry = at < self.begins[level][nodes + 1][:, None]
        at = at.clamp_(max=len(self.entries[level]) - 1)
        codes = self.entries[level][at]
        candidates = scores[:, None] + torch.gather(log_probs, 1, codes)
        candidates = torch.where(is_entry, candidates, -torch.inf)
        best = torch.topk(candidates.flatten(), min(width, candidates.numel()))
        beams = best.indices // most
        return at.flatten()[best.indices], best.values, beams, codes.flatten()[best.indices]

    def allowed(self, level: int, node: int) -> list[int]:
        if level < self.dense_layers:
            return torch.nonzero(self.dense[level][node] >= 0).flatten().tolist()
        begin, end = self.begins[level][node].item(), self.begins[level][node + 1].item()
        return self.entries[level][begin:end].tolist()


class Timer:
    """Microseconds of a step, median of the rounds: a card's own events, else the host's clock."""

    def __init__(self, device: str, rounds: int) -> None:
        self.is_card, self.rounds = device == "cuda", rounds

    def median(self, work) -> float:
        times = [self.once(work) for _ in range(WARM_UP + self.rounds)]
        return statistics.median(times[WARM_UP:])

    def once(self, work) -> float:
        if not self.is_card:
            start = time.perf_counter()
            work()
            return 1e6 * (time.perf_counter() - start)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        return 1e3 * begin.elapsed_time(end)

    def ways(self, work) -> dict:
        """By how the step is asked for: kernel by kernel and, on a card, as one graph."""
        if not self.is_card:
            return {"eager": work}
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                work()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            work()
        return {"eager": work, "graph": graph.replay}


def measure(
    transitions: Transitions, width: int, prefix: str, device: str, timer: Timer
) -> list[dict]:
    random = torch.Generator().manual_seed(100)
    nodes = torch.zeros(1, dtype=torch.long, device=device)
    scores = torch.zeros(1, device=device)
    sums: dict[str, float] = {}
    lines = []
    for level in range(transitions.levels):
        logits = torch.rand((len(nodes), transitions.codes), generator=random) * 8 - 4
        log_probs = (logits - NORM).to(device)

        def step(level=level, nodes=nodes, scores=scores, log_probs=log_probs):
            return transitions.step(level, nodes, scores, log_probs, width)

        for way, work in timer.ways(step).items():
            value = timer.median(work)
            sums[way] = sums.get(way, 0) + value
            lines.append({"name": f"{prefix}/{way}/level {level}", "value": value, "unit": "us"})
        nodes, scores, _, _ = step()
    for way, total in sums.items():
        value = total / transitions.levels
        lines.append({"name": f"{prefix}/{way}/step, mean", "value": value, "unit": "us"})
    return lines


def time_steps(sids: np.ndarray, codes: int, device: str, widths: str, rounds: str) -> None:
    lines = []
    for dense_layers in (0, 2):
        transitions = Transitions(sids, codes, device, dense_layers)
        for width in map(int, widths.split(",")):
            prefix = f"sparse matrix/{len(sids)} SIDs/width {width}/dense layers {dense_layers}"
            lines += measure(transitions, width, prefix, device, Timer(device, int(rounds)))
        del transitions
    card = torch.cuda.get_device_name() if device == "cuda" else "this machine's processor"
    print(json.dumps({"card": card, "results": lines}))


def search(transitions: Transitions, request: dict) -> dict:
    device = transitions.begins[0].device
    nodes = torch.zeros(1, dtype=torch.long, device=device)
    scores = torch.zeros(1, device=device)
    paths = [[]]
    allowed = []
    for level, logits in enumerate(request["logits"]):
        allowed.append(transitions.allowed(level, int(nodes[0])))
        log_probs = torch.tensor(logits, device=device).expand(len(nodes), -1)
        nodes, scores, beams, codes = transitions.step(
            level, nodes, scores, log_probs, request["width"]
        )
        is_path = torch.isfinite(scores)
        nodes, scores = nodes[is_path], scores[is_path]
        pairs = zip(beams[is_path].tolist(), codes[is_path].tolist(), strict=True)
        paths = [[*paths[beam], code] for beam, code in pairs]
    rows = [{"score": s, "sid": p} for s, p in zip(scores.tolist(), paths, strict=True)]
    return {"paths": rows, "allowed": allowed}


def main() -> None:
    what, file, levels, codes, device, *rest = sys.argv[1:]
    sids = np.fromfile(file, dtype="<u2").reshape(-1, int(levels)).astype(np.int64)
    with torch.inference_mode():
        if what == "time":
            time_steps(sids, int(codes), device, *rest)
            return
        for line in sys.stdin:
            request = json.loads(line)
            transitions = Transitions(sids, int(codes), device, request["denseLayers"])
            print(json.dumps(search(transitions, request)), flush=True)


if __name__ == "__main__":
    main()
